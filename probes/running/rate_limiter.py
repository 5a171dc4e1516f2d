"""Keeps requests within a rate: evenly spread, with pauses for what the provider asks."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import anyio


class WaitTooLong(Exception):
    """The provider asked for a longer wait than the lane may spend. Both in seconds."""

    def __init__(self, asked_s: float, allowed_s: float) -> None:
        super().__init__(f"asked to wait {asked_s:.0f} s, the budget is {allowed_s:.0f} s")


TOO_SHORT_S = 1e-6
"""A wait that no clock would notice."""

CAUGHT_UP = 0.02
"""How much sooner than its interval a request may follow another that was sent late: loops wake late, never early."""


class RateLimiter:
    """Admits requests at `rate` a second (None: as fast as they come) and not before any pause that was asked for.

    Requests are spread evenly, for a limit a minute may be enforced as its sixtieth a second (2:8.2).
    """

    def __init__(
        self,
        rate: float | None,
        max_wait_s: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._interval = _interval(rate)
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0
        self._paused_until = 0.0
        self._queue = anyio.Lock()

    async def acquire(self) -> None:
        """Wait for the next place in the rate; whoever comes first goes first.

        Raises:
            WaitTooLong: the pause asked for exceeds the budget.
        """
        async with self._queue:
            # Looked at anew after each sleep: a pause may have been asked for while this one waited.
            late_s = 0.0
            while (wait := self._wait_s()) > TOO_SHORT_S:
                due = self._clock() + wait
                await self._sleep(wait)
                late_s = self._clock() - due
            # From now and not from the last place, for time that nobody used is not saved up for a burst: but for a
            # little of what was lost by waking late.
            caught_up = min(max(late_s, 0.0), self._interval * CAUGHT_UP)
            self._next = self._clock() + self._interval - caught_up

    def pause(self, seconds: float) -> None:
        """Admit nothing for so many seconds from now, not even those who wait already."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    @property
    def paused_s(self) -> float:
        """Seconds that are left of the pause that was asked for."""
        return max(0.0, self._paused_until - self._clock())

    def set_rate(self, rate: float | None) -> None:
        """Admit from now on at this rate."""
        self._interval = _interval(rate)

    def _wait_s(self) -> float:
        now = self._clock()
        pause = self._paused_until - now
        if pause > self._max_wait_s:
            raise WaitTooLong(pause, self._max_wait_s)
        return max(pause, self._next - now)


def _interval(rate: float | None) -> float:
    return 1.0 / rate if rate else 0.0
