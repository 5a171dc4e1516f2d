"""The probes of one lane that are under way: how far each has come, and the moments at which all have come so far."""

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
    ASKED = 1
    """All was asked once, and asked again where that could not wait."""
    JUDGED = 2
    """Nothing more is asked for its own sake."""


class Gathering:
    """Lets a probe wait until every other of its lane has come as far. All methods run in the loop thread.

    A stage is waited for only by those that have come to it, so nobody waits for one that waits for him.
    """

    def __init__(self) -> None:
        self._stages: dict[str, Stage] = {}
        self._waits = {stage: _Wait() for stage in (Stage.ASKED, Stage.JUDGED)}

    def expect(self, addresses: Iterable[str]) -> None:
        """Note that these will be probed: whoever waits, waits for them as well."""
        for address in addresses:
            if address not in self._stages:
                self._stages[address] = Stage.ASKING
                for wait in self._waits.values():
                    wait.one_more()

    async def all_at(self, stage: Stage, address: str | None = None) -> float:
        """Wait until all that are expected have come to a stage, as this one has; says when that was.

        Without an address somebody waits who is none of them. The moment is a reading of `time.perf_counter`, the same
        for all that waited for it.
        """
        if address is not None:
            self._come(stage, address)
        return await self._waits[stage].over()

    def left(self, address: str) -> None:
        """Note that nobody need wait for this one any more."""
        self._come(Stage.JUDGED, address)
        self._stages.pop(address, None)

    def _come(self, stage: Stage, address: str) -> None:
        before = self._stages.get(address, stage)
        for each, wait in self._waits.items():
            if before < each <= stage:
                wait.one_less()
        self._stages[address] = max(before, stage)


class _Wait:
    """Who has not come to a stage yet, by number, and those who wait for them."""

    def __init__(self) -> None:
        self._missing = 0
        self._since = time.perf_counter()
        self._all_here = anyio.Event()
        self._all_here.set()

    def one_more(self) -> None:
        if self._missing == 0:
            self._all_here = anyio.Event()
        self._missing += 1

    def one_less(self) -> None:
        self._missing -= 1
        if self._missing == 0:
            self._since = time.perf_counter()
            self._all_here.set()

    async def over(self) -> float:
        await self._all_here.wait()
        return self._since
