"""Throttles what all lanes send to one provider: to the limits it documents, and to what its answers say of them."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import anyio

from catalog_probe.probes.calls.body import JsonBody
from catalog_probe.probes.running.pacing.rate_limiter import RateLimiter
from catalog_probe.probes.running.pacing.token_budget import Reserved, TokenBudget, answered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.reading.rate_limits import EndpointGroup
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.running.pacing.rate_limits import RateLimitPolicy, Told

TOO_SHORT_S = 1e-6
"""A wait that no clock would notice."""

ROUNDED_S = 1.0
"""Resets are told in whole seconds."""

APART_S = 2 * ROUNDED_S
"""By how much answers may tell one end apart: each rounds the reset, and the date beside it."""


class Drawer(NamedTuple):
    """Who draws on which limits: they hold for a group of endpoints, an organization and a class of models (2:8)."""

    group: EndpointGroup | None
    role: str
    model: str


class Throttle:
    """Keeps to each limit that is known of a provider: one of requests a minute, and those of tokens.

    Two who are told the same limit draw on one, for limits hold for an organization and for all models of a class;
    two who are told different ones do not. Who was told none yet draws on what others of its group were told last, and
    before that on the documented limit. `own_rate`: whether the target gives a rate of its own. Then documented limits
    of requests are left alone, and what answers say is kept to as well.
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
        self._queues: defaultdict[Drawer, anyio.Lock] = defaultdict(anyio.Lock)
        self._per_minute: dict[Drawer | EndpointGroup, float] = {}
        self._limiters: dict[tuple[EndpointGroup | None, float | None], RateLimiter] = {}
        self._metered: dict[Drawer, dict[str, int]] = {}
        self._budgets: dict[tuple[EndpointGroup | None, str, int], TokenBudget] = {}
        self._ends: dict[tuple[RateLimiter, str], float] = {}
        """The latest end that answers told of the last window, by the header that tells the limit."""
        self._asked: dict[str, RateLimiter] = {}
        """By role, what refusals of its key asked to wait."""

    def drawer(self, call: Call, role: str) -> Drawer:
        """Who draws on limits by this call with this role's key."""
        body = call.body.value if isinstance(call.body, JsonBody) else None
        model = body.get("model") if isinstance(body, dict) else None
        return Drawer(self.policy.group_of(call.method, call.path), role, model if isinstance(model, str) else "")

    def meters(self, drawer: Drawer) -> bool:
        """Whether a limit of tokens is known on which it draws."""
        return bool(self._metered.get(drawer))

    async def acquire(self, drawer: Drawer, own: RateLimiter, tokens: int = 0) -> tuple[Reserved, ...]:
        """Wait until each limit has room for a request that may take so many tokens, `own` included.

        Who comes first goes first, among those who draw on the same limits.

        Raises:
            WaitTooLong: one of them will not have for longer than the lane may wait.
        """
        due = self._clock()
        async with self._queues[drawer]:
            # All is taken at once and nothing while one waits: places taken before a pause would all be used at its
            # end. Limits are looked up anew after each sleep, for an answer may have told others meanwhile.
            while (wait := self._wait_s(drawer, own, tokens)) > TOO_SHORT_S:
                due = self._clock() + wait
                await self._sleep(wait)
            return self._taken(drawer, own, tokens, due)

    def pause(self, role: str, seconds: float) -> None:
        """Send nothing with this role's key for so many seconds from now, not even for those who wait already."""
        if role not in self._asked:
            self._asked[role] = RateLimiter(None, self._max_wait_s, self._clock)
        self._asked[role].pause(seconds)

    def asked_s(self, role: str) -> float:
        """Seconds that are left of the pause that refusals of this role's key asked for."""
        return self._asked[role].paused_s if role in self._asked else 0.0

    @property
    def paused_s(self) -> float:
        """Seconds that are left of the longest pause that a limit's reset asked for."""
        return max((each.paused_s for each in list(self._limiters.values())), default=0.0)

    def learn(self, drawer: Drawer, response: Response | None, reserved: Iterable[Reserved] = ()) -> None:
        """Keep to what an answer says: the account's own limits, what is left of them, and their resets."""
        answered(reserved)
        self._limiter(drawer).answered()
        said = tuple(self.policy.told(response.headers)) if response is not None else ()
        per_minute = min((each.limit for each in said if each.counts == "requests" and each.limit), default=None)
        if per_minute is not None:
            self._keep_to(drawer, per_minute)
        for told in said:
            if told.counts == "tokens" and told.limit:
                self._learn_of_tokens(drawer, told, told.limit)
            else:
                left_s = self._until_the_end_s(drawer, told)
                if told.remaining == 0:
                    self._pause(drawer, left_s)

    def _keep_to(self, drawer: Drawer, per_minute: int) -> None:
        before = self._limiter(drawer)
        self._per_minute[drawer] = per_minute
        if drawer.group is not None:
            self._per_minute[drawer.group] = per_minute
        key = (drawer.group, per_minute)
        if key not in self._limiters:
            self._limiters[key] = RateLimiter(per_minute / 60, self._max_wait_s, self._clock, after=before)

    def _until_the_end_s(self, drawer: Drawer, told: Told) -> float:
        """Seconds until the reset that an answer tells: of one window each tells it, rounded, so it is the latest."""
        key, now = (self._limiter(drawer), told.name), self._clock()
        end, before = now + told.reset_s, self._ends.get(key, 0.0)
        self._ends[key] = before if end <= before <= end + APART_S else end
        return self._ends[key] - now

    def _pause(self, drawer: Drawer, reset_s: float) -> None:
        limiter = self._limiter(drawer)
        # Where a limit is enforced by the second, nothing is left after each request, and all of it is back when the
        # next has its place: the rate keeps to that already.
        if not limiter.interval_s or reset_s > limiter.interval_s + ROUNDED_S:
            limiter.pause(reset_s)

    def _learn_of_tokens(self, drawer: Drawer, told: Told, limit: int) -> None:
        self._metered.setdefault(drawer, {})[told.name] = limit
        key = (drawer.group, told.name, limit)
        budget = self._budgets.setdefault(key, TokenBudget(limit, self._max_wait_s, self._clock))
        if told.remaining is not None:
            budget.told(told.remaining, told.reset_s)

    def _taken(self, drawer: Drawer, own: RateLimiter, tokens: int, due: float) -> tuple[Reserved, ...]:
        for limiter in (own, self._limiter(drawer)):
            limiter.take(due)
        return tuple(budget.reserve(tokens) for budget in self._token_budgets(drawer) if tokens)

    def _wait_s(self, drawer: Drawer, own: RateLimiter, tokens: int) -> float:
        asked = self._asked[drawer.role].wait_s() if drawer.role in self._asked else 0.0
        limits = (own.wait_s(), asked, self._limiter(drawer).wait_s())
        return max(*limits, *(each.wait_s(tokens) for each in self._token_budgets(drawer)))

    def _limiter(self, drawer: Drawer) -> RateLimiter:
        per_minute = self._per_minute.get(drawer)
        if per_minute is None and drawer.group is not None:
            documented = None if self._own_rate else drawer.group.per_minute
            per_minute = self._per_minute.get(drawer.group, documented)
        key = (drawer.group, per_minute)
        if key not in self._limiters:
            rate = per_minute / 60 if per_minute is not None else None
            self._limiters[key] = RateLimiter(rate, self._max_wait_s, self._clock)
        return self._limiters[key]

    def _token_budgets(self, drawer: Drawer) -> list[TokenBudget]:
        metered: Mapping[str, int] = self._metered.get(drawer, {})
        return [self._budgets[drawer.group, name, limit] for name, limit in metered.items()]
