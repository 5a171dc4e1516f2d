"""Throttles what all lanes send to one provider: to the limits it documents, and to what its answers say of them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio

from probes.running.rate_limiter import RateLimiter

if TYPE_CHECKING:
    from catalog.model import Response
    from catalog.reading.rate_limits import EndpointGroup
    from probes.running.rate_limits import RateLimitPolicy

SHARE = 0.97
"""How much of a limit is used: what is caught up (`rate_limiter.CAUGHT_UP`) stays within it, and a little is spared for
a request that arrives sooner after another than it was sent."""


class Throttle:
    """A rate limiter for each endpoint group. `own_rate`: whether the target gives a rate of its own.

    Then the documented limits are left alone, and only what answers say is kept to.
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
        self._limiters: dict[EndpointGroup | None, RateLimiter] = {}

    async def acquire(self, method: str, path: str) -> None:
        """Wait until the limit of this request's group has room.

        Raises:
            WaitTooLong: it will not have for longer than the lane may wait.
        """
        await self._limiter(self.policy.group_of(method, path)).acquire()

    @property
    def paused_s(self) -> float:
        """Seconds that are left of the longest pause that a limit's reset asked for."""
        return max((each.paused_s for each in list(self._limiters.values())), default=0.0)

    def learn(self, method: str, path: str, response: Response) -> None:
        """Keep to what an answer says: the account's own limit, and its reset once nothing is left."""
        limiter = self._limiter(self.policy.group_of(method, path))
        told = self.policy.requests_per_minute(response.headers)
        if told and not self._own_rate:
            limiter.set_rate(told / 60 * SHARE)
        used_up = self.policy.used_up_s(response.headers)
        if used_up:
            limiter.pause(used_up)

    def _limiter(self, group: EndpointGroup | None) -> RateLimiter:
        if group not in self._limiters:
            rate = group.per_minute / 60 * SHARE if group is not None and not self._own_rate else None
            self._limiters[group] = RateLimiter(rate, self._max_wait_s, self._clock, self._sleep)
        return self._limiters[group]
