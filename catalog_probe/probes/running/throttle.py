"""The throttle: keeps requests and tokens of a provider within its limits. Words: docs/concepts.md."""

from __future__ import annotations

import math
import time
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import anyio

from catalog_probe.probes.calls import JsonBody

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.reading.rate_limits import EndpointGroup
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.running.limits import LimitStatus, RateLimitPolicy


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

# How late a request is usually sent on a busy machine: event loops wake late. So much is caught up for each slot of a
# window, by not moving the slots that follow. Example: at 2 slots a window a request may be 0.01 s late.
LATENESS_S = 0.005

# How much is caught up at most: less than the margin of a window, so no window ever holds more than the limit. The rest
# of the margin is left to the network.
CATCH_UP_S = 0.8 * MARGIN_S

# A wait that no clock would notice.
TOO_SHORT_S = 1e-6

MINUTE_S = 60.0

# How long a request counts if its answer stated nothing. Longer than a minute, because a later request may take less
# time to arrive than this one took.
RESERVATION_S = MINUTE_S / SHARE

# How often a waiting request checks whether an answer stated that less was used than was reserved.
POLL_S = 0.1

# Resets are stated in whole seconds.
RESET_ROUNDING_S = 1.0

# By how much the reset that an answer states may be off: the reset and the date beside it are both rounded.
RESET_TOLERANCE_S = 2 * RESET_ROUNDING_S


def find_window_end(end: float, earlier_ends: Iterable[float]) -> float:
    """Return when the window ends whose end an answer states; earlier answers may have stated the same end.

    All answers of a window state its end, rounded up or down. The latest counts, because a request that is sent before
    the end is refused. Example: an end at 60.0, and earlier ends at 59.0, 61.5 and 90.0, the last of another window
    -> 61.5.
    """
    return max(instant for instant in (end, *earlier_ends) if instant <= end + RESET_TOLERANCE_S)


