"""Plots where looking beats reading, as shapes computed from the data; the template only draws them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from catalog.model import Attempt, Outcome
from catalog.model.labels import BESIDE
from catalog.model.text import brief
from reports.latency import by_lane, courses, quantile, remembered
from reports.words import OUTCOMES

if TYPE_CHECKING:
    from reports.overview import Overview
    from reports.standing import Standing

STACK = (
    Outcome.DRIFTED,
    Outcome.FLAKY,
    Outcome.HARNESS_ERROR,
    Outcome.INCONCLUSIVE,
    Outcome.RESTRICTED,
)
"""What did not conform though it was tried, from the ground up: what needs attention most is lowest."""

OLDEST = 10**9
_AGES = ((0, "today"), (1, "1 d"), (3, "3 d"), (7, "7 d"), (14, "14 d"), (30, "30 d"), (90, "90 d"), (OLDEST, "older"))
WIDTH, HEIGHT, FOOT = 360, 150, 20
LANES = 12
"""So many lanes are drawn; nobody has more keys."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A rectangle, a line or a text; `kind` is its class in the stylesheet."""

    form: str
    kind: str
    x: float
    y: float
    width: float = 0
    height: float = 0
    text: str = ""
    query: str = ""
    """What the shape leads to, if anything."""


@dataclass(frozen=True, slots=True)
class Plot:
    """A drawing with its title, and its content in words for those who do not see it."""

    title: str
    words: str
    height: int
    shapes: tuple[Shape, ...] = field(default_factory=tuple)
    width: int = WIDTH

    @property
    def linked(self) -> bool:
        """Whether some of its shapes lead to records."""
        return any(each.query for each in self.shapes)


def plots(overview: Overview) -> list[Plot]:
    """The plots that have something to show."""
    drawn = [ages(overview.standings), runs(overview), latency(overview), latency_over_runs(overview)]
    return [plot for plot in drawn if plot is not None]


def ages(standings: Sequence[Standing]) -> Plot | None:
    """How many records rest on evidence of which age."""
    counts = [0] * (len(_AGES) + 1)
    asked = [*_asked_of_ages(), "seen:never"]
    for each in standings:
        counts[-1 if each.age is None else next(i for i, (top, _) in enumerate(_AGES) if each.age <= top)] += 1
    names = [*(name for _, name in _AGES), "never"]
    used = [(name, count, index) for index, (name, count) in enumerate(zip(names, counts, strict=True))]
    if not any(counts):
        return None
    step = WIDTH / len(used)
    scale = (HEIGHT - FOOT - 16) / max(counts)
    shapes: list[Shape] = []
    for name, count, index in used:
        tall = _bar(count, scale)
        left = index * step
        kind = "never" if name == "never" else "aged" if index > 3 else "fresh"
        query = asked[index] if count else ""
        top, middle = HEIGHT - FOOT - tall, left + step / 2
        shapes.append(Shape("rect", kind, left + 3, top, step - 6, tall, f"{count}, {name}", query))
        shapes.append(Shape("text", "value", middle, top - 4, text=str(count or ""), query=query))
        shapes.append(Shape("text", "tick", left + step / 2, HEIGHT - 6, text=name))
    said = ", ".join(f"{name}: {count}" for name, count, _ in used if count)
    return Plot("Age of the evidence", f"Records by age of their evidence. {said}.", HEIGHT, _round(shapes))


