"""What changed on the wire, from history alone: a cause from its first night to the night on which it was gone. Pure.

Only a verdict says anything: a night that could not look, or did not draw an endpoint, neither ends nor changes what
was seen there before. All runs of one day are one night, so shards tell the same as the run that they merge into.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from catalog.evidence.causes import DIGITS
from catalog.model import Outcome

if TYPE_CHECKING:
    from catalog.evidence.past import Row
    from catalog.model import Json


class Ending(StrEnum):
    """How a difference ended."""

    RECOVERED = "recovered"
    CHANGED = "changed"
    """Something else differs in its place, so that nobody saw it agree."""


@dataclass(slots=True)
class Part:
    """What one record has to do with it."""

    record: str
    first: date
    last: date
    differs: set[str] = field(default_factory=set)
    """What was seen otherwise, each as `answer/status 422`; an older history does not always say."""
    on: set[str] = field(default_factory=set)
    """The endpoints on which the record differed."""
    ended: date | None = None
    how: Ending | None = None


@dataclass(slots=True)
class Episode:
    """One change: from the first night on which a cause made something differ to the one on which nothing did."""

    key: str
    """The id of the cause, or a name of its own where the history is too old to know the cause."""
    provider: str
    first: date
    last: date
    runs: tuple[str, str]
    """The first and the last run that saw it."""
    cause: str = ""
    """The id of the cause; empty where no row knows it."""
    code: str = ""
    told: str = ""
    nights: int = 0
    parts: dict[str, Part] = field(default_factory=dict)
    ended: date | None = None
    how: Ending | None = None
    instead: set[str] = field(default_factory=set)
    """The ids of those that it took the place of when it began."""
    never_agreed: bool = False
    """Whether no night before it had seen any of this as documented."""
    accepted: bool = False
    """Whether the ledger accounted for all of it on its last night."""

    @property
    def id(self) -> str:
        """`pa-3f2a9c01/2026-11-02`: it stays whatever the nights after it bring."""
        return f"{self.key}/{self.first}"

    @property
    def updated(self) -> date:
        """The last day on which a record joined or left; that it goes on is no news."""
        return max(day for part in self.parts.values() for day in (part.first, part.ended or part.first))


def episodes(rows: Iterable[Row]) -> list[Episode]:
    """Every change that these rows tell of, by the night on which it began; their order does not matter."""
    ordered = sorted(rows, key=in_order)
    replayed = _Replay({cause: words for row in ordered for cause, words in row.causes.items()})
    for _, night in groupby(ordered, key=lambda row: row.today):
        replayed.night(list(night))
    return sorted(replayed.found, key=lambda each: (each.first, each.provider, each.key))


def in_order(row: Row) -> tuple[date, str, str]:
    """What puts the rows of a history into the order of their nights."""
    return row.today, row.started_at, row.run


class _Replay:
    """The differences that are open, by record and name, each in its episode."""

    def __init__(self, words: Mapping[str, Mapping[str, Json]]) -> None:
        self._words = words
        self.found: list[Episode] = []
        self._open: dict[str, dict[str, Episode]] = defaultdict(dict)
        self._by_key: dict[str, Episode] = {}

    def night(self, rows: Sequence[Row]) -> None:
        seen: dict[str, Episode] = {}
        for row in rows:
            for address, outcome in row.outcomes.items():
                if outcome is Outcome.DRIFTED:
                    seen |= {each.id: each for each in self._drifted(address, row)}
                elif outcome is Outcome.CONFORMS and address not in row.drifts:
                    for name in list(self._open[address]):
                        self._end(address, name, row.today, Ending.RECOVERED)
        for each in seen.values():
            each.nights += 1
            each.accepted = all(kept.get("accepted", False) for row in rows for kept in _kept(each, row))
        self._close(rows[0].today)

    def _drifted(self, address: str, row: Row) -> Iterator[Episode]:
        """The episodes that this record is part of tonight."""
        kept = row.drifts.get(address, {})
        causes, before = _causes(address, kept), dict(self._open[address])
        if kept.get("differs") and before and not any(map(_says_what, before)):
            # the history of an earlier version did not say what differed: it goes on, in words of today
            causes = dict.fromkeys(causes, next(iter(before.values())).key)
            before = {}
            self._open[address].clear()
        for name in sorted(before.keys() - causes.keys()):
            if set(kept.get("undrawn", ())).isdisjoint(before[name].parts[address].on):
                again = any(_label(each) == _label(name) for each in causes.keys() - before.keys())
                self._end(address, name, row.today, Ending.CHANGED if again else Ending.RECOVERED)
        for name, key in sorted(causes.items()):
            episode = self._open[address].get(name) or self._by_key.get(key) or self._begin(address, key, row)
            self._go_on(episode, address, name, key, row)
            if episode.first == row.today and name not in before:
                gone = {each.id for was, each in before.items() if was not in causes and _label(was) == _label(name)}
                episode.instead |= gone - {episode.id}
            yield episode

    def _begin(self, address: str, key: str, row: Row) -> Episode:
        made = Episode(key, address.partition("/")[0], row.today, row.today, (row.run, row.run))
        made.never_agreed = "first" in row.drifts.get(address, {})
        self.found.append(made)
        return made

    def _go_on(self, episode: Episode, address: str, name: str, key: str, row: Row) -> None:
        kept, day = row.drifts.get(address, {}), row.today
        told = self._words.get(key, {})
        if told and not episode.cause:
            episode.cause, episode.code, episode.told = key, str(told.get("code", "")), str(told.get("told", ""))
        episode.last, episode.runs = day, (episode.runs[0], row.run)
        part = episode.parts.setdefault(address, Part(address, day, day))
        part.last, part.ended, part.how = day, None, None
        part.differs.add(name)
        part.on |= set(kept.get("on", ()))
        self._open[address][name] = episode
        self._by_key.setdefault(key, episode)

    def _end(self, address: str, name: str, day: date, how: Ending) -> None:
        episode = self._open[address].pop(name)
        if episode not in self._open[address].values():
            episode.parts[address].ended, episode.parts[address].how = day, how

    def _close(self, day: date) -> None:
        """End what no record is part of any more."""
        going_on = {episode.id for own in self._open.values() for episode in own.values()}
        for key, episode in list(self._by_key.items()):
            if episode.id not in going_on:
                last = [part.how for part in episode.parts.values() if part.ended == day]
                episode.ended = day
                episode.how = Ending.RECOVERED if Ending.RECOVERED in last else Ending.CHANGED
                del self._by_key[key]


def _kept(episode: Episode, row: Row) -> Iterator[Mapping[str, Json]]:
    """What a row kept of the records of an episode that it saw drift."""
    drifting = (each for each in episode.parts if row.outcomes.get(each) is Outcome.DRIFTED)
    return (row.drifts.get(each, {}) for each in drifting)


def _causes(address: str, kept: Mapping[str, Json]) -> dict[str, str]:
    """The key of the episode of each difference that a row kept of a record; an older one kept less."""
    names: Sequence[str] = kept.get("differs") or kept.get("codes") or ("",)
    known: Sequence[str] = kept.get("causes", ())
    if len(known) == len(names):
        return dict(zip(names, known, strict=True))
    return {name: _key_without_cause(address, name) for name in names}


def _says_what(name: str) -> bool:
    """Whether a name is one of today's: `answer/status 422`, and not `status-differs status`."""
    return "/" in name.partition(" ")[0]


def _label(name: str) -> str:
    return name.partition("/")[0]


def _key_without_cause(address: str, name: str) -> str:
    """A key for what differs where the history does not tell its cause: all that it says but for the label."""
    provider, what = address.partition("/")[0], name.partition("/")[2] if _says_what(name) else name or address
    return f"{provider}-{hashlib.sha256(what.encode('utf-8', 'backslashreplace')).hexdigest()[:DIGITS]}"
