"""Plots where looking beats reading, as shapes computed from the data; the template only draws them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog.model import Attempt, Outcome
from catalog.model.text import brief
from reports.exchanges import ASIDE
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

_AGES = ((0, "today"), (1, "1 d"), (3, "3 d"), (7, "7 d"), (14, "14 d"), (30, "30 d"), (90, "90 d"), (10**9, "older"))
WIDTH, HEIGHT, FOOT = 360, 150, 20


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
    drawn = [ages(overview.standings), runs(overview), latency(overview.standings)]
    return [plot for plot in drawn if plot is not None]


def ages(standings: Sequence[Standing]) -> Plot | None:
    """How many records rest on evidence of which age."""
    counts = [0] * (len(_AGES) + 1)
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
        shapes.append(Shape("rect", kind, left + 3, HEIGHT - FOOT - tall, step - 6, tall, f"{name}: {count}"))
        shapes.append(Shape("text", "value", left + step / 2, HEIGHT - FOOT - tall - 4, text=str(count or "")))
        shapes.append(Shape("text", "tick", left + step / 2, HEIGHT - 6, text=name))
    said = ", ".join(f"{name}: {count}" for name, count, _ in used if count)
    return Plot("Age of the evidence", f"Records by age of their evidence. {said}.", HEIGHT, _round(shapes))


def runs(overview: Overview) -> Plot | None:
    """What did not conform in the last runs, this one last. What conforms would dwarf it, so it is in the words."""
    columns = [(row.today.isoformat(), row.tally) for row in overview.earlier]
    columns.append((overview.run.today, {outcome: overview.counts[outcome] for outcome in Outcome}))
    highest = max(sum(tally[outcome] for outcome in STACK) for _, tally in columns)
    step = min(WIDTH / len(columns), 40)
    scale = (HEIGHT - FOOT - 16) / max(highest, 4)
    shapes = [Shape("line", "grid", 0, HEIGHT - FOOT, WIDTH, 0)]
    for index, (day, tally) in enumerate(columns):
        ground = float(HEIGHT - FOOT)
        told = [f"{tally[outcome]} {outcome.replace('_', ' ')}" for outcome in (Outcome.CONFORMS, *reversed(STACK))]
        words = f"{day}: {', '.join(each for each in told if not each.startswith('0 '))}"
        for outcome in STACK:
            tall = _bar(tally[outcome], scale)
            if tall:
                ground -= tall
                asked = f"on:{overview.run_names[index]}={OUTCOMES[outcome].replace(' ', '-')}"
                shapes.append(Shape("rect", outcome, index * step, ground, step - 1, tall, words, asked))
        if index in (0, len(columns) - 1) or sum(tally[outcome] for outcome in STACK) == highest:
            number = sum(tally[outcome] for outcome in STACK)
            shapes.append(Shape("text", "value", index * step + step / 2, ground - 4, text=str(number)))
    shapes.append(Shape("text", "tick start", 0, HEIGHT - 6, text=columns[0][0]))
    if len(columns) > 1:
        shapes.append(Shape("text", "tick end", step * len(columns), HEIGHT - 6, text=columns[-1][0]))
    drifted = ", ".join(str(tally[Outcome.DRIFTED]) for _, tally in columns)
    said = f"Drifted in the last {len(columns)} runs, oldest first: {drifted}."
    return Plot("What did not conform in the last runs", said, HEIGHT, _round(shapes))


def latency(standings: Sequence[Standing]) -> Plot | None:
    """How long exchanges took in each lane: the middle half as a box, the median, and the slowest tenth."""
    lanes: dict[str, list[float]] = {}
    for each in standings:
        for ms in _times(each.result.attempts):
            lanes.setdefault(each.result.lane or each.result.address.provider, []).append(ms)
    if not lanes:
        return None
    lanes = dict(sorted(lanes.items())[:12])
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
        times.sort()
        low, first, median, third, high = (_quantile(times, q) for q in (0.1, 0.25, 0.5, 0.75, 0.9))
        middle = index * tall + tall / 2
        words = f"{lane}: median {_ms(median)}, nine in ten within {_ms(high)}, {len(times)} exchanges"
        shapes.append(Shape("text", "lane", left - 8, middle + 4, text=brief(lane, 15)))
        shapes.append(Shape("line", "whisker", x(low), middle, x(high) - x(low), 0))
        shapes.append(Shape("rect", "box", x(first), middle - 5, max(x(third) - x(first), 2), 10, words))
        shapes.append(Shape("line", "median", x(median), middle - 6, 0, 12))
        shapes.append(Shape("text", "value right", WIDTH, middle + 4, text=_ms(median)))
        said.append(words)
    return Plot("Latency by lane", f"{'; '.join(said)}.", height, _round(shapes))


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
        kind = "failed" if each.failure else "judged" if each.label not in ASIDE else "step"
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


def _times(attempts: Sequence[Attempt]) -> Iterator[float]:
    for attempt in attempts:
        for exchange in attempt.exchanges:
            if exchange.failure is None:
                yield exchange.elapsed_ms


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


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
