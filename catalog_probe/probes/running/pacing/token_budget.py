"""Keeps requests within a limit of tokens a minute: by what each may take, and by what answers say was taken."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.probes.running.pacing.rate_limiter import SHARE, WaitTooLong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MINUTE_S = 60.0

COUNTED_S = MINUTE_S / SHARE
"""How long a request counts whose answer told nothing: a later one may take less time to arrive than it took."""

NEWS_S = 0.1
"""How often somebody who waits for room looks whether an answer has said that less was taken than might have been."""

ROUNDED_S = 2.0
"""By how much a reset may be off that an answer tells: it rounds it, and the date beside it, to whole seconds."""


@dataclass(slots=True, eq=False)
class Reserved:
    """What one request may take at most: it counts for a minute, or until an answer says how much is left."""

    tokens: float
    until: float
    under_way: bool = True


@dataclass(frozen=True, slots=True)
class Used:
    """What an answer says was used, and how it comes back: so much a second, maybe nothing, and all at one moment."""

    tokens: float
    since: float
    back_a_second: float
    until: float

    def at(self, then: float) -> float:
        """What is left of it, until it ends."""
        return self.tokens - (then - self.since) * self.back_a_second

    def covers(self, other: Used, now: float) -> bool:
        """Whether at no moment from now on the other is more."""
        return self.until >= other.until and all(self.at(then) >= other.at(then) for then in (now, other.until))


class TokenBudget:
    """Admits requests while all of the last minute together may have taken no more than the limit.

    An answer that tells how much is left is believed over our own bounds: they are upper ones, and others may draw on
    the same budget. What it says was used comes back at the reset, or evenly until then where the reset is as far away
    as a bucket takes to fill again (2:8.2), in this answer and in most: who counts by the minute may say so by chance.
    """

    def __init__(self, per_minute: float, max_wait_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._reserved: list[Reserved] = []
        self._used: list[Used] = []
        """None of them covers another. Answers overtake one another: one that says less may be older."""
        self._as_a_bucket = 0
        """How many more answers told a reset as a bucket would than did not."""

    def wait_s(self, tokens: int) -> float:
        """Seconds until it is worth looking again; 0 where there is room. What exceeds the limit waits for all of it.

        Raises:
            WaitTooLong: there is none before a reset that is further away than the lane may wait.
        """
        now = self._clock()
        self._reserved = [each for each in self._reserved if each.until > now]
        self._used = [each for each in self._used if each.until > now]
        used = max((each.at(now) for each in self._used), default=0.0)
        excess = used + sum(each.tokens for each in self._reserved) + min(tokens, self._per_minute) - self._per_minute
        if not tokens or excess <= self._per_minute * 1e-9:
            return 0.0
        asked_s = max((each.until - now for each in self._used if not each.back_a_second), default=0.0)
        if asked_s > self._max_wait_s + ROUNDED_S:
            raise WaitTooLong(asked_s, self._max_wait_s)
        waits = [*(each.until - now for each in self._reserved), *(each.until - now for each in self._used)]
        waits += [excess / each.back_a_second for each in self._used if each.back_a_second]
        if any(each.under_way for each in self._reserved):
            waits.append(NEWS_S)
        return min(waits)

    def reserve(self, tokens: int) -> Reserved:
        """Set aside what a request may take that is sent now."""
        reserved = Reserved(min(tokens, self._per_minute), self._clock() + COUNTED_S)
        self._reserved.append(reserved)
        return reserved

    def told(self, remaining: int, reset_s: float) -> None:
        """Believe an answer: so much is left, and all of it again in so many seconds.

        It counts whatever was answered so far; what is under way it may count or not, and so that counts here still.
        """
        self._reserved = [each for each in self._reserved if each.under_way]
        now, tokens, evenly = self._clock(), max(0.0, self._per_minute - remaining), self._per_minute / MINUTE_S
        # Of one window each answer tells the end, rounded up or down: it is the latest of them.
        ends = [each.until for each in self._used if not each.back_a_second]
        used = Used(tokens, now, 0.0, max(each for each in [now + reset_s, *ends] if each <= now + reset_s + ROUNDED_S))
        as_a_bucket = abs(reset_s - tokens / evenly) <= ROUNDED_S
        self._as_a_bucket += 1 if as_a_bucket else -1
        if as_a_bucket and self._as_a_bucket > 0:
            used = Used(tokens, now, evenly, now + tokens / evenly)
        if not any(each.covers(used, now) for each in self._used):
            self._used = [used, *(each for each in self._used if not used.covers(each, now))]


def answered(reserved: Iterable[Reserved]) -> None:
    """Note that the answer to a request has come."""
    for each in reserved:
        each.under_way = False
