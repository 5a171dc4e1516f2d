"""Keeps a lane within its rate: a token bucket for what we send, and pauses for what the provider asks."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import anyio


class WaitTooLong(Exception):
    """The provider asked for a longer wait than the lane may spend. Both in seconds."""

    def __init__(self, asked_s: float, allowed_s: float) -> None:
        super().__init__(f"asked to wait {asked_s:.0f} s, the budget is {allowed_s:.0f} s")
        self.asked_s = asked_s


class Pacer:
    """Admits requests at `rate` a second (None: as fast as they come) after any pause that was asked for."""

    def __init__(
        self,
        rate: float | None,
        max_wait_s: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._interval = 1.0 / rate if rate else 0.0
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._sleep = sleep
        self._next = 0.0

    async def turn(self) -> None:
        """Wait for the next place in the rate.

        Raises:
            WaitTooLong: the pause asked for exceeds the budget.
        """
        now = self._clock()
        at = max(now, self._next)
        if at - now > self._max_wait_s:
            raise WaitTooLong(at - now, self._max_wait_s)
        self._next = at + self._interval
        if at > now:
            await self._sleep(at - now)

    def pause(self, seconds: float) -> None:
        """Admit nothing for so many seconds from now."""
        self._next = max(self._next, self._clock() + seconds)


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """What `retry-after` asks for, in seconds, whether it gives seconds or a date; None where it is absent or junk."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(value) - (now or datetime.now(UTC))).total_seconds())
    except (TypeError, ValueError):
        return None