class RateLimiter:
    """Admits requests at `SHARE` of `rate` a second (None: without a limit).

    Requests are spread evenly, because a limit a minute may be enforced by the second (2:8.2). No time span of
    `WINDOW_S` or more holds more requests than `rate` allows in it. Example: at a rate of 2 a second, requests are sent
    0.515 s apart.
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
        slots_in_window = rate * SHARE * WINDOW_S if rate else math.inf
        self._interval = WINDOW_S / slots_in_window
        self._catch_up_s = min(CATCH_UP_S, LATENESS_S * slots_in_window)
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
        # A slot is the moment at which the request was due, not at which it is sent: each late waking would move all
        # slots that follow. Example: due at 1.000, sent at 1.004 -> slot at 1.000. But unused time is not saved up: the
        # slot is at most `_catch_up_s` before its request.
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
    """What an answer states as used, and how it comes back: steadily, as in a bucket, or all at once at `until`."""

    tokens: float
    since: float
    refill_per_s: float
    """0 where all comes back at once."""
    until: float

    def used_at(self, instant: float) -> float:
        """Return what still counts as used at an instant before the end."""
        return self.tokens - (instant - self.since) * self.refill_per_s

    def covers(self, other: Usage, now: float) -> bool:
        """Whether the other usage is never more than this one, from now on."""
        # Between its first and last instant each usage changes evenly, so these two instants show all others.
        return self.until >= other.until and all(
            self.used_at(instant) >= other.used_at(instant) for instant in (now, other.until)
        )


class TokenBudget:
    """Admits requests that cannot exceed the limit of the last minute.

    What an answer states as remaining replaces our reservations: these are upper bounds, and other clients may draw on
    the same limit. What the answer states as used comes back in one of two ways (2:8.2):

    - of a window: all of it, at the reset;
    - of a bucket: steadily, and the reset is as far away as the bucket takes to refill.

    Example: 1,000 a minute, 600 used. A reset in 36 s is that of a bucket, and a reset in 20 s that of a window. The
    reset of a window may be 36 s away by chance, so most answers until now must look like those of a bucket.
    """

    def __init__(self, per_minute: float, max_wait_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._reservations: list[Reservation] = []
        # No usage covers another. Several are kept, because answers overtake one another: the answer that states less
        # may be the older one.
        self._usages: list[Usage] = []
        # Answers whose reset was that of a bucket, minus those whose reset was not.
        self._bucket_score = 0

    def wait_s(self, tokens: int) -> float:
        """Return the seconds until it is worth asking again, or 0 if so many tokens are left.

        Example: 1,000 a minute, 900 used by a window that ends in 20 s. 100 tokens wait 0 s, and 200 wait 20 s. A
        request for more than the whole limit waits until all of the limit is free.

        Raises:
            WaitTooLong: the tokens come back with a reset that is further away than the lane may wait.
        """
        now = self._clock()
        self._reservations = [reservation for reservation in self._reservations if reservation.until > now]
        self._usages = [usage for usage in self._usages if usage.until > now]
        used = max((usage.used_at(now) for usage in self._usages), default=0.0)
        reserved = sum(reservation.tokens for reservation in self._reservations)
        excess = used + reserved + min(tokens, self._per_minute) - self._per_minute
        is_enough_left = excess <= self._per_minute * 1e-9  # not 0: what a bucket got back is a rounded fraction
        if not tokens or is_enough_left:
            return 0.0
        reset_s = max((usage.until - now for usage in self._usages if not usage.refill_per_s), default=0.0)
        if reset_s > self._max_wait_s + RESET_TOLERANCE_S:
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
        is_like_bucket = abs(reset_s - used / refill_per_s) <= RESET_TOLERANCE_S
        self._bucket_score += 1 if is_like_bucket else -1
        if is_like_bucket and self._bucket_score > 0:
            new_usage = Usage(used, now, refill_per_s, now + used / refill_per_s)
        else:
            window_ends = [usage.until for usage in self._usages if not usage.refill_per_s]
            new_usage = Usage(used, now, 0.0, find_window_end(now + reset_s, window_ends))
        if not any(usage.covers(new_usage, now) for usage in self._usages):
            self._usages = [new_usage, *(usage for usage in self._usages if not new_usage.covers(usage, now))]


def mark_answered(reservations: Iterable[Reservation]) -> None:
    """Note that the answer to the request of these reservations came."""
    for reservation in reservations:
        reservation.under_way = False


class LimitScope(NamedTuple):
    """What a limit holds for: endpoints, organization, class of models (2:8).

    The role of a key stands for its organization.
    """

    group: EndpointGroup | None
    role: str
    model: str


class Throttle:
    """Keeps to every known limit of a provider, of requests and of tokens.

    Limits hold for an organization and for all models of a class. So scopes whose answers state the same limit share
    it, and scopes with different limits do not. A scope without an answer yet uses what its group was told last, and
    before that the documented limit. `own_rate` says that the target gives a rate of its own: it replaces the
    documented limits of requests. What answers state is kept to in either case.
    """

    def __init__(
        self,
        policy: RateLimitPolicy,
        max_wait_s: float,
        *,
        own_rate: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self.policy = policy
        self._own_rate = own_rate
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._sleep = sleep
        self._queues: defaultdict[LimitScope, anyio.Lock] = defaultdict(anyio.Lock)
        # Requests a minute that answers stated last: of each scope, and of each group for its scopes without an answer.
        self._per_minute: dict[LimitScope | EndpointGroup, float] = {}
        self._limiters: dict[tuple[EndpointGroup | None, float | None], RateLimiter] = {}
        # Limits of tokens a minute: by scope and header, and the budget of each.
        self._token_limits: dict[LimitScope, dict[str, int]] = {}
        self._token_budgets: dict[tuple[EndpointGroup | None, str, int], TokenBudget] = {}
        # The latest end of the current window that answers stated, by the header that states the limit.
        self._window_ends: dict[tuple[RateLimiter, str], float] = {}
        # The pauses that refusals asked for, by the role of the refused key.
        self._pauses: dict[str, RateLimiter] = {}

    def find_scope(self, call: Call, role: str) -> LimitScope:
        """Return the scope of the limits on which a call with this role's key draws."""
        body = call.body.value if isinstance(call.body, JsonBody) else None
        model = body.get("model") if isinstance(body, dict) else None
        return LimitScope(self.policy.find_group(call.method, call.path), role, model if isinstance(model, str) else "")

    def has_token_limit(self, scope: LimitScope) -> bool:
        """Whether a limit of tokens is known of this scope."""
        return bool(self._token_limits.get(scope))

    async def acquire(self, scope: LimitScope, own: RateLimiter, tokens: int = 0) -> tuple[Reservation, ...]:
        """Wait until each limit, `own` included, allows a request, and count the request.

        Requests of the same scope are admitted in the order in which they came.

        Raises:
            WaitTooLong: a limit allows none for longer than the lane may wait.
        """
        due = self._clock()
        async with self._queues[scope]:
            # Both slots are taken after the wait. If each waiting request took them before, all of these requests would
            # be sent at once at the end of a pause.
            # Limits are looked up again after each sleep, because an answer may have changed them.
            while (wait := self._wait_s(scope, own, tokens)) > TOO_SHORT_S:
                due = self._clock() + wait
                await self._sleep(wait)
            for limiter in (own, self._get_limiter(scope)):
                limiter.take_slot(due)
            return tuple(budget.reserve(tokens) for budget in self._list_budgets(scope) if tokens)

    def pause(self, role: str, seconds: float) -> None:
        """Send nothing with this role's key for so many seconds from now."""
        if role not in self._pauses:
            self._pauses[role] = RateLimiter(None, self._max_wait_s, self._clock)
        self._pauses[role].pause(seconds)

    def requested_pause_s(self, role: str) -> float:
        """Return what is left of the pause that refusals of this key asked for."""
        return self._pauses[role].paused_s if role in self._pauses else 0.0

    @property
    def longest_reset_s(self) -> float:
        """Seconds that are left of the longest pause until the reset of a limit."""
        return max((limiter.paused_s for limiter in list(self._limiters.values())), default=0.0)

    def learn(self, scope: LimitScope, response: Response | None, reservations: Iterable[Reservation] = ()) -> None:
        """Take over what an answer states: limits, what remains, and resets.

        Example: `…-requests-limit: 60` in place of the documented 50 speeds the scope up. `…-requests-remaining: 0`
        with a reset in 30 s pauses it for 30 s.
        """
        mark_answered(reservations)
        self._get_limiter(scope).note_answer()
        statuses = tuple(self.policy.read_limits(response.headers)) if response is not None else ()
        per_minute = min(
            (status.limit for status in statuses if status.counts == "requests" and status.limit), default=None
        )
        if per_minute is not None:
            self._set_rate(scope, per_minute)
        for status in statuses:
            if status.counts == "tokens" and status.limit:
                self._update_token_budget(scope, status, status.limit)
            else:
                reset_s = self._update_reset_s(scope, status)  # whatever remains: each answer shows the window's end
                if status.remaining == 0:
                    self._pause_limiter(scope, reset_s)

    def _set_rate(self, scope: LimitScope, per_minute: int) -> None:
        predecessor = self._get_limiter(scope)
        self._per_minute[scope] = per_minute
        if scope.group is not None:
            self._per_minute[scope.group] = per_minute
        key = (scope.group, per_minute)
        if key not in self._limiters:
            self._limiters[key] = RateLimiter(per_minute / 60, self._max_wait_s, self._clock, predecessor=predecessor)

    def _update_reset_s(self, scope: LimitScope, status: LimitStatus) -> float:
        """Remember the end of the window that an answer states, and return the seconds until then."""
        key, now = (self._get_limiter(scope), status.name), self._clock()
        self._window_ends[key] = find_window_end(now + status.reset_s, [self._window_ends.get(key, 0.0)])
        return self._window_ends[key] - now

    def _pause_limiter(self, scope: LimitScope, reset_s: float) -> None:
        limiter = self._get_limiter(scope)
        # A limit that is enforced by the second has nothing left after each request, and is back when the next one is
        # due. The rate keeps to that already, and a pause would only slow the lane down.
        if not limiter.interval_s or reset_s > limiter.interval_s + RESET_ROUNDING_S:
            limiter.pause(reset_s)

    def _update_token_budget(self, scope: LimitScope, status: LimitStatus, limit: int) -> None:
        self._token_limits.setdefault(scope, {})[status.name] = limit
        key = (scope.group, status.name, limit)
        budget = self._token_budgets.setdefault(key, TokenBudget(limit, self._max_wait_s, self._clock))
        if status.remaining is not None:
            budget.update(status.remaining, status.reset_s)

    def _wait_s(self, scope: LimitScope, own: RateLimiter, tokens: int) -> float:
        pause_s = self._pauses[scope.role].wait_s() if scope.role in self._pauses else 0.0
        token_waits = (budget.wait_s(tokens) for budget in self._list_budgets(scope))
        return max(own.wait_s(), pause_s, self._get_limiter(scope).wait_s(), *token_waits)

    def _get_limiter(self, scope: LimitScope) -> RateLimiter:
        """Return the limiter of requests for a scope; equal limits share one."""
        per_minute = self._per_minute.get(scope)
        if per_minute is None and scope.group is not None:
            documented = None if self._own_rate else scope.group.per_minute
            per_minute = self._per_minute.get(scope.group, documented)
        key = (scope.group, per_minute)
        if key not in self._limiters:
            rate = per_minute / 60 if per_minute is not None else None
            self._limiters[key] = RateLimiter(rate, self._max_wait_s, self._clock)
        return self._limiters[key]

    def _list_budgets(self, scope: LimitScope) -> list[TokenBudget]:
        limits: Mapping[str, int] = self._token_limits.get(scope, {})
        return [self._token_budgets[scope.group, name, limit] for name, limit in limits.items()]
