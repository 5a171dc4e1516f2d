"""The answers to a lane's controls, each sent again only if undecided."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
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

# How often a control is sent at most, while its answer is a transient fault.
MAX_CONTROLS = 3

# Refusals of a control in a row before the refusal counts: one may be an accident.
REFUSED_CONTROLS = 2


@dataclass(slots=True)
class _ControlState:
    """When one control was sent, and its last answer."""

    sent_at: list[float] = field(default_factory=list)
    last: Exchange | None = None
    refusals: int = 0
    """How often in a row it was refused, up to the last answer."""


class ControlCache:
    """Sends the controls of one lane, and keeps the last answer to each."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._states: dict[str, _ControlState] = {}
        self._lock = anyio.Lock()

    async def fetch(
        self, control: Call, send: Callable[[], Awaitable[Exchange]], *, after: float | None = None
    ) -> Exchange:
        """Return the answer to a control; `send` sends it.

        With `after` (a reading of `time.perf_counter`), the control must have been sent later than that.
        """
        state = self._states.setdefault(control.path, _ControlState())
        # All probes of a lane ask at its beginning, and again when they drift. The first of them sends, and the others
        # use its answer: one control serves all drifts before it.
        async with self._lock:
            count = sum(1 for sent_at in state.sent_at if after is None or sent_at >= after)
            while state.last is None or count == 0 or self._needs_another(state, state.last, count):
                sent_at = time.perf_counter()
                answer = await send()
                # Kept as long as the lane, and so no more of it than its proof.
                state.last = trim_exchange(answer, expect_proof(control, self._provider))
                state.sent_at.append(sent_at)
                state.refusals = state.refusals + 1 if self._is_refusal(state.last) else 0
                count += 1
                if after is None and not state.refusals:
                    break
            return state.last

    def _needs_another(self, state: _ControlState, last: Exchange, count: int) -> bool:
        """Whether a control is sent again, after `count` times."""
        if self._is_refusal(last):
            return state.refusals < REFUSED_CONTROLS
        return count < MAX_CONTROLS and self._is_transient(last)

    def _is_refusal(self, answer: Exchange) -> bool:
        return not self._is_transient(answer) and not is_success(http_status_of(answer.response, self._provider))

    def _is_transient(self, answer: Exchange) -> bool:
        """Whether the answer is about the moment and not about the credential."""
        status = http_status_of(answer.response, self._provider)
        return status is None or status in (408, 429) or status >= 500
