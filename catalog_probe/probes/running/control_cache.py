"""The last answers to a lane's controls: probes that ask at the same time share one."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import anyio

from catalog_probe.catalog.evidence.retention import trim_exchange
from catalog_probe.catalog.model.exchange import is_success
from catalog_probe.catalog.reading.expectations import http_status_of
from catalog_probe.probes.judging.control import expect_proof

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.probes.calls import Call

# Answers without a meaning for the key (a reset, a 503) after which a control is not sent again.
MAX_LOST_CONTROLS = 3

# Refusals before a refusal counts: one may be an accident.
MAX_REFUSED_CONTROLS = 2


@dataclass(frozen=True, slots=True)
class _ControlAnswer:
    exchange: Exchange
    sent_at: float
    """A reading of `time.perf_counter`."""


class ControlCache:
    """Sends the controls of one lane, and keeps the last answer to each."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._answers: dict[str, _ControlAnswer] = {}
        """Path of a control -> its last answer."""
        self._lock = anyio.Lock()

    async def fetch(
        self, control: Call, send: Callable[[], Awaitable[Exchange]], *, after: float | None = None
    ) -> Exchange:
        """Return the answer to a control; `send` sends it.

        With `after` (a reading of `time.perf_counter`), the control must have been sent later than that.

        Example: fifty probes begin at once. One control is sent, and all fifty use its answer.
        """
        # The first probe that asks sends, and the others wait here for its answer.
        async with self._lock:
            answer = self._answers.get(control.path)
            if answer is None or (after is not None and answer.sent_at < after):
                answer = await self._send_until_decided(control, send)
                self._answers[control.path] = answer
            return answer.exchange

    async def _send_until_decided(self, control: Call, send: Callable[[], Awaitable[Exchange]]) -> _ControlAnswer:
        """Send a control until a success, or until a fault or a refusal was repeated so often that it is no accident.

        Example: a reset, then 200 is a success. 401, then 401 is a refusal. Three resets are the last reset.
        """
        lost = refused = 0
        while True:
            sent_at = time.perf_counter()
            exchange = await send()
            # Kept as long as the lane, and so no more of it than its proof.
            answer = _ControlAnswer(trim_exchange(exchange, expect_proof(control, self._provider)), sent_at)
            status = http_status_of(exchange.response, self._provider)
            if is_success(status):
                return answer
            if _is_about_moment(status):
                lost += 1
            else:
                refused += 1
            if lost == MAX_LOST_CONTROLS or refused == MAX_REFUSED_CONTROLS:
                return answer


def _is_about_moment(status: int | None) -> bool:
    """Whether the answer to a control is about the moment and not about the key: none, 408, 429, 5xx."""
    return status is None or status in (408, 429) or status >= 500
