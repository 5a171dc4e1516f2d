"""A rate limiter that spreads requests evenly, and keeps pauses."""

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


# The part of a limit that is used. The margin is for requests that arrive closer together than they were sent.
SHARE = 0.97

# The shortest time by which a limit is enforced: 60 a minute may be 1 a second (2:8.2).
WINDOW_S = 1.0

# What `SHARE` leaves unused of a window.
MARGIN_S = WINDOW_S * (1 / SHARE - 1)

# How late a request may be sent, at most, without moving the slots that follow: event loops wake late. It is less than
# the margin of a window, so no window ever holds more than the limit. The rest of the margin is left to the network.
CATCH_UP_S = 0.8 * MARGIN_S

# How late a request is usually sent on a busy machine. This is caught up for each slot of a window.
LATENESS_S = 0.005


class RateLimiter:
    """Admits requests at `SHARE` of `rate` a second (None: without a limit).

    Requests are spread evenly, because a limit a minute may be enforced by the second (2:8.2). No time span of
    `WINDOW_S` or more holds more requests than `rate` allows in it.
    """

    def __init__(
        self,
        rate: float | None,
        max_wait_s: float,
        clock: Callable[[], float] = time.monotonic,
        *,
        predecessor: RateLimiter | None = None,
    ) -> None:
        """Start a limiter; the last slot and pause of `predecessor` count here."""
        self._interval = 1.0 / (rate * SHARE) if rate else 0.0
        self._catch_up_s = min(CATCH_UP_S, LATENESS_S * WINDOW_S / self._interval) if self._interval else CATCH_UP_S
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._has_answer: bool = predecessor is not None and predecessor._has_answer
        self._last_slot: float = predecessor._last_slot if predecessor is not None else -math.inf
        self._paused_until: float = predecessor._paused_until if predecessor is not None else 0.0

    def wait_s(self) -> float:
        """Return the seconds until the next slot, or until the end of the pause.

        Raises:
            WaitTooLong: the pause asked for exceeds the budget.
        """
        now = self._clock()
        pause = self._paused_until - now
        if pause > self._max_wait_s:
            raise WaitTooLong(pause, self._max_wait_s)
        return max(0.0, pause, self._last_slot + self._interval - now)

    def take_slot(self, due: float) -> None:
        """Take a slot for a request that is sent now, and was due at `due`."""
        # A slot is where the request was due, not where it is sent: otherwise each late waking would move all that
        # follow. Unused time is not saved up: a slot is at most `_catch_up_s` earlier than its request.
        slot = max(due, self._last_slot + self._interval)
        self._last_slot = max(slot, self._clock() - self._catch_up_s)

    def note_answer(self) -> None:
        """Note that an answer came."""
        # The first request waited for its connection, and so may have arrived late: the next one counts from here.
        if not self._has_answer and self._last_slot > -math.inf:
            self._has_answer = True
            self._last_slot = max(self._last_slot, self._clock())

    def pause(self, seconds: float) -> None:
        """Admit nothing for so many seconds, not even requests that wait already."""
        self._paused_until = max(self._paused_until, self._clock() + seconds)

    @property
    def interval_s(self) -> float:
        """Seconds from one request to the next."""
        return self._interval

    @property
    def paused_s(self) -> float:
        """Seconds that are left of the pause."""
        return max(0.0, self._paused_until - self._clock())
