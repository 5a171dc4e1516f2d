"""Token buckets and sliding windows on the mock's clock, and charging several buckets at once (2:8.2)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Limit = TypeVar("Limit")


@dataclass(slots=True)
class TokenBucket:
    """A bucket that starts full and refills at `per_minute / 60` a second.

    It holds the tokens of a minute, or `burst`: 60 a minute may be enforced as 1 a second (2:8.2).
    `per_minute` is above 0.
    """

    per_minute: float
    burst: float | None = None
    level: float = field(init=False)
    updated_at: float | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        self.level = self.capacity

    @property
    def capacity(self) -> float:
        """The most tokens that it holds."""
        return float(self.per_minute if self.burst is None else self.burst)

    def refill(self, now: float) -> None:
        """Refill up to `now`; an earlier time than the last adds nothing."""
        if self.updated_at is None:
            self.updated_at = now
        elif now > self.updated_at:
            self.level = min(self.capacity, self.level + (now - self.updated_at) * self.per_minute / 60)
            self.updated_at = now

    def take(self, amount: float, now: float) -> bool:
        """Take `amount` if it is there, and return whether it was."""
        if self.seconds_until(amount, now) > 0:
            return False
        self.charge(amount, now)
        return True

    def charge(self, amount: float, now: float) -> None:
        """Take `amount` even into debt, for use known afterwards; a negative one gives back."""
        self.refill(now)
        self.level = min(self.capacity, self.level - amount)

    def remaining(self, now: float) -> int:
        """Return the whole tokens left."""
        self.refill(now)
        return max(0, math.floor(self.level))

    def seconds_until(self, amount: float, now: float) -> float:
        """Return the seconds until `amount` can be taken.

        A full bucket allows any amount, or a large one could never pass.
        """
        self.refill(now)
        missing = min(amount, self.capacity) - self.level
        return max(0.0, missing * 60 / self.per_minute)

    def full_at(self, now: float) -> float:
        """Return when the bucket will be full again."""
        return now + self.seconds_until(self.capacity, now)


@dataclass(slots=True)
class SlidingWindow:
    """Amounts of the last `window_s` seconds, as one sum for each period, however many requests there were.

    A period begins with its first amount, and leaves the window as a whole when its start does. So an amount may be
    forgotten up to `period_s` too early: the price of bounded memory. `sums` has (start, sum) of each period, in order.
    """

    window_s: float
    period_s: float
    sums: deque[tuple[float, float]] = field(default_factory=deque)

    def add(self, amount: float, now: float) -> None:
        """Add an amount to the current period, or begin one."""
        if self.sums and now - self.period_s < self.sums[-1][0]:
            start, previous = self.sums.pop()
            self.sums.append((start, previous + amount))
        else:
            self.sums.append((now, amount))

    def expire(self, now: float) -> None:
        """Remove periods that are older than the window."""
        while self.sums and self.sums[0][0] <= now - self.window_s:
            self.sums.popleft()

    def total(self, now: float) -> float:
        """Return the sum of the periods that are in the window."""
        self.expire(now)
        return sum(amount for _, amount in self.sums)


@dataclass(frozen=True, slots=True)
class Charge(Generic[Limit]):
    """What a request takes of one limit."""

    limit: Limit
    """What the provider's mock calls the limit, to name it in the refusal; it is only passed through."""
    bucket: TokenBucket
    amount: float


@dataclass(frozen=True, slots=True)
class BlockedCharge(Generic[Limit]):
    """A charge that its bucket cannot take yet, and in how many seconds it can."""

    charge: Charge[Limit]
    wait_s: float


def take_all(charges: Iterable[Charge[Limit]], now: float) -> list[BlockedCharge[Limit]]:
    """Take all charges, or none; return those that cannot be taken, in order.

    Each charge is checked alone, so no two of them may have the same bucket.
    """
    charges = list(charges)
    waits = [(charge, charge.bucket.seconds_until(charge.amount, now)) for charge in charges]
    blocked_charges = [BlockedCharge(charge, wait_s) for charge, wait_s in waits if wait_s > 0]
    if not blocked_charges:
        for charge in charges:
            charge.bucket.charge(charge.amount, now)
    return blocked_charges
