"""What changed on the wire, from history alone: a cause from its first night to the night on which it was gone. Pure.

Only a verdict says anything: a night that could not look, or did not draw an endpoint, neither ends nor changes what
was seen there before. All runs of one day are one night, so shards tell the same as the run that they merge into.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow
    from catalog_probe.catalog.model import Json


class Ending(StrEnum):
    """How a difference ended."""

    RECOVERED = "recovered"
    CHANGED = "changed"
    """Something else differs in its place, so that nobody saw it agree."""


@dataclass(slots=True)
class Part:
    """One record of an episode."""

    record: str
    first: date
    differs: set[str] = field(default_factory=set)
    """What was seen otherwise, each as `answer/status 422`."""
    on: set[str] = field(default_factory=set)
    """The endpoints on which the record differed."""
    ended: date | None = None
    how: Ending | None = None


@dataclass(slots=True)
class Episode:
    """One change: from the first night on which a cause made something differ to the one on which nothing did."""

    cause: str
    provider: str
    first: date
    last: date
    code: str = ""
    told: str = ""
    """What differs in words; empty where the history told other causes of that night."""
    parts: dict[str, Part] = field(default_factory=dict)
    ended: date | None = None
    how: Ending | None = None
    instead: set[str] = field(default_factory=set)
    """The ids of those that it took the place of when it began."""
    never_confirmed: bool = False
    """Whether no live run before it had confirmed any of this."""
    accepted: bool = False
    """Whether all of it was accepted on its last night."""

    @property
    def id(self) -> str:
        """`pa-3f2a9c01/2026-11-02`: it stays whatever the nights after it bring."""
        return f"{self.cause}/{self.first}"

    @property
    def updated(self) -> date:
        """The last day on which a record joined or left; that it goes on is no news."""
        return max(day for part in self.parts.values() for day in (part.first, part.ended or part.first))


def episodes(rows: Iterable[HistoryRow]) -> list[Episode]:
    """Every change that these rows tell of, by the night on which it began; their order does not matter."""
    ordered = sorted(rows, key=in_order)
    replayed = _Replay({cause: words for row in ordered for cause, words in row.causes.items()})
    for _, night in groupby(ordered, key=lambda row: row.today):
        replayed.night(list(night))
    return sorted(replayed.found, key=lambda each: (each.first, each.provider, each.cause))


def in_order(row: HistoryRow) -> tuple[date, str, str]:
    """What puts the rows of a history into the order of their nights."""
    return row.today, row.started_at, row.run


class _Replay:
    """The differences that are open, by record and name, each in its episode."""

    def __init__(self, words: Mapping[str, Mapping[str, Json]]) -> None:
        self._words = words
        self.found: list[Episode] = []
        self._open: dict[str, dict[str, Episode]] = defaultdict(dict)
        self._by_cause: dict[str, Episode] = {}

    def night(self, rows: Sequence[HistoryRow]) -> None:
        seen: dict[str, Episode] = {}
        for row in rows:
            for address, outcome in row.outcomes.items():
                if outcome is Outcome.DRIFTED:
                    seen |= {each.id: each for each in self._drifted(address, row)}
                elif outcome is Outcome.CONFORMS and address not in row.drifts:
                    for name in list(self._open[address]):
                        self._end(address, name, row.today, Ending.RECOVERED)
        for each in seen.values():
            each.accepted = all(kept.get("accepted", False) for row in rows for kept in _kept(each, row))
        self._close(rows[0].today)

    def _drifted(self, address: str, row: HistoryRow) -> Iterator[Episode]:
        """The episodes that this record is part of tonight."""
        kept = row.drifts.get(address, {})
        causes = dict(zip(kept.get("differs", ()), kept.get("causes", ()), strict=False))
        before = dict(self._open[address])
        for name in sorted(before.keys() - causes.keys()):
            if set(kept.get("not_drawn", ())).isdisjoint(before[name].parts[address].on):
                again = any(_label(each) == _label(name) for each in causes.keys() - before.keys())
                self._end(address, name, row.today, Ending.CHANGED if again else Ending.RECOVERED)
        for name, cause in sorted(causes.items()):
            episode = self._open[address].get(name) or self._by_cause.get(cause) or self._begin(address, cause, row)
            self._go_on(episode, address, name, cause, row)
            if episode.first == row.today and name not in before:
                gone = {each.id for was, each in before.items() if was not in causes and _label(was) == _label(name)}
                episode.instead |= gone - {episode.id}
            yield episode

    def _begin(self, address: str, cause: str, row: HistoryRow) -> Episode:
        words = self._words.get(cause, {})
        made = Episode(cause, address.partition("/")[0], row.today, row.today)
        made.code, made.told = str(words.get("code", "")), str(words.get("summary", ""))
        made.never_confirmed = "first" in row.drifts.get(address, {})
        self.found.append(made)
        return made

    def _go_on(self, episode: Episode, address: str, name: str, cause: str, row: HistoryRow) -> None:
        episode.last = row.today
        part = episode.parts.setdefault(address, Part(address, row.today))
        part.ended, part.how = None, None
        part.differs.add(name)
        part.on |= set(row.drifts.get(address, {}).get("on", ()))
        self._open[address][name] = episode
        self._by_cause.setdefault(cause, episode)

    def _end(self, address: str, name: str, day: date, how: Ending) -> None:
        episode = self._open[address].pop(name)
        if episode not in self._open[address].values():
            episode.parts[address].ended, episode.parts[address].how = day, how

    def _close(self, day: date) -> None:
        """End what no record is part of any more."""
        going_on = {episode.id for own in self._open.values() for episode in own.values()}
        for cause, episode in list(self._by_cause.items()):
            if episode.id not in going_on:
                last = [part.how for part in episode.parts.values() if part.ended == day]
                episode.ended = day
                episode.how = Ending.RECOVERED if Ending.RECOVERED in last else Ending.CHANGED
                del self._by_cause[cause]


def _kept(episode: Episode, row: HistoryRow) -> Iterator[Mapping[str, Json]]:
    """What a row kept of the records of an episode that it saw drift."""
    drifting = (each for each in episode.parts if row.outcomes.get(each) is Outcome.DRIFTED)
    return (row.drifts.get(each, {}) for each in drifting)


def _label(name: str) -> str:
    return name.partition("/")[0]
