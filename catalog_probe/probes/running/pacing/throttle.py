"""Throttles all lanes of a provider to its documented and stated limits."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import anyio

from catalog_probe.probes.calls.body import JsonBody
from catalog_probe.probes.running.pacing.rate_limiter import RateLimiter
from catalog_probe.probes.running.pacing.token_budget import Reservation, TokenBudget, mark_answered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.reading.rate_limits import EndpointGroup
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.running.pacing.rate_limits import LimitStatus, RateLimitPolicy

# A wait that no clock would notice.
TOO_SHORT_S = 1e-6

# Resets are stated in whole seconds.
ROUNDING_S = 1.0

# By how much answers may disagree about the same reset: each rounds it, and the date beside it.
MAX_DISAGREEMENT_S = 2 * ROUNDING_S


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
        """Wait until each limit, `own` included, has room for a request.

        Requests of the same scope are admitted in the order in which they came.

        Raises:
            WaitTooLong: a limit has no room for longer than the lane may wait.
        """
        due = self._clock()
        async with self._queues[scope]:
            # Slots are taken together, after the wait: slots taken before a pause would all be used at its end.
            # Limits are looked up again after each sleep, because an answer may have changed them.
            while (wait := self._wait_s(scope, own, tokens)) > TOO_SHORT_S:
                due = self._clock() + wait
                await self._sleep(wait)
            for limiter in (own, self._limiter(scope)):
                limiter.take_slot(due)
            return tuple(budget.reserve(tokens) for budget in self._budgets_of(scope) if tokens)

    def pause(self, role: str, seconds: float) -> None:
        """Send nothing with this role's key for so many seconds from now."""
        if role not in self._pauses:
            self._pauses[role] = RateLimiter(None, self._max_wait_s, self._clock)
        self._pauses[role].pause(seconds)

    def requested_pause_s(self, role: str) -> float:
        """Return what is left of the pause that refusals of this key asked for."""
        return self._pauses[role].paused_s if role in self._pauses else 0.0

    @property
    def paused_s(self) -> float:
        """Seconds that are left of the longest pause until the reset of a limit."""
        return max((limiter.paused_s for limiter in list(self._limiters.values())), default=0.0)

    def learn(self, scope: LimitScope, response: Response | None, reservations: Iterable[Reservation] = ()) -> None:
        """Take over what an answer states: limits, what remains, and resets."""
        mark_answered(reservations)
        self._limiter(scope).note_answer()
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
                reset_s = self._seconds_until_reset(scope, status)
                if status.remaining == 0:
                    self._pause_limiter(scope, reset_s)

    def _set_rate(self, scope: LimitScope, per_minute: int) -> None:
        predecessor = self._limiter(scope)
        self._per_minute[scope] = per_minute
        if scope.group is not None:
            self._per_minute[scope.group] = per_minute
        key = (scope.group, per_minute)
        if key not in self._limiters:
            self._limiters[key] = RateLimiter(per_minute / 60, self._max_wait_s, self._clock, predecessor=predecessor)

    def _seconds_until_reset(self, scope: LimitScope, status: LimitStatus) -> float:
        """Return the seconds until the reset.

        Every answer of a window states it, rounded, so the latest one is right.
        """
        key, now = (self._limiter(scope), status.name), self._clock()
        end, previous_end = now + status.reset_s, self._window_ends.get(key, 0.0)
        is_same_window = end <= previous_end <= end + MAX_DISAGREEMENT_S
        self._window_ends[key] = previous_end if is_same_window else end
        return self._window_ends[key] - now

    def _pause_limiter(self, scope: LimitScope, reset_s: float) -> None:
        limiter = self._limiter(scope)
        # A limit that is enforced by the second has nothing left after each request, and is back when the next one is
        # due. The rate keeps to that already, and a pause would only slow the lane down.
        if not limiter.interval_s or reset_s > limiter.interval_s + ROUNDING_S:
            limiter.pause(reset_s)

    def _update_token_budget(self, scope: LimitScope, status: LimitStatus, limit: int) -> None:
        self._token_limits.setdefault(scope, {})[status.name] = limit
        key = (scope.group, status.name, limit)
        budget = self._token_budgets.setdefault(key, TokenBudget(limit, self._max_wait_s, self._clock))
        if status.remaining is not None:
            budget.update(status.remaining, status.reset_s)

    def _wait_s(self, scope: LimitScope, own: RateLimiter, tokens: int) -> float:
        pause_s = self._pauses[scope.role].wait_s() if scope.role in self._pauses else 0.0
        token_waits = (budget.wait_s(tokens) for budget in self._budgets_of(scope))
        return max(own.wait_s(), pause_s, self._limiter(scope).wait_s(), *token_waits)

    def _limiter(self, scope: LimitScope) -> RateLimiter:
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

    def _budgets_of(self, scope: LimitScope) -> list[TokenBudget]:
        limits: Mapping[str, int] = self._token_limits.get(scope, {})
        return [self._token_budgets[scope.group, name, limit] for name, limit in limits.items()]
