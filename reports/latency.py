"""How long the answers of each lane took: of one run, to be remembered, and over the runs that are shown. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog.evidence.past import Row
    from catalog.evidence.results import Result

SLOWER = 2.0
"""So many times as long as in the runs before is worth a word; less is weather."""

FAST_MS = 20.0
"""Below this nothing is called slow: twice as long as a mock takes is nothing."""


@dataclass(frozen=True, slots=True)
class Course:
    """The medians of one lane over the runs shown, oldest first, in ms; None where it has none in a run."""

    lane: str
    medians: tuple[float | None, ...]

    @property
    def known(self) -> tuple[float, ...]:
        return tuple(each for each in self.medians if each is not None)

    @property
    def now(self) -> float:
        return self.known[-1]

    @property
    def times(self) -> float:
        """How many times as long the last run's answers took as is usual of the runs before."""
        from statistics import median  # a first run has no others

        usual = median(self.known[:-1]) if len(self.known) > 1 else self.now
        return self.now / usual if usual else 1.0

    @property
    def is_slower(self) -> bool:
        return self.times >= SLOWER and self.now >= FAST_MS


def by_lane(results: Iterable[Result]) -> dict[str, list[float]]:
    """The milliseconds of each exchange that was answered, in ascending order, by lane."""
    lanes: dict[str, list[float]] = {}
    for each in results:
        if each.answered_ms:
            lanes.setdefault(each.lane or each.address.provider, []).extend(each.answered_ms)
    return {lane: sorted(lanes[lane]) for lane in sorted(lanes)}


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which this share of the others lies."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def remembered(results: Iterable[Result]) -> dict[str, float]:
    """The median of each lane in ms, to a tenth: what a history keeps of it."""
    return {lane: round(quantile(times, 0.5), 1) for lane, times in by_lane(results).items()}


def courses(earlier: Sequence[Row], now: Mapping[str, float]) -> list[Course]:
    """Of each lane of today's that an earlier run knew as well: those that became slower first."""
    found = [Course(lane, (*(row.latency.get(lane) for row in earlier), median)) for lane, median in now.items()]
    told = [each for each in found if len(each.known) > 1]
    return sorted(told, key=lambda each: (not each.is_slower, each.lane))
