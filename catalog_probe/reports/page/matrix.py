"""The matrix as data: providers across, below each its families; those that conform entirely fold into one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import KINDS, Outcome
from catalog_probe.reports.content.observed_share import ObservedShare, observed_shares
from catalog_probe.reports.content.words import OUTCOMES

if TYPE_CHECKING:
    from catalog_probe.reports.content.overview import Cell, Overview

EXCEPTIONS = {outcome: name for outcome, name in OUTCOMES.items() if outcome is not Outcome.CONFORMS}
NAMES = {"endpoints": "Endpoints", "errors": "Errors", "rate_limits": "Rate limits"}


@dataclass(frozen=True, slots=True)
class Family:
    """One family in one cell of the matrix."""

    cell: Cell
    exceptions: tuple[tuple[int, str], ...]
    """How many do not conform, by outcome in words; empty where all do."""


@dataclass(frozen=True, slots=True)
class Column:
    """One provider: the families of which not all conform, and those that fold into one line."""

    provider: str
    records: int
    observed: ObservedShare | None
    oldest: int | None
    notable: tuple[tuple[str, tuple[Family, ...]], ...]
    """By kind, its name first."""
    calm: tuple[Family, ...]


def matrix(overview: Overview) -> tuple[Column, ...]:
    """Each provider's column; what conforms entirely is folded."""
    shares = observed_shares(overview.standings)
    return tuple(_column(provider, overview, shares.get(provider)) for provider in overview.providers)


def _column(provider: str, overview: Overview, observed: ObservedShare | None) -> Column:
    families = [_family(cell) for cell in overview.cells if cell.provider == provider]
    notable = tuple(
        (NAMES[kind], tuple(each for each in families if each.exceptions and each.cell.kind == kind)) for kind in KINDS
    )
    ages = [each.cell.oldest for each in families if each.cell.oldest is not None]
    return Column(
        provider,
        sum(len(each.cell.standings) for each in families),
        observed,
        max(ages, default=None),
        tuple((name, members) for name, members in notable if members),
        tuple(each for each in families if not each.exceptions),
    )


def _family(cell: Cell) -> Family:
    counts = cell.counts
    exceptions = tuple((counts[outcome], name) for outcome, name in EXCEPTIONS.items() if counts[outcome])
    return Family(cell, exceptions)
