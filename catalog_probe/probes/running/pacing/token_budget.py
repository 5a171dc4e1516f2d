"""A limit of tokens a minute, by reservations and by what answers state."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.probes.running.pacing.rate_limiter import SHARE, WaitTooLong

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MINUTE_S = 60.0

# How long a request counts if its answer stated nothing. Longer than a minute, because a later request may take less
# time to arrive than this one took.
RESERVATION_S = MINUTE_S / SHARE

# How often a waiting request checks whether an answer stated that less was used than was reserved.
POLL_S = 0.1

# By how much the reset that an answer states may be off: it and the date beside it are rounded to whole seconds.
ROUNDING_S = 2.0


@dataclass(slots=True, eq=False)
class Reservation:
    """What one request may take at most.

    It counts for a minute, or until an answer states what remains.
    """

    tokens: float
    until: float
    under_way: bool = True


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer states as used, and how it comes back.

    Steadily, as in a bucket, or all at once at `until`.
    """

    tokens: float
    since: float
    refill_per_s: float
    """0 where all comes back at once."""
    until: float

    def at(self, instant: float) -> float:
        """Return what still counts as used at an instant before the end."""
        return self.tokens - (instant - self.since) * self.refill_per_s

    def covers(self, other: Usage, now: float) -> bool:
        """Whether the other is never more than this one, from now on."""
        return self.until >= other.until and all(
            self.at(instant) >= other.at(instant) for instant in (now, other.until)
        )


class TokenBudget:
    """Admits requests that cannot exceed the limit of the last minute.

    What an answer states as remaining replaces our reservations: these are upper bounds, and others may draw on the
    same limit. What it states as used comes back at the reset. It comes back steadily instead if the reset is as far
    away as a bucket takes to refill (2:8.2), in this answer and in most: a window may look like that by chance.
    """

    def __init__(self, per_minute: float, max_wait_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._reservations: list[Reservation] = []
        # None of them covers another. Several are kept, because answers overtake one another: the one that states
        # less may be the older one.
        self._usages: list[Usage] = []
        # Answers whose reset was that of a bucket, minus those whose reset was not.
        self._bucket_score = 0

    def wait_s(self, tokens: int) -> float:
        """Return the seconds until it is worth asking again, or 0 if there is room.

        A request that exceeds the whole limit waits until all of the limit is free.

        Raises:
            WaitTooLong: there is no room before a reset that is further away than the lane may wait.
        """
        now = self._clock()
        self._reservations = [reservation for reservation in self._reservations if reservation.until > now]
        self._usages = [usage for usage in self._usages if usage.until > now]
        used = max((usage.at(now) for usage in self._usages), default=0.0)
        reserved = sum(reservation.tokens for reservation in self._reservations)
        excess = used + reserved + min(tokens, self._per_minute) - self._per_minute
        if not tokens or excess <= self._per_minute * 1e-9:
            return 0.0
        reset_s = max((usage.until - now for usage in self._usages if not usage.refill_per_s), default=0.0)
        if reset_s > self._max_wait_s + ROUNDING_S:
            raise WaitTooLong(reset_s, self._max_wait_s)
        ends = [*(reservation.until for reservation in self._reservations), *(usage.until for usage in self._usages)]
        waits = [end - now for end in ends]
        waits += [excess / usage.refill_per_s for usage in self._usages if usage.refill_per_s]
        if any(reservation.under_way for reservation in self._reservations):
            waits.append(POLL_S)
        return min(waits)

    def reserve(self, tokens: int) -> Reservation:
        """Reserve what a request that is sent now may take."""
        reservation = Reservation(min(tokens, self._per_minute), self._clock() + RESERVATION_S)
        self._reservations.append(reservation)
        return reservation

    def update(self, remaining: int, reset_s: float) -> None:
        """Take over what an answer states as remaining, and the reset."""
        # The answer counts every request that was answered so far. It may or may not count those under way, so their
        # reservations stay.
        self._reservations = [reservation for reservation in self._reservations if reservation.under_way]
        now = self._clock()
        used = max(0.0, self._per_minute - remaining)
        refill_per_s = self._per_minute / MINUTE_S
        is_like_bucket = abs(reset_s - used / refill_per_s) <= ROUNDING_S
        self._bucket_score += 1 if is_like_bucket else -1
        if is_like_bucket and self._bucket_score > 0:
            new_usage = Usage(used, now, refill_per_s, now + used / refill_per_s)
        else:
            new_usage = Usage(used, now, 0.0, self._latest_end(now + reset_s))
        if not any(usage.covers(new_usage, now) for usage in self._usages):
            self._usages = [new_usage, *(usage for usage in self._usages if not new_usage.covers(usage, now))]

    def _latest_end(self, end: float) -> float:
        """Return the end of a window, which is the latest one stated.

        Each answer rounds it up or down.
        """
        ends = [usage.until for usage in self._usages if not usage.refill_per_s]
        return max(instant for instant in [end, *ends] if instant <= end + ROUNDING_S)


def mark_answered(reservations: Iterable[Reservation]) -> None:
    """Note that the answer to the request of these reservations came."""
    for reservation in reservations:
        reservation.under_way = False