def runs(overview: Overview) -> Plot | None:
    """What did not conform in the last runs, this one last. What conforms would dwarf it, so it is in the words."""
    if not overview.standings:
        return None
    # Counted over the records of this run, for the page has no others to list.
    by_run = zip(*(each.strip for each in overview.standings), strict=True)
    columns = [(name, Counter(outcomes)) for name, outcomes in zip(overview.run_names, by_run, strict=True)]
    highest = max(sum(tally[outcome] for outcome in STACK) for _, tally in columns)
    step = min(WIDTH / len(columns), 40)
    scale = (HEIGHT - FOOT - 16) / max(highest, 4)
    shapes = [Shape("line", "grid", 0, HEIGHT - FOOT, WIDTH, 0)]
    for index, (day, tally) in enumerate(columns):
        ground = float(HEIGHT - FOOT)
        told = {each: f"{tally[each]} {OUTCOMES[each]}" for each in (Outcome.CONFORMS, *reversed(STACK)) if tally[each]}
        words = f"{day}: {', '.join(told.values())}"
        for outcome in STACK:
            tall = _bar(tally[outcome], scale)
            if tall:
                ground -= tall
                shapes.append(Shape("rect", outcome, index * step, ground, step - 1, tall, f"{told[outcome]}; {words}"))
        if index == len(columns) - 1:  # the records of earlier runs are not in this page, so their numbers lead nowhere
            seen = [OUTCOMES[each].replace(" ", "-") for each in STACK if tally[each]]
            query, number = f"outcome:{','.join(seen)}" if seen else "", sum(tally[each] for each in STACK)
            shapes.append(Shape("text", "value", index * step + step / 2, ground - 4, text=str(number), query=query))
    shapes.append(Shape("text", "tick start", 0, HEIGHT - 6, text=columns[0][0]))
    if len(columns) > 1:
        shapes.append(Shape("text", "tick end", step * len(columns), HEIGHT - 6, text=columns[-1][0]))
    drifted = ", ".join(str(tally[Outcome.DRIFTED]) for _, tally in columns)
    said = f"Drifted in the last {len(columns)} runs, oldest first: {drifted}."
    return Plot("What did not conform in the last runs", said, HEIGHT, _round(shapes))


def _asked_of_ages() -> Iterator[str]:
    """The query for each bar of the ages: from one day more than the bar before."""
    after = -1
    for top, _ in _AGES:
        yield f"seen:{top}d" if top == after + 1 else " ".join(_between(after, top))
        after = top


def _between(after: int, top: int) -> Iterator[str]:
    yield f"seen:>{after}d"
    if top < OLDEST:
        yield f"seen:<{top + 1}d"


def latency(overview: Overview) -> Plot | None:
    """How long exchanges took in each lane: the middle half as a box, the median, and the slowest tenth."""
    every = by_lane(overview.results)
    lanes = dict([*every.items()][:LANES])
    if not lanes:
        return None
    top = max(max(times) for times in lanes.values())
    low = min(min(times) for times in lanes.values())
    floor, roof = math.floor(math.log10(max(low, 0.1))), math.ceil(math.log10(max(top, 1)))
    roof = max(roof, floor + 1)
    left, right, tall = 96, WIDTH - 46, 22

    def x(ms: float) -> float:
        return left + (math.log10(max(ms, 10**floor)) - floor) / (roof - floor) * (right - left)

    height = tall * len(lanes) + FOOT
    shapes = []
    for power in range(floor, roof + 1):
        shapes.append(Shape("line", "grid", x(10**power), 0, 0, height - FOOT))
        shapes.append(Shape("text", "tick", x(10**power), height - 6, text=_ms(10**power)))
    said = []
    for index, (lane, times) in enumerate(lanes.items()):
        low, first, median, third, high = (quantile(times, q) for q in (0.1, 0.25, 0.5, 0.75, 0.9))
        middle = index * tall + tall / 2
        words = f"{lane}: median {_ms(median)}, nine in ten within {_ms(high)}, {len(times)} exchanges"
        shapes.append(Shape("text", "lane", left - 8, middle + 4, text=brief(lane, 15)))
        shapes.append(Shape("line", "whisker", x(low), middle, x(high) - x(low), 0))
        shapes.append(Shape("rect", "box", x(first), middle - 5, max(x(third) - x(first), 2), 10, words))
        shapes.append(Shape("line", "median", x(median), middle - 6, 0, 12))
        shapes.append(Shape("text", "value right", WIDTH, middle + 4, text=_ms(median)))
        said.append(words)
    return Plot(f"Latency by lane{_of_all(len(every))}", f"{'; '.join(said)}.", height, _round(shapes))


