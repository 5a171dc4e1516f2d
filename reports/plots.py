"""Plots where looking beats reading, as shapes computed from the data; the template only draws them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog.model import Attempt, Outcome
from catalog.model.labels import BESIDE
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
    drawn = [ages(overview.standings), runs(overview)]
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
