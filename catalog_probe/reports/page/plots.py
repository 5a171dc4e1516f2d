"""What did not conform in the last runs, as bars computed from the data; the template only draws them."""

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
"""What did not conform though it was tried, from the ground up: what needs attention most is lowest."""

WIDTH, HEIGHT, FOOT = 360, 150, 20
HEAD = 16
"""Room above the highest bar, for its number."""


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
    """The bars, and their content in words for those who do not see it."""

    words: str
    bars: tuple[Bar, ...]
    first: str
    last: str
    """The names of the first and the last run."""
    end: float
    """Where the last run ends; its number stands over its bars, at `middle` and `top`."""
    middle: float
    top: float
    number: int
    query: str
    """What finds these; the records of earlier runs are not in this page, so their numbers lead nowhere."""


def runs(overview: Overview) -> Plot | None:
    """What did not conform in the last runs, this one last. What conforms would dwarf it, so it is in the words."""
    if not overview.standings:
        return None
    # Counted over the records of this run, for the page has no others to list.
    by_run = zip(*(each.strip for each in overview.standings), strict=True)
    tallies = [Counter(outcomes) for outcomes in by_run]
    highest = max(sum(tally[outcome] for outcome in STACK) for tally in tallies)
    step = min(WIDTH / len(tallies), 40)
    scale = (HEIGHT - FOOT - HEAD) / max(highest, 4)
    bars: list[Bar] = []
    ground = 0.0
    for index, (day, tally) in enumerate(zip(overview.run_names, tallies, strict=True)):
        ground = HEIGHT - FOOT
        told = {each: f"{tally[each]} {OUTCOMES[each]}" for each in (Outcome.CONFORMS, *reversed(STACK)) if tally[each]}
        words = f"{day}: {', '.join(told.values())}"
        for outcome in filter(tally.__getitem__, STACK):
            height = max(tally[outcome] * scale, 1.5)  # one record among thousands still shows
            ground -= height
            place = round(index * step, 1), round(ground, 1), round(step - 1, 1), round(height, 1)
            bars.append(Bar(outcome, *place, f"{told[outcome]}; {words}"))
    seen = [OUTCOMES[each].replace(" ", "-") for each in STACK if tallies[-1][each]]
    drifted = ", ".join(str(tally[Outcome.DRIFTED]) for tally in tallies)
    return Plot(
        words=f"Drifted in the last {len(tallies)} runs, oldest first: {drifted}.",
        bars=tuple(bars),
        first=overview.run_names[0],
        last=overview.run_names[-1] if len(tallies) > 1 else "",
        end=round(step * len(tallies), 1),
        middle=round(step * len(tallies) - step / 2, 1),
        top=round(ground - 4, 1),
        number=sum(tallies[-1][each] for each in STACK),
        query=f"outcome:{','.join(seen)}" if seen else "",
    )
