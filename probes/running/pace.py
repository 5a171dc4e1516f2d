"""The pace towards one provider, shared by its lanes: what its record documents, and what its answers say."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio

from catalog.reading.rate_limits import EndpointGroup
from probes.running.pacer import Pacer
from probes.running.rate_limits import RateLimitPolicy

if TYPE_CHECKING:
    from catalog.model import Response

SHARE = 0.95
"""How much of a limit is used: a request may arrive a little sooner after another than it was sent."""


class Pace:
    """Spreads requests over each endpoint group's limit. `paced`: whether the target gives a rate of its own.

    Then the documented limits are left alone, and only what answers say is kept to.
    """

    def __init__(
        self,
        policy: RateLimitPolicy,
        max_wait_s: float,
        *,
        paced: bool = False,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self.policy = policy
        self._paced = paced
        self._max_wait_s = max_wait_s
        self._clock = clock
        self._sleep = sleep
        self._pacers: dict[EndpointGroup | None, Pacer] = {}

    async def turn(self, method: str, path: str) -> None:
        """Wait until the limit of this request's group has room.

        Raises:
            WaitTooLong: it will not have for longer than the lane may wait.
        """
        await self._pacer(self.policy.group_of(method, path)).turn()

    def learn(self, method: str, path: str, response: Response) -> None:
        """Keep to what an answer says: the account's own limit, and its reset once nothing is left."""
        pacer = self._pacer(self.policy.group_of(method, path))
        told = self.policy.requests_per_minute(response.headers)
        if told and not self._paced:
            pacer.keep_to(told / 60 * SHARE)
        used_up = self.policy.used_up_s(response.headers)
        if used_up:
            pacer.pause(used_up)

    def _pacer(self, group: EndpointGroup | None) -> Pacer:
        if group not in self._pacers:
            rate = group.per_minute / 60 * SHARE if group is not None and not self._paced else None
            self._pacers[group] = Pacer(rate, self._max_wait_s, self._clock, self._sleep)
        return self._pacers[group]
