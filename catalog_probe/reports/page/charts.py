"""The two charts of the page: the matrix of families, and the bars of the last runs."""

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
    """How many of a provider's assertions within reach were observed on some endpoint, e.g. 310 of 400 (77 %)."""

    observed: int
    within_reach: int

    @property
    def percent(self) -> int:
        """The share in percent, rounded down: only if all were observed it is 100."""
        return 100 * self.observed // self.within_reach if self.within_reach else 0


@dataclass(frozen=True, slots=True)
class MatrixFamily:
    """A family of one provider."""

    cell: FamilyCell
    exceptions: tuple[tuple[int, str], ...]
    """Number and outcome of the records that do not conform, e.g. `((2, "drifted"), (1, "flaky"))`."""


@dataclass(frozen=True, slots=True)
class Column:
    """A provider in the matrix."""

    provider: str
    record_count: int
    observed: ObservedShare | None
    oldest: int | None
    """The age in days of its oldest evidence."""
    notable: tuple[tuple[str, tuple[MatrixFamily, ...]], ...]
    """The families with an exception, by the name of their kind: `(("Errors", (…, …)),)`."""
    conforming: tuple[MatrixFamily, ...]
    """The families without an exception."""


def build_matrix(overview: Overview) -> tuple[Column, ...]:
    """Build the columns of all providers."""
    shares = count_observed_shares(overview.records)
    return tuple(_build_column(provider, overview, shares.get(provider)) for provider in overview.providers)


def _build_column(provider: str, overview: Overview, observed: ObservedShare | None) -> Column:
    families = [_build_family(cell) for cell in overview.cells if cell.provider == provider]
    notable = []
    for kind in KINDS:
        notable_families = tuple(family for family in families if family.exceptions and family.cell.kind == kind)
        if notable_families:
            notable.append((_KIND_NAMES[kind], notable_families))
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
    """Return the share of each provider; a provider of which nothing was observed has none.

    Example: one record of PA states four assertions, and two of them were observed -> `{"pa": ObservedShare(2, 4)}`.
    """
    record_by_address = {
        record.address: record.result.parsed_record for record in records if record.result.probed_record
    }
    observed_counts: Counter[str] = Counter()
    reachable_counts: Counter[str] = Counter()
    for record in records:
        observed = {
            f"{observation.label}/{key}"
            for observation in record.result.observations
            for key in (*observation.matched, *observation.mismatched)
        }
        # What was observed is within reach, even if the record says that no client can reach it.
        reachable = _list_reachable_keys(record_by_address.get(record.address), record_by_address) | observed
        observed_counts[record.provider] += len(observed)
        reachable_counts[record.provider] += len(reachable)
    return {
        provider: ObservedShare(observed_count, reachable_counts[provider])
        for provider, observed_count in observed_counts.items()
        if observed_count
    }


def _list_reachable_keys(record: Record | None, record_by_address: Mapping[str, Record]) -> frozenset[str]:
    """Return the keys of the assertions within reach; empty if the record refers to one that was not selected."""
    if record is None:
        return frozenset()
    try:
        stated = assertions(record, lambda address: record_by_address[str(address)])
        return frozenset(str(assertion.key) for assertion in stated if not assertion.out_of_reach)
    except (AttributeError, KeyError, TypeError, ValueError):
        # A record in results.jsonl is as old as its run, so it may have a form that no schema of today knows.
        return frozenset()


STACK = (
    Outcome.DRIFTED,
    Outcome.FLAKY,
    Outcome.HARNESS_ERROR,
    Outcome.INCONCLUSIVE,
    Outcome.RESTRICTED,
)
"""The outcomes that are plotted, from the bottom up: the most urgent is lowest. What was not probed is left out."""

# All lengths are in units of the SVG's view box.
WIDTH, HEIGHT = 360, 150
_FOOT = 20  # below the bars, for the names of the runs
_HEAD = 16  # above the highest bar, for its number
_MAX_RUN_WIDTH = 40  # so that three runs do not fill the plot
_TWO_NAMES = 150  # the names of the first and the last run, side by side
_MIN_BAR = 1.5  # so that one record among thousands is visible
_MIN_SCALE = 4  # records; a single record does not fill the plot


@dataclass(frozen=True, slots=True)
class Bar:
    """The records of one run with one outcome, as a rectangle."""

    outcome: Outcome
    x: float
    y: float
    width: float
    height: float
    words: str
    """Its title: `2 drifted; 2026-11-21: 408 conforms, 2 drifted`."""


@dataclass(frozen=True, slots=True)
class Plot:
    """The bars of all runs, side by side."""

    words: str
    """The content for readers who cannot see the bars."""
    bars: tuple[Bar, ...]
    first: str
    last: str
    """The names of the first and the last run."""
    end: float
    """Where the name of the last run ends: at the right edge of its bar, or further, beyond the name of the first."""
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
    counts_by_run = [Counter(outcomes) for outcomes in outcomes_by_run]
    highest = max(_count_plotted(counts) for counts in counts_by_run)
    run_width = min(WIDTH / len(counts_by_run), _MAX_RUN_WIDTH)
    scale = (HEIGHT - _FOOT - _HEAD) / max(highest, _MIN_SCALE)
    stacks = [
        _stack_bars(counts, name, index * run_width, run_width - 1, scale)
        for index, (name, counts) in enumerate(zip(overview.run_names, counts_by_run, strict=True))
    ]
    last_counts, last_bars = counts_by_run[-1], stacks[-1]
    top = last_bars[-1].y if last_bars else HEIGHT - _FOOT
    last_outcomes = [outcome.query_word for outcome in STACK if last_counts[outcome]]
    drifted = ", ".join(str(counts[Outcome.DRIFTED]) for counts in counts_by_run)
    return Plot(
        words=f"Drifted in the last {len(counts_by_run)} runs, oldest first: {drifted}.",
        bars=tuple(bar for bars in stacks for bar in bars),
        first=overview.run_names[0],
        last=overview.run_names[-1] if len(counts_by_run) > 1 else "",
        end=round(max(run_width * len(counts_by_run), _TWO_NAMES), 1),
        middle=round(run_width * len(counts_by_run) - run_width / 2, 1),
        top=round(top - 4, 1),
        number=_count_plotted(last_counts),
        query=f"outcome:{','.join(last_outcomes)}" if last_outcomes else "",
    )


def _count_plotted(counts: Mapping[Outcome | None, int]) -> int:
    return sum(counts[outcome] for outcome in STACK)


def _stack_bars(counts: Mapping[Outcome | None, int], run: str, x: float, width: float, scale: float) -> list[Bar]:
    """Return the bars of one run, the lowest first; `scale` is the height of one record."""
    in_words = {
        outcome: f"{counts[outcome]} {outcome.words}"
        for outcome in (Outcome.CONFORMS, *reversed(STACK))
        if counts[outcome]
    }
    bars = []
    y = float(HEIGHT - _FOOT)
    for outcome in STACK:
        if counts[outcome]:
            height = max(counts[outcome] * scale, _MIN_BAR)
            y -= height  # in SVG the y axis points down
            words = f"{in_words[outcome]}; {run}: {', '.join(in_words.values())}"
            bars.append(Bar(outcome, round(x, 1), round(y, 1), round(width, 1), round(height, 1), words))
    return bars
