"""What becomes otherwise from one revision to another: two runs of the same records, answer beside answer. Pure.

Only records with a verdict in both runs are compared, by label and endpoint; the others are told as not comparable.
What the answers say is compared, and then, for what is left, what was seen of each assertion.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from catalog.evidence.blindness import BLIND_SHARE
from catalog.model import Outcome
from catalog.model.text import brief
from catalog.reading.manifest import manifest
from reports.across.answers import EACH, Answer, answer_of
from reports.across.comparison import Comparison, Row, agree
from reports.across.table import seen
from reports.on_endpoints import endpoints_of

if TYPE_CHECKING:
    from catalog.evidence.results import Result
    from catalog.model import Json
    from reports.across.columns import Column, Told

LONGEST = 200
"""Characters of one side."""


class Kind(StrEnum):
    """What may become otherwise, what breaks clients first."""

    FAILS_NOW = "fails_now"
    REFUSED_OTHERWISE = "refused_otherwise"
    ANOTHER_REASON = "another_reason"
    RENAMED = "renamed"
    GONE = "gone"
    ACCEPTED_NOW = "accepted_now"
    ADDED = "added"
    OTHERWISE = "otherwise"


HEADINGS: Mapping[Kind, str] = {
    Kind.FAILS_NOW: "Accepted before, fails now",
    Kind.REFUSED_OTHERWISE: "Refused with another code",
    Kind.ANOTHER_REASON: "The same code for another reason",
    Kind.RENAMED: "Renamed fields",
    Kind.GONE: "Fields and events that are gone",
    Kind.ACCEPTED_NOW: "Refused before, accepted now",
    Kind.ADDED: "Fields and events that are new",
    Kind.OTHERWISE: "Seen otherwise",
}


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is otherwise, at one place."""

    kind: Kind
    record: str
    label: str
    endpoint: str
    was: str
    now: str

    @property
    def provider(self) -> str:
        return self.record.partition("/")[0]


@dataclass(frozen=True, slots=True)
class Same:
    """Changes that say the same of one provider, wherever they were seen."""

    kind: Kind
    provider: str
    was: str
    now: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class Unseen:
    """Records that one of the runs has no verdict on, for one reason."""

    run: str
    provider: str
    reason: str
    records: tuple[str, ...]


