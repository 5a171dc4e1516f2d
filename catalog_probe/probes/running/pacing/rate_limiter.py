"""Keeps requests within a rate: evenly spread, with pauses for what the provider asks."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class WaitTooLong(Exception):
    """The provider asked for a longer wait than the lane may spend. Both in seconds."""

    def __init__(self, asked_s: float, allowed_s: float) -> None:
        super().__init__(f"asked to wait {asked_s:.0f} s, the budget is {allowed_s:.0f} s")


SHARE = 0.97
"""How much of a limit is used. What is spared is for requests that arrive sooner after one another than they left."""

WINDOW_S = 1.0
"""The shortest time by which a limit is enforced: 60 a minute may be 1 a second (2:8.2)."""

SPARED_S = WINDOW_S * (1 / SHARE - 1)
"""What `SHARE` spares of a window."""

CAUGHT_UP_S = 0.8 * SPARED_S
"""How late a request may be sent, at most, and still leave the next one its place, in seconds: loops wake late.

As long as it is less than what is spared of a window, no window ever holds more than the limit; the rest is left to
the network.
"""

LATE_S = 0.005
"""How late a request is sent as a rule, on a busy machine; that is caught up for each place of a window."""


class RateLimiter:
    """Admits requests at `SHARE` of `rate` a second (None: as fast as they come), and not before a pause is over.

    Requests are spread evenly, for a limit a minute may be enforced by the second (2:8.2): within any time of
    `WINDOW_S` or more it admits no more than `rate` allows there.
    """

    def __init__(
        self,
        rate: float | None,
        max_wait_s: float,
        clock: Callable[[], float] = time.monotonic,
        *,
        after: RateLimiter | None = None,
    ) -> None:
        """`after` is the limiter whose place it takes: what that one admitted last counts here, too."""
        self._interval = 1.0 / (rate * SHARE) if rate else 0.0
        self._caught_up_s = min(CAUGHT_UP_S, LATE_S * WINDOW_S / self._interval) if self._interval else CAUGHT_UP_S
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._answered: bool = after is not None and after._answered
        self._last: float = after._last if after is not None else -math.inf
        self._paused_until: float = after._paused_until if after is not None else 0.0

    def wait_s(self) -> float:
        """Seconds until the next place in the rate, or until the end of the pause if that is later.

        Raises:
            WaitTooLong: the pause asked for exceeds the budget.
        """
        now = self._clock()
        pause = self._paused_until - now
        if pause > self._max_wait_s:
            raise WaitTooLong(pause, self._max_wait_s)
        return max(0.0, pause, self._last + self._interval - now)

    def take(self, due: float) -> None:
        """Take a place for a request that is sent now; it would have been at `due`, had the loop been on time."""
        # A place is where its turn was, not where its request is sent at last, or each late waking would move all that
        # follow. Time that nobody used is not saved up: a place is no earlier than the request that takes it.
        place = max(due, self._last + self._interval)
        self._last = max(place, self._clock() - self._caught_up_s)

    def answered(self) -> None:
        """Note that an answer has come. To the first request a connection was made: it may have arrived late."""
        if not self._answered and self._last > -math.inf:
            self._answered = True
            self._last = max(self._last, self._clock())

    def pause(self, seconds: float) -> None:
        """Admit nothing for so many seconds from now, not even those who wait already."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    @property
    def interval_s(self) -> float:
        """Seconds from one request to the next."""
        return self._interval

    @property
    def paused_s(self) -> float:
        """Seconds that are left of the pause that was asked for."""
        return max(0.0, self._paused_until - self._clock())
