"""PC's ramp rate: above 1M TPM at most 50 % more per 15 minutes (2:8.4)."""

from __future__ import annotations

from dataclasses import dataclass, field

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.core.buckets import SlidingWindow

RAMP_FROM_TPM = 1_000_000
RAMP_GROWTH = 1.5
RAMP_WINDOW_S = 15 * 60


@dataclass
class Ramp:
    """The tokens that were requested in each minute of the window."""

    minutes: SlidingWindow = field(default_factory=lambda: SlidingWindow(RAMP_WINDOW_S, period_s=60))

    def admits(self, tokens: int, now: float) -> bool:
        """Return whether this minute may have so many tokens more."""
        self.minutes.expire(now)
        this_minute = sum(amount for start, amount in self.minutes.sums if start > now - 60) + tokens
        busiest = max((amount for start, amount in self.minutes.sums if start <= now - 60), default=0)
        limits = leniency.get_current().limits
        return limits is None or this_minute <= max(RAMP_FROM_TPM * limits, RAMP_GROWTH * busiest)
