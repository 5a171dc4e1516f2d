"""What a lane waits for at this moment: a run says it in the terminal while it goes on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum


class For(StrEnum):
    """What a probe waits for; the first of these is told of a lane."""

    ANSWER = "an answer"
    RATE = "its rate limit"
    AGAIN = "to ask again"


class Waiting:
    """How many probes of a lane wait for what. Changed in the loop thread alone; any thread may read it."""

    def __init__(self) -> None:
        self._numbers = dict.fromkeys(For, 0)

    @contextmanager
    def on(self, what: For) -> Iterator[None]:
        """Count one more that waits."""
        self._numbers[what] += 1
        try:
            yield
        finally:
            self._numbers[what] -= 1

    @property
    def numbers(self) -> Mapping[For, int]:
        """How many wait for each; what nobody waits for is left out."""
        return {what: number for what, number in self._numbers.items() if number}


@dataclass(frozen=True, slots=True)
class LaneState:
    """A lane that is not done."""

    name: str
    left: int
    """Its records without a result."""
    paused_s: float = 0.0
    """Seconds, from now, for which the provider asked to be left alone."""
    waiting: Mapping[For, int] = field(default_factory=dict)