def latency_over_runs(overview: Overview) -> Plot | None:
    """The median of each lane in the last runs, a line a lane from nought up; those that became slower first."""
    every = courses(overview.earlier, remembered(overview.results))
    told = every[:LANES]
    if not told:
        return None
    left, right, tall = 96, WIDTH - 46, 22
    step = (right - left) / len(overview.earlier)
    shapes: list[Shape] = []
    said = []
    for index, each in enumerate(told):
        ground, scale = (index + 1) * tall - 4, (tall - 6) / max(each.known)
        points = [(left + at * step, ground - ms * scale) for at, ms in enumerate(each.medians) if ms is not None]
        range_ = f"{_ms(min(each.known))} to {_ms(max(each.known))}"
        slower = f", {each.times:.1f} times as long as is usual" if each.is_slower else ""
        words = f"{each.lane}: median {_ms(each.now)}, {range_} in {len(each.known)} runs{slower}"
        kind = "slower" if each.is_slower else "course"
        shapes.append(Shape("text", "lane", left - 8, ground - 3, text=brief(each.lane, 15)))
        shapes.append(Shape("line", "grid", left, ground, right - left, 0))
        shapes += [Shape("line", kind, x, y, to - x, down - y) for (x, y), (to, down) in pairwise(points)]
        shapes.append(Shape("rect", kind, points[-1][0] - 2, points[-1][1] - 2, 4, 4, words))
        shapes.append(Shape("text", "value right", WIDTH, ground - 3, text=_ms(each.now)))
        said.append(words)
    height = tall * len(told) + FOOT
    shapes.append(Shape("text", "tick start", left, height - 6, text=overview.run_names[0]))
    shapes.append(Shape("text", "tick end", right, height - 6, text=overview.run_names[-1]))
    return Plot("Latency by lane over the last runs", f"{'; '.join(said)}.", height, _round(shapes))


def waterfall(attempt: Attempt) -> Plot | None:
    """One attempt over time: a bar an exchange, a tick an event."""
    if not attempt.exchanges:
        return None
    whole = max(attempt.elapsed_ms, *(each.started_ms + each.elapsed_ms for each in attempt.exchanges), 0.001)
    left, right, tall = 120, 640, 18
    scale = (right - left) / whole
    shapes: list[Shape] = []
    for index, each in enumerate(attempt.exchanges[:20]):
        top, start = index * tall, left + each.started_ms * scale
        kind = "failed" if each.failure else "judged" if each.label not in BESIDE else "step"
        words = f"{each.label}: {_ms(each.elapsed_ms)} from {_ms(each.started_ms)}"
        shapes.append(Shape("text", "lane", left - 8, top + 12, text=each.label[:18]))
        shapes.append(Shape("rect", kind, start, top + 4, max(each.elapsed_ms * scale, 2), 9, words))
        for event in (each.response.events or ())[:100] if each.response else ():
            way = "sent" if event.sent else "received"
            where = min(start + event.at_ms * scale, right)
            shapes.append(Shape("line", way, where, top + 2, 0, 13))
        shapes.append(Shape("text", "value right", right + 70, top + 12, text=_ms(each.elapsed_ms)))
    height = tall * len(attempt.exchanges[:20]) + 4
    said = "; ".join(f"{each.label} {_ms(each.elapsed_ms)}" for each in attempt.exchanges[:20])
    return Plot("Timeline", f"Exchanges in order: {said}.", height, _round(shapes), width=right + 72)


def _of_all(lanes: int) -> str:
    """How many lanes there are, if not all of them are drawn."""
    return f", {LANES} of {lanes} lanes" if lanes > LANES else ""


def _bar(count: int, scale: float) -> float:
    """The height of a bar; one record among thousands still shows."""
    return max(count * scale, 1.5) if count else 0.0


def _ms(value: float) -> str:
    if value >= 1000:
        return f"{value / 1000:.3g} s"
    return f"{value:.0f} ms" if value >= 10 else f"{value:.2g} ms"


def _round(shapes: Sequence[Shape]) -> tuple[Shape, ...]:
    """Coordinates to a tenth: small, and the same on every machine."""
    return tuple(
        Shape(s.form, s.kind, round(s.x, 1), round(s.y, 1), round(s.width, 1), round(s.height, 1), s.text, s.query)
        for s in shapes
    )
