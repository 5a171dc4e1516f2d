"""The matrix as data: providers across, below each its families; those that conform entirely fold into one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.model import KINDS, Outcome
from reports.sight import Sight, sight
from reports.words import OUTCOMES

if TYPE_CHECKING:
    from reports.overview import Cell, Overview

SQUARES = 1500
"""Up to so many records each is a square of its own; beyond it a family is a bar."""

EXCEPTIONS = {outcome: name for outcome, name in OUTCOMES.items() if outcome is not Outcome.CONFORMS}
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
    exceptions: tuple[tuple[int, str], ...]
    """How many do not conform, by outcome in words; empty where all do."""
    bar: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One provider: the families of which not all conform, and those that fold into one line."""

    provider: str
    records: int
    sight: Sight | None
    oldest: int | None
    notable: tuple[tuple[str, tuple[Family, ...]], ...]
    """By kind, its name first."""
    calm: tuple[Family, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Providers across; below each its families."""

    columns: tuple[Column, ...]
    squares: bool


def matrix(overview: Overview) -> Matrix:
    """The matrix; what conforms entirely is folded."""
    seen = sight(overview.standings)
    columns = tuple(_column(provider, overview, seen.get(provider)) for provider in overview.providers)
    return Matrix(columns, squares=len(overview.standings) <= SQUARES)


def _column(provider: str, overview: Overview, seen: Sight | None) -> Column:
    families = [_family(cell) for cell in overview.cells if cell.provider == provider]
    notable = tuple(
        (NAMES[kind], tuple(each for each in families if each.exceptions and each.cell.kind == kind)) for kind in KINDS
    )
    ages = [each.cell.oldest for each in families if each.cell.oldest is not None]
    return Column(
        provider,
        sum(len(each.cell.standings) for each in families),
        seen,
        max(ages, default=None),
        tuple((name, members) for name, members in notable if members),
        tuple(each for each in families if not each.exceptions),
    )


def _family(cell: Cell) -> Family:
    counts = cell.counts
    exceptions = tuple((counts[outcome], name) for outcome, name in EXCEPTIONS.items() if counts[outcome])
    bar, start = [], 0.0
    for outcome in OUTCOMES:
        width = round(100 * counts[outcome] / len(cell.standings), 2)
        if width:
            bar.append(Stretch(outcome, round(start, 2), width))
        start += width
    return Family(cell, exceptions, tuple(bar))
