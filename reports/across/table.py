"""Several runs beside each other in a terminal: families, records or assertions down, runs across. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog.model import Outcome, visible
from catalog.model.visible import line
from catalog.reading.values import ABSENT
from reports.across.comparison import agree, families
from reports.words import OUTCOMES, count

if TYPE_CHECKING:
    from collections import Counter

    from reports.across.comparison import Comparison, Row
    from reports.across.seen import OfRecord, Seen, Share

LISTED = 20
"""Records on which the runs differ that are listed below the families."""

LONGEST = 60
"""Characters of a cell."""

NOTHING = "·"


class Rows(StrEnum):
    """How far the rows are opened."""

    FAMILIES = "families"
    RECORDS = "records"
    ASSERTIONS = "assertions"


Line = tuple[str, Sequence[str]]
"""What stands at the left, and a cell for each run."""


def render(comparison: Comparison, rows: Sequence[Row], opened: Rows) -> str:
    """The matrix of some of the records as text, one line each."""
    lines: list[Line] = [("", [line(each.label, LONGEST) for each in comparison.columns])]
    lines.append(("", [str(each.stands_for) for each in comparison.columns]))
    lines += _FORMS[opened](rows)
    told = [line(comparison.sentence, LONGEST * 4), "", *_aligned(lines)]
    if opened is Rows.FAMILIES:
        told += _differing(rows)
    return "\n".join(told)


def share(told: Share) -> str:
    """`99 %`, rounded down; a dot where nothing was looked at."""
    return NOTHING if told.percent is None else f"{told.percent} %"


def outcomes(counts: Counter[Outcome]) -> str:
    """`2 drifted, 1 inconclusive`; nothing of what conforms."""
    told = [
        f"{counts[each]} {word}" for each, word in OUTCOMES.items() if counts[each] and each is not Outcome.CONFORMS
    ]
    return ", ".join(told)


def seen(told: Seen | None) -> str:
    """`403 on 2 of 5`, `as stated`, or why it was not looked at."""
    if told is None:
        return ABSENT
    if not told.looked_at:
        return f"not looked at: {told.unseen}" if told.unseen else "not looked at"
    if not told.otherwise:
        return "as stated"
    partly = told.looked_at > 1
    where = {observed: f" on {number} of {told.looked_at}" if partly else "" for observed, number in told.otherwise}
    return ", ".join(f"{observed}{where[observed]}" for observed, _ in told.otherwise)


def _of_families(rows: Sequence[Row]) -> Iterator[Line]:
    for family in families(rows):
        told = []
        for cell in family.cells:
            words = outcomes(cell.outcomes)
            there = sum(cell.outcomes.values())
            told.append(", ".join(filter(None, [share(cell.share), words])) if there else ABSENT)
        yield f"{family.name}  {len(family.rows)}", told


def _of_records(rows: Sequence[Row]) -> Iterator[Line]:
    for row in rows:
        yield str(row.address), [_record(cell) for cell in row.cells]


def _of_assertions(rows: Sequence[Row]) -> Iterator[Line]:
    for row in rows:
        yield str(row.address), [_record(cell) for cell in row.cells]
        for key, cells in row.assertions.items():
            mark = "  " if agree(cells) else "! "
            yield f"  {mark}{key}{' (assumed)' if row.assumed(key) else ''}", [seen(each) for each in cells]


def _record(cell: OfRecord | None) -> str:
    if cell is None:
        return ABSENT
    reason = cell.result.reason
    why = f": {reason.code}" if reason is not None and not cell.result.outcome.conclusive else ""
    part = f", {share(cell.share)}" if cell.share.looked_at else ""
    return f"{OUTCOMES[cell.result.outcome]}{why}{part}"


_FORMS = {Rows.FAMILIES: _of_families, Rows.RECORDS: _of_records, Rows.ASSERTIONS: _of_assertions}


def _differing(rows: Sequence[Row]) -> Iterator[str]:
    found = [row for row in rows if row.differs]
    if not found:
        return
    yield ""
    yield f"The runs differ on {count(len(found), 'record')}"
    yield from _aligned([*_of_records(found[:LISTED])])
    if len(found) > LISTED:
        yield f"… and {len(found) - LISTED} more: `--rows records` lists them"


def _aligned(lines: Sequence[Line]) -> list[str]:
    """Each column as wide as its widest cell."""
    left = max(len(name) for name, _ in lines)
    shown = [[line(cell, LONGEST) for cell in cells] for _, cells in lines]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    told = []
    for (name, _), cells in zip(lines, shown, strict=True):
        told.append(
            "  ".join([name.ljust(left), *(each.ljust(width) for each, width in zip(cells, widths, strict=True))])
        )
    return [visible.row(each.rstrip()) for each in told]
