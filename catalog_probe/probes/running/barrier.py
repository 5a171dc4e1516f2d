"""A barrier in stages, at which the probes of one lane wait for each other."""

from __future__ import annotations

import time
from enum import IntEnum
from typing import TYPE_CHECKING

import anyio

if TYPE_CHECKING:
    from collections.abc import Iterable


class Stage(IntEnum):
    """How far a probe has come."""

    ASKING = 0
    ASKED = 1  # everything was asked once, and again where that could not wait
    JUDGED = 2  # the probe sends nothing more of its own


class Barrier:
    """Lets a probe wait until all others of its lane have reached a stage.

    All methods run in the loop thread.

    Only a probe that has reached a stage waits for it, so no two probes wait for each other.
    """

    def __init__(self) -> None:
        self._stages: dict[str, Stage] = {}
        self._latches = {stage: _Latch() for stage in (Stage.ASKED, Stage.JUDGED)}

    def register(self, addresses: Iterable[str]) -> None:
        """Register probes that the barrier waits for."""
        for address in addresses:
            if address not in self._stages:
                self._stages[address] = Stage.ASKING
                for latch in self._latches.values():
                    latch.count_up()

    async def wait_for(self, stage: Stage, address: str | None = None) -> float:
        """Wait until all registered probes have reached a stage, as this one has.

        Without an address, the caller is none of the probes. Returns the moment at which the last one arrived, a
        reading of `time.perf_counter`; it is the same for all that waited.
        """
        if address is not None:
            self._advance(address, stage)
        return await self._latches[stage].wait()

    def leave(self, address: str) -> None:
        """Stop waiting for a probe: it has ended."""
        self._advance(address, Stage.JUDGED)
        self._stages.pop(address, None)

    def _advance(self, address: str, stage: Stage) -> None:
        before = self._stages.get(address, stage)
        for latch_stage, latch in self._latches.items():
            if before < latch_stage <= stage:
                latch.count_down()
        self._stages[address] = max(before, stage)


class _Latch:
    """Counts the probes that have not reached a stage, and opens at zero."""

    def __init__(self) -> None:
        self._missing = 0
        self._opened_at = time.perf_counter()
        self._open = anyio.Event()
        self._open.set()

    def count_up(self) -> None:
        if self._missing == 0:
            self._open = anyio.Event()
        self._missing += 1

    def count_down(self) -> None:
        self._missing -= 1
        if self._missing == 0:
            self._opened_at = time.perf_counter()
            self._open.set()

    async def wait(self) -> float:
        await self._open.wait()
        return self._opened_at
