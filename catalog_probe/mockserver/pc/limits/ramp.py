"""PC's ramp rate: above about 1M TPM usage may grow by 50 % per 15 minutes, else 429 slow_down (2:8.4)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from catalog_probe.mockserver.core import leniency

RAMP_FROM_TPM = 1_000_000
RAMP_GROWTH = 1.5
RAMP_WINDOW_S = 15 * 60


@dataclass
class Ramp:
    """Tokens requested in each minute of the window.

    `minutes` has (start of the minute, tokens), in order. A minute begins with its first request, so there is at most
    one more than the window has.
    """

    minutes: deque[tuple[float, int]] = field(default_factory=deque)

    def admits(self, tokens: int, now: float) -> bool:
        """Return whether this minute may take so many tokens more, compared with the busiest earlier minute."""
        while self.minutes and self.minutes[0][0] <= now - RAMP_WINDOW_S:
            self.minutes.popleft()
        this_minute = sum(count for began, count in self.minutes if began > now - 60) + tokens
        busiest = max((count for began, count in self.minutes if began <= now - 60), default=0)
        limits = leniency.get_current().limits
        return limits is None or this_minute <= max(RAMP_FROM_TPM * limits, RAMP_GROWTH * busiest)

    def add(self, tokens: int, now: float) -> None:
        """Add admitted tokens to their minute."""
        if self.minutes and now - 60 < self.minutes[-1][0]:
            began, count = self.minutes.pop()
            self.minutes.append((began, count + tokens))
        else:
            self.minutes.append((now, tokens))
