"""Whose request is next where many wait: so many are under way at once, those of whoever began first before others."""

from __future__ import annotations

import asyncio
import heapq
from itertools import count

AT_ONCE = 80
"""Requests of one process that are under way at once on a mock, which no limit holds and no stranger shares."""


class Turns:
    """Shared by all lanes of a run. All methods run in the loop thread.

    Who sends most begins first, and is ready last if each of his requests waits for those of all who came after him.
    """

    def __init__(self, at_once: int | None = None) -> None:
        """As many as are sent may be under way, unless told."""
        self._free = at_once
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._number = count()

    async def take(self, began: float) -> None:
        """Wait until it is the turn of somebody who began then, by any clock; `leave` has to follow."""
        if self._free is None:
            return
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (began, next(self._number), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it came in the same moment
                self.leave()
            raise

    def leave(self) -> None:
        """Give the turn to whoever of those that wait began first."""
        if self._free is None:
            return
        while self._waiting:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
