"""Limits: a row for each, the bucket that counts its use, and charging several of them at once (2:8.2).

A provider's `limits.py` has two tables: a `Limit` for each thing that is counted, and the numbers of each tier, model
or key, whose columns are the names of the limits. `Session.open_meters` reads both: a meter is a limit, its number, and
the bucket of those who share it. `charge_all` takes what a request uses from all of its meters, or from none.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalog_probe.mockserver.core.errors import ErrorRow


@dataclass(slots=True)
class TokenBucket:
    """A bucket that starts full and refills at `per_minute / 60` a second.

    The bucket holds the tokens of a minute, or `burst`: 60 a minute may be enforced as 1 a second (2:8.2).
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
        """The most tokens that the bucket holds."""
        return float(self.per_minute if self.burst is None else self.burst)

    def refill(self, now: float) -> None:
        """Refill up to `now`; a time before the last refill adds nothing."""
        if self.updated_at is None:
            self.updated_at = now
        elif now > self.updated_at:
            self.level = min(self.capacity, self.level + (now - self.updated_at) * self.per_minute / 60)
            self.updated_at = now

    def take(self, amount: float, now: float) -> bool:
        """Take `amount` if the bucket has that much, and return whether it had."""
        if self.seconds_until(amount, now) > 0:
            return False
        self.charge(amount, now)
        return True

    def charge(self, amount: float, now: float) -> None:
        """Take `amount` even into debt, for use known afterwards; a negative amount is given back."""
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
class Limit:
    """A row of a provider's table of limits: how much of one unit a window admits.

    Args:
        name: the column of the numbers that has its number, e.g. `tokens_per_minute`.
        unit: which amount of a request it counts, e.g. `tokens`.
        row: the error of a request beyond it.
        section: the section of the documents.
        window_s: the seconds in which its number may be used.
        header: the family of headers that show it, e.g. `tokens` of `x-ratelimit-limit-tokens`; "" if none does.
    """

    name: str
    unit: str
    row: ErrorRow
    section: str
    window_s: float = 60
    header: str = ""


Row = TypeVar("Row", bound=Limit)


@dataclass(frozen=True, slots=True)
class Meter(Generic[Row]):
    """A limit of somebody: its row, its number, and the bucket of those who share it."""

    limit: Row
    number: float
    bucket: TokenBucket


@dataclass(frozen=True, slots=True)
class Excess(Generic[Row]):
    """A meter that cannot admit a request yet, and in how many seconds it can."""

    meter: Meter[Row]
    wait_s: float


def find_excesses(meters: Iterable[Meter[Row]], amounts: Mapping[str, float], now: float) -> list[Excess[Row]]:
    """Return the meters that cannot admit the amount of their unit, in order; charge none."""
    waits = [(meter, meter.bucket.seconds_until(amounts[meter.limit.unit], now)) for meter in meters]
    return [Excess(meter, wait_s) for meter, wait_s in waits if wait_s > 0]


def charge_all(meters: Sequence[Meter[Row]], amounts: Mapping[str, float], now: float) -> list[Excess[Row]]:
    """Charge each meter the amount of its unit, or none of them; return the meters that cannot admit it, in order.

    Example: 2 requests are left, but only 10 of the 11 tokens that a request takes. The result has the meter of tokens,
    and both meters stay as they were. No two meters may share a bucket, because each is checked alone.
    """
    excesses = find_excesses(meters, amounts, now)
    if not excesses:
        charge_in_debt(meters, amounts, now)
    return excesses


def charge_in_debt(meters: Iterable[Meter[Any]], amounts: Mapping[str, float], now: float) -> None:
    """Charge each meter the amount of its unit, which is known only now that it has been used."""
    for meter in meters:
        meter.bucket.charge(amounts[meter.limit.unit], now)
