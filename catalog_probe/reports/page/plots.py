"""The plot of what did not conform in the last runs: bars computed from the data, which the template draws."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.reports.content.words import OUTCOMES

if TYPE_CHECKING:
    from catalog_probe.reports.content.overview import Overview

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
            outcome: f"{tally[outcome]} {OUTCOMES[outcome]}"
            for outcome in (Outcome.CONFORMS, *reversed(STACK))
            if tally[outcome]
        }
        for outcome in STACK:
            if tally[outcome]:
                height = max(tally[outcome] * scale, _MIN_BAR)
                top -= height
                position = round(index * step, 1), round(top, 1), round(step - 1, 1), round(height, 1)
                bars.append(Bar(outcome, *position, f"{words[outcome]}; {name}: {', '.join(words.values())}"))
    last_outcomes = [OUTCOMES[outcome].replace(" ", "-") for outcome in STACK if tallies[-1][outcome]]
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
