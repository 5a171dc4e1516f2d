"""The charts of the page: the matrix of families and the plots of earlier runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import KINDS, Outcome
from catalog_probe.catalog.reading.assertions import assertions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.catalog.model import Record
    from catalog_probe.reports.content.overview import FamilyCell, Overview
    from catalog_probe.reports.content.records import ReportedRecord


_KIND_NAMES = {"endpoints": "Endpoints", "errors": "Errors", "rate_limits": "Rate limits"}


@dataclass(frozen=True, slots=True)
class ObservedShare:
    """How many of a provider's assertions within reach were observed on some endpoint, and how many there are."""

    observed: int
    stated: int

    @property
    def percent(self) -> int:
        """Rounded down, so that only all of them are 100."""
        return 100 * self.observed // self.stated if self.stated else 0


@dataclass(frozen=True, slots=True)
class MatrixFamily:
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
    notable: tuple[tuple[str, tuple[MatrixFamily, ...]], ...]
    """The families that do not all conform, by the name of their kind."""
    conforming: tuple[MatrixFamily, ...]


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


def _build_family(cell: FamilyCell) -> MatrixFamily:
    counts = cell.counts
    exceptions = tuple(
        (counts[outcome], outcome.words) for outcome in Outcome if outcome is not Outcome.CONFORMS and counts[outcome]
    )
    return MatrixFamily(cell, exceptions)


def count_observed_shares(records: Sequence[ReportedRecord]) -> dict[str, ObservedShare]:
    """Count by provider. A provider of which nothing was observed has no share."""
    record_by_address = {
        record.address: record.result.parsed_record for record in records if record.result.probed_record
    }
    observed_counts: Counter[str] = Counter()
    stated_counts: Counter[str] = Counter()
    for record in records:
        observed = {
            f"{observation.label}/{key}"
            for observation in record.result.observations
            for key in (*observation.matched, *observation.mismatched)
        }
        stated = _list_stated(record_by_address.get(record.address), record_by_address) | observed
        observed_counts[record.provider] += len(observed)
        stated_counts[record.provider] += len(stated)
    return {
        provider: ObservedShare(observed_count, stated_counts[provider])
        for provider, observed_count in observed_counts.items()
        if observed_count
    }


def _list_stated(record: Record | None, record_by_address: Mapping[str, Record]) -> frozenset[str]:
    """Return the keys that a record asserts within reach; empty if it refers to a record that was not selected."""
    if record is None:
        return frozenset()
    try:
        stated = assertions(record, lambda address: record_by_address[str(address)])
        return frozenset(str(assertion.key) for assertion in stated if not assertion.out_of_reach)
    except (AttributeError, KeyError, TypeError, ValueError):
        return frozenset()


STACK = (
    Outcome.DRIFTED,
    Outcome.FLAKY,
    Outcome.HARNESS_ERROR,
    Outcome.INCONCLUSIVE,
    Outcome.RESTRICTED,
)
"""The outcomes of tried records that did not conform, from the bottom up: the most urgent is lowest."""

# All lengths are in units of the SVG's view box.
WIDTH, HEIGHT = 360, 150
_FOOT = 20  # below the bars, for the names of the runs
_HEAD = 16  # above the highest bar, for its number
_MAX_STEP = 40  # from one run to the next
_MIN_BAR = 1.5  # so that one record among thousands is visible
_MIN_SCALE = 4  # records; a single record does not fill the plot


@dataclass(frozen=True, slots=True)
class Bar:
    """The records of one run with one outcome."""

    outcome: Outcome
    x: float
    y: float
    width: float
    height: float
    words: str


@dataclass(frozen=True, slots=True)
class Plot:
    """The bars, and their content in words for readers who cannot see them."""

    words: str
    bars: tuple[Bar, ...]
    first: str
    last: str
    """The names of the first and the last run."""
    end: float
    """The right edge of the last run."""
    middle: float
    top: float
    """The position of the number above the last run's bars."""
    number: int
    query: str
    """The query that finds the records of `number`. Records of earlier runs are not in this page."""


def plot_runs(overview: Overview) -> Plot | None:
    """Plot what did not conform in the last runs, this one last. What conforms would dwarf it: it is in the words."""
    if not overview.records:
        return None
    # Only the records of this run are counted, because the page can list no others.
    outcomes_by_run = zip(*(record.recent_outcomes for record in overview.records), strict=True)
    tallies = [Counter(outcomes) for outcomes in outcomes_by_run]
    highest = max(sum(tally[outcome] for outcome in STACK) for tally in tallies)
    step = min(WIDTH / len(tallies), _MAX_STEP)
    scale = (HEIGHT - _FOOT - _HEAD) / max(highest, _MIN_SCALE)
    bars: list[Bar] = []
    top = 0.0
    for index, (name, tally) in enumerate(zip(overview.run_names, tallies, strict=True)):
        top = HEIGHT - _FOOT
        words = {
            outcome: f"{tally[outcome]} {outcome.words}"
            for outcome in (Outcome.CONFORMS, *reversed(STACK))
            if tally[outcome]
        }
        for outcome in STACK:
            if tally[outcome]:
                height = max(tally[outcome] * scale, _MIN_BAR)
                top -= height
                position = round(index * step, 1), round(top, 1), round(step - 1, 1), round(height, 1)
                bars.append(Bar(outcome, *position, f"{words[outcome]}; {name}: {', '.join(words.values())}"))
    last_outcomes = [outcome.query_word for outcome in STACK if tallies[-1][outcome]]
    drifted = ", ".join(str(tally[Outcome.DRIFTED]) for tally in tallies)
    return Plot(
        words=f"Drifted in the last {len(tallies)} runs, oldest first: {drifted}.",
        bars=tuple(bars),
        first=overview.run_names[0],
        last=overview.run_names[-1] if len(tallies) > 1 else "",
        end=round(step * len(tallies), 1),
        middle=round(step * len(tallies) - step / 2, 1),
        top=round(top - 4, 1),
        number=sum(tallies[-1][outcome] for outcome in STACK),
        query=f"outcome:{','.join(last_outcomes)}" if last_outcomes else "",
    )
