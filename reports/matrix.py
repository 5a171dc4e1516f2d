"""The matrix as data: providers across, kinds down, families of records in each place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog.model import KINDS, Outcome
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
    exceptions: str
    """What does not conform, in words; empty where all do."""
    bar: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """Kinds down, providers across; each place holds families."""

    providers: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[Family, ...], ...]], ...]
    squares: bool


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


def _family(cell: Cell) -> Family:
    counts = cell.counts
    told = [f"{counts[outcome]} {name}" for outcome, name in EXCEPTIONS.items() if counts[outcome]]
    bar, start = [], 0.0
    for outcome in OUTCOMES:
        width = round(100 * counts[outcome] / len(cell.standings), 2)
        if width:
            bar.append(Stretch(outcome, round(start, 2), width))
        start += width
    return Family(cell, ", ".join(told), tuple(bar))
