"""May a client lean on it? Yes, no, or nobody looked: by the evidence that records keep. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog.model.clock import days_from
from catalog.reading.cells import Cell, cells_of, restricted_on

if TYPE_CHECKING:
    from catalog.model.assertion import Assertion
    from catalog.rely.declared import Declared, Leaning
    from catalog.rely.selected import Selected


class Answer(StrEnum):
    """What a client is told. `unknown` is neither of the others."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Differs:
    """Something that is leaned on and was last seen otherwise."""

    assertion: Assertion
    endpoint: str
    observed: str
    """The observed class: a value, `absent`, `malformed` or `out-of-range`."""
    on: date | None
    """The day of that look."""
    since: date | None
    """The first night of it, as far as runs that were given remember one."""


@dataclass(frozen=True, slots=True)
class Unseen:
    """Something that is leaned on and that nobody looked at lately."""

    assertion: Assertion
    endpoint: str
    """Empty: on no endpoint."""
    last: date | None
    """The day of the last look; None: never."""
    why: str
    """What keeps anybody from looking; empty where that is not known."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to one leaning, and what it rests on."""

    leaning: Leaning
    records: int
    assertions: int
    left_out: int
    differs: tuple[Differs, ...]
    unseen: tuple[Unseen, ...]
    oldest: date | None
    """The oldest of the looks that a yes rests on."""

    @property
    def answer(self) -> Answer:
        if self.differs:
            return Answer.NO
        return Answer.UNKNOWN if self.unseen else Answer.YES


def together(answered: Iterable[Answered]) -> Answer:
    """No where any is no, whatever else nobody looked at; yes only where all are."""
    found = {each.answer for each in answered}
    return next((answer for answer in (Answer.NO, Answer.UNKNOWN) if answer in found), Answer.YES)


def answered(
    declared: Declared,
    selection: Iterable[tuple[Leaning, Sequence[Selected]]],
    today: date,
    since: Mapping[str, date] | None = None,
) -> list[Answered]:
    """The answer to each leaning by the evidence of the records; `since` has the first night of drifts, by address."""
    fresh = days_from(today, -declared.max_age_days)
    kept = _Kept()
    return [_of_leaning(leaning, own, kept, fresh, since or {}) for leaning, own in selection]


class _Kept:
    """The evidence that records keep, each record's read once however many leanings ask for it."""

    def __init__(self) -> None:
        self._by_key: dict[str, dict[str, dict[str, Cell]]] = {}

    def of(self, each: Selected) -> Mapping[str, Mapping[str, Cell]]:
        """By assertion key and endpoint, what was last seen there."""
        address = str(each.record.address)
        if address not in self._by_key:
            by_key: dict[str, dict[str, Cell]] = defaultdict(dict)
            for (endpoint, key), cell in cells_of(each.record, each.stated).items():
                by_key[key][endpoint] = cell
            self._by_key[address] = by_key
        return self._by_key[address]


def _of_leaning(
    leaning: Leaning, own: Sequence[Selected], kept: _Kept, fresh: date, since: Mapping[str, date]
) -> Answered:
    differs: list[Differs] = []
    unseen: list[Unseen] = []
    looks: list[date] = []
    for each in own:
        cells = kept.of(each)
        for assertion in each.meant:
            by_endpoint = {
                endpoint: cell
                for endpoint, cell in cells.get(str(assertion.key), {}).items()
                if not each.endpoints or endpoint in each.endpoints
            }
            first = since.get(assertion.address)
            differs += (
                Differs(assertion, endpoint, cell.differs, cell.on, first)
                for endpoint, cell in sorted(by_endpoint.items())
                if cell.differs
            )
            for endpoint, seen in _where(each, by_endpoint):
                if any(cell.differs for cell in seen):
                    continue
                last = max((cell.on for cell in seen if cell.on is not None), default=None)
                if last is not None and last >= fresh:
                    looks.append(last)
                else:
                    unseen.append(Unseen(assertion, endpoint, last, _why(each, assertion)))
    return Answered(
        leaning,
        records=len(own),
        assertions=sum(len(each.meant) for each in own),
        left_out=sum(each.left_out for each in own),
        differs=tuple(differs),
        unseen=tuple(unseen),
        oldest=min(looks, default=None),
    )


def _where(each: Selected, cells: Mapping[str, Cell]) -> Iterator[tuple[str, Sequence[Cell]]]:
    """The cells of which one has to be fresh: those of each endpoint that was named, else all together."""
    if each.endpoints:
        yield from ((endpoint, [cells[endpoint]] if endpoint in cells else []) for endpoint in each.endpoints)
    else:
        yield "", list(cells.values())


def _why(each: Selected, assertion: Assertion) -> str:
    if assertion.out_of_reach:
        return f"out of any client's reach: {assertion.out_of_reach}"
    refused = restricted_on(each.record)
    return f"this account was refused on {refused}" if refused is not None else ""
