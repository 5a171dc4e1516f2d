"""The matrix as data: a column per provider with its families; families that conform are folded into one line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import KINDS, Outcome
from catalog_probe.reports.content.observed_share import ObservedShare, count_observed_shares
from catalog_probe.reports.content.words import OUTCOMES

if TYPE_CHECKING:
    from catalog_probe.reports.content.overview import FamilyCell, Overview

_KIND_NAMES = {"endpoints": "Endpoints", "errors": "Errors", "rate_limits": "Rate limits"}


@dataclass(frozen=True, slots=True)
class Family:
    """A family of one provider."""

    cell: FamilyCell
    exceptions: tuple[tuple[int, str], ...]
    """How many records do not conform, by outcome in words; empty if all do."""


@dataclass(frozen=True, slots=True)
class Column:
    """A provider in the matrix."""

    provider: str
    record_count: int
    observed: ObservedShare | None
    oldest: int | None
    """The age in days of its oldest evidence."""
    notable: tuple[tuple[str, tuple[Family, ...]], ...]
    """The families that do not all conform, by the name of their kind."""
    conforming: tuple[Family, ...]


def build_matrix(overview: Overview) -> tuple[Column, ...]:
    """Build the columns of all providers."""
    shares = count_observed_shares(overview.records)
    return tuple(_build_column(provider, overview, shares.get(provider)) for provider in overview.providers)


def _build_column(provider: str, overview: Overview, observed: ObservedShare | None) -> Column:
    families = [_build_family(cell) for cell in overview.cells if cell.provider == provider]
    notable = []
    for kind in KINDS:
        members = tuple(family for family in families if family.exceptions and family.cell.kind == kind)
        if members:
            notable.append((_KIND_NAMES[kind], members))
    return Column(
        provider,
        sum(len(family.cell.records) for family in families),
        observed,
        max((family.cell.oldest for family in families if family.cell.oldest is not None), default=None),
        tuple(notable),
        tuple(family for family in families if not family.exceptions),
    )


def _build_family(cell: FamilyCell) -> Family:
    counts = cell.counts
    exceptions = tuple(
        (counts[outcome], name)
        for outcome, name in OUTCOMES.items()
        if outcome is not Outcome.CONFORMS and counts[outcome]
    )
    return Family(cell, exceptions)