class Upgrade:
    """An older run beside a newer one."""

    def __init__(self, before: Told, after: Told) -> None:
        """Compare two runs.

        Raises:
            EvidenceError: they are the same run.
        """
        self._comparison = Comparison([before, after])

    @property
    def columns(self) -> tuple[Column, Column]:
        """The older and the newer run."""
        before, after = self._comparison.columns
        return before, after

    @cached_property
    def revisions(self) -> tuple[tuple[str, str, str], ...]:
        """Provider, and the revision under which each run asked it, where they differ."""
        before, after = (dict(each.revisions) for each in self.columns)
        names = sorted(before.keys() | after.keys())
        return tuple(
            (name, before.get(name, ""), after.get(name, "")) for name in names if before.get(name) != after.get(name)
        )

    @property
    def backwards(self) -> bool:
        """Whether the first run is the newer: by the revisions, or by the day where these are alike."""
        if not self.revisions:
            before, after = self.columns
            return before.today > after.today
        known = ((manifest(name).revisions, was, now) for name, was, now in self.revisions)
        return any(revisions is not None and revisions.is_older(now, was) for revisions, was, now in known)

    @cached_property
    def compared(self) -> tuple[Row, ...]:
        """The records on which both runs have a verdict."""
        return tuple(row for row in self._shared if not any(map(_unjudged, _pair(row))))

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """All that is otherwise, by record."""
        return tuple(change for row in self.compared for change in _changes(row))

    @cached_property
    def same(self) -> tuple[Same, ...]:
        """The changes, those that say the same together; what breaks clients first, then what is so at most places."""
        found: dict[tuple[Kind, str, str, str], list[Change]] = {}
        for each in self.changes:
            found.setdefault((each.kind, each.provider, each.was, each.now), []).append(each)
        made = [Same(*key, tuple(members)) for key, members in found.items()]
        order = list(Kind)
        return tuple(
            sorted(made, key=lambda each: (order.index(each.kind), each.provider, -len(each.changes), each.was))
        )

    @cached_property
    def unseen(self) -> tuple[Unseen, ...]:
        """What both runs had and only one, or none, has a verdict on: by run and reason, the most records first."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for row in self._shared:
            for column, result in zip(self.columns, _pair(row), strict=True):
                if _unjudged(result) and not all(map(_never_meant, _pair(row))):
                    reason = result.reason.code if result.reason is not None else str(result.outcome)
                    found.setdefault((column.label, row.address.provider, reason), []).append(str(row.address))
        made = [Unseen(*key, tuple(records)) for key, records in found.items()]
        return tuple(sorted(made, key=lambda each: (-len(each.records), each.run, each.reason)))

    @property
    def blind(self) -> bool:
        """Whether too little could be compared for the silence of the rest to say anything."""
        missing = {record for each in self.unseen for record in each.records}
        return not self.compared or len(missing) > BLIND_SHARE * (len(missing) + len(self.compared))

    @cached_property
    def _shared(self) -> tuple[Row, ...]:
        return tuple(row for row in self._comparison.rows if None not in row.cells)


def _pair(row: Row) -> tuple[Result, Result]:
    before, after = (cell.result for cell in row.cells if cell is not None)
    return before, after


def _unjudged(result: Result) -> bool:
    return not result.outcome.conclusive


def _never_meant(result: Result) -> bool:
    return result.outcome is Outcome.NOT_PROBED


def _changes(row: Row) -> Iterator[Change]:
    """What is otherwise of one record: of each answer the most that can be said, then what no answer told."""
    before, after = (_answers(each) for each in _pair(row))
    address, told = str(row.address), set()
    for place in [each for each in before if each in after]:
        label, endpoint = place
        for kind, was, now in _compared(before[place], after[place]):
            told.add(label)
            yield Change(kind, address, label, endpoint, brief(was, LONGEST), brief(now, LONGEST))
    for key, sides in row.assertions.items():
        if key.partition("/")[0] not in told and not agree(sides):
            yield Change(
                Kind.OTHERWISE, address, key.partition("/")[0], "", *(f"{key}: {seen(each)}" for each in sides)
            )


def _answers(result: Result) -> dict[tuple[str, str], Answer]:
    """The answers by which a result was judged, by label and endpoint; what is no evidence is left out."""
    if not result.attempts:
        return {}
    attempt = result.attempts[-1]
    judged = {(look.label, look.endpoint) for look in result.looks}
    found = {}
    for exchange, endpoint in zip(attempt.exchanges, endpoints_of(result, attempt), strict=True):
        answer = answer_of(exchange) if (exchange.label, endpoint) in judged else None
        if answer is not None:
            found[exchange.label, endpoint] = answer
    return found


def _compared(was: Answer, now: Answer) -> Iterator[tuple[Kind, str, str]]:
    if was.refused is not now.refused:
        yield Kind.FAILS_NOW if now.refused else Kind.ACCEPTED_NOW, was.in_words, now.in_words
    elif was.reason != now.reason:
        yield Kind.REFUSED_OTHERWISE if was.refused else Kind.OTHERWISE, was.in_words, now.in_words
    elif was.message != now.message:
        yield Kind.ANOTHER_REASON, was.in_words, now.in_words
    else:
        yield from _shapes(was.shape, now.shape)


def _shapes(was: Mapping[str, Json], now: Mapping[str, Json]) -> Iterator[tuple[Kind, str, str]]:
    """The places that went and came, the outermost of each; one that came where one with the same value went is it."""
    gone, added = _outermost(was, now), _outermost(now, was)
    for place in gone:
        other = _renamed(place, gone, added, was, now)
        if other:
            added.remove(other)
            yield Kind.RENAMED, place, other
        else:
            yield Kind.GONE, place, "absent"
    yield from ((Kind.ADDED, "absent", place) for place in added)


def _outermost(ours: Mapping[str, Json], theirs: Mapping[str, Json]) -> list[str]:
    """What only ours has, without what is within it. That a list has items or none is no matter of its shape."""
    own = (place for place in ours if place not in theirs and place.rpartition("/")[0] in ("", *theirs))
    return [place for place in own if not place.endswith(f"/{EACH}")]


def _renamed(
    place: str, gone: Sequence[str], added: Sequence[str], was: Mapping[str, Json], now: Mapping[str, Json]
) -> str:
    """The place beside it that has its value now; or the only one that came where it alone went, of the same type."""
    within = place.rpartition("/")[0]
    beside = [each for each in added if each.rpartition("/")[0] == within]
    alike = [each for each in beside if was[place] not in ({}, [], None, "") and now[each] == was[place]]
    alone = len(beside) == 1 and sum(each.rpartition("/")[0] == within for each in gone) == 1
    if not alike and alone and type(now[beside[0]]) is type(was[place]) and was[place] is not None:
        return beside[0]
    return alike[0] if len(alike) == 1 else ""
