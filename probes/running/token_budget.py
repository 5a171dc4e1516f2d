"""Keeps requests within a limit of tokens a minute: by what each may take, and by what answers say was taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from probes.running.rate_limiter import SHARE

MINUTE_S = 60.0

NEWS_S = 0.1
"""How often somebody who waits for room looks whether an answer has said that less was taken than might have been."""

ROUNDED_S = 2.0
"""By how much a reset may be off that an answer tells: it rounds it, and the date beside it, to whole seconds."""


@dataclass(slots=True, eq=False)
class Reserved:
    """What one request may take at most. It counts for a minute, or until an answer says how much is left."""

    tokens: float
    until: float
    under_way: bool = True


class TokenBudget:
    """Admits requests while all of the last minute together may have taken no more than `SHARE` of the limit.

    An answer that tells how much is left is believed over our own bounds: they are upper ones, and others may draw on
    the same budget. What it says was used comes back at the reset, or evenly until then where the reset is as far away
    as a bucket takes to fill again (2:8.2).
    """

    def __init__(self, per_minute: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._capacity = per_minute * SHARE
        self._clock = clock
        self._reserved: list[Reserved] = []
        self._used = 0.0
        self._told_at = 0.0
        self._whole_at = 0.0
        self._evenly = False

    def wait_s(self, tokens: int) -> float:
        """Seconds until it is worth looking again; 0 where there is room. What exceeds the limit waits for all."""
        now = self._clock()
        self._reserved = [each for each in self._reserved if each.until > now]
        used = self._used_at(now)
        excess = used + sum(each.tokens for each in self._reserved) + min(tokens, self._capacity) - self._capacity
        if not tokens or excess <= self._capacity * 1e-9:
            return 0.0
        waits = [each.until - now for each in self._reserved]
        if used:
            back_s = self._whole_at - now
            waits.append(min(back_s, back_s * excess / used) if self._evenly else back_s)
        if any(each.under_way for each in self._reserved):
            waits.append(NEWS_S)
        return min(waits)

    def reserve(self, tokens: int) -> Reserved:
        """Set aside what a request may take that is sent now."""
        reserved = Reserved(min(tokens, self._capacity), self._clock() + MINUTE_S)
        self._reserved.append(reserved)
        return reserved

    def told(self, remaining: int, reset_s: float) -> None:
        """Believe an answer: so much is left, and all of it again in so many seconds.

        It counts whatever was answered so far; what is under way it may count or not, and so that counts here still.
        """
        self._reserved = [each for each in self._reserved if each.under_way]
        self._used = max(0.0, self._per_minute - remaining)
        self._told_at = self._clock()
        self._whole_at = self._told_at + reset_s
        self._evenly = abs(reset_s - self._used * MINUTE_S / self._per_minute) <= ROUNDED_S

    def _used_at(self, now: float) -> float:
        """What is left of what the last answer said was used."""
        if now >= self._whole_at:
            return 0.0
        left = (self._whole_at - now) / (self._whole_at - self._told_at) if self._evenly else 1.0
        return self._used * left


def answered(reserved: Iterable[Reserved]) -> None:
    """Note that the answer to a request has come."""
    for each in reserved:
        each.under_way = False
