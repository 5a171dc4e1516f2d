"""The matrix of providers, kinds and families, and the groups of what was not seen: tables as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from catalog.evidence import Outcome
from catalog.model import KINDS
from reports import advice
from reports.overview import Cell, Overview
from reports.standing import Standing
from reports.terminal import COLUMNS

SQUARES = 1500
"""Up to so many records each is a square of its own; beyond it a family is a bar."""

EXCEPTIONS = {outcome: name for outcome, name in COLUMNS.items() if outcome is not Outcome.CONFORMS}
NAMES = {"endpoints": "Endpoints", "errors": "Errors", "rate_limits": "Rate limits"}


@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of a family's bar, in hundredths of it."""

    outcome: Outcome
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Family:
    """One family in one cell of the matrix."""

    cell: Cell
    exceptions: str
    """What does not conform, in words; empty where all do."""
    bar: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Kinds down, providers across; each place holds families."""

    providers: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[Family, ...], ...]], ...]
    squares: bool


@dataclass(frozen=True, slots=True)
class Unseen:
    """Records of one provider without a verdict, for one reason."""

    outcome: Outcome
    provider: str
    code: str
    means: str
    next_step: str
    details: tuple[str, ...]
    standings: tuple[Standing, ...]


def matrix(overview: Overview) -> Matrix:
    """The matrix; kinds without any record have no row."""
    rows = []
    for kind in KINDS:
        places = tuple(
            tuple(_family(cell) for cell in overview.cells if (cell.provider, cell.kind) == (provider, kind))
            for provider in overview.providers
        )
        if any(places):
            rows.append((NAMES[kind], places))
    return Matrix(overview.providers, tuple(rows), squares=len(overview.standings) <= SQUARES)


def unseen(overview: Overview) -> list[Unseen]:
    """What has no verdict, grouped by why; what could not be seen before what was not meant to be."""
    order = (Outcome.INCONCLUSIVE, Outcome.RESTRICTED, Outcome.NOT_PROBED)
    groups: dict[tuple[int, str, str], list[Standing]] = {}
    for each in overview.standings:
        if each.outcome in order:
            code = each.result.reason.code if each.result.reason else "no-reason"
            groups.setdefault((order.index(each.outcome), each.address.partition("/")[0], code), []).append(each)
    return [
        Unseen(
            order[place],
            provider,
            code,
            advice.means(code),
            advice.next_step(code),
            _details(members),
            tuple(sorted(members, key=lambda each: each.address)),
        )
        for (place, provider, code), members in sorted(groups.items(), key=lambda item: item[0])
    ]


def _family(cell: Cell) -> Family:
    counts = cell.counts
    told = [f"{counts[outcome]} {name}" for outcome, name in EXCEPTIONS.items() if counts[outcome]]
    bar, start = [], 0.0
    for outcome in COLUMNS:
        width = round(100 * counts[outcome] / len(cell.standings), 2)
        if width:
            bar.append(Stretch(outcome, round(start, 2), width))
        start += width
    return Family(cell, ", ".join(told), tuple(bar))


def _details(members: Sequence[Standing]) -> tuple[str, ...]:
    """The different details, few enough to read."""
    found = sorted({each.result.reason.detail for each in members if each.result.reason and each.result.reason.detail})
    return tuple(found[:4])
