"""How much of what was read may wait to be judged at once: one attempt after the other where answers are large."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio

from catalog.evidence.retention import in_short
from catalog.model.json_tree import weight

if TYPE_CHECKING:
    from catalog.model import Exchange

MOST = 5_000_000
"""Bytes, about, of answers that are held before whoever holds them is waited for."""

LARGE = 100_000
"""Bytes; smaller answers are not counted."""

FIRST = 16
"""Answers from which it is learnt how large they are here."""

GUESSED = 2_000_000
"""Bytes that one of the first may have."""


class Room:
    """Shared by all lanes of a run. All methods run in the loop thread.

    Who has held something longest never waits, so that there is always one that ends and makes room.
    """

    def __init__(self) -> None:
        self._held: dict[object, int] = {}
        self._largest = 0
        """Bytes of the largest answer so far: so much may come in answer to any request that is under way."""
        self._seen = 0
        self._freed = anyio.Event()

    async def wait(self, holder: object) -> int:
        """Wait until there is room for another answer, and keep it; says how much."""
        while sum(self._held.values()) > MOST and next(iter(self._held)) is not holder:
            await self._freed.wait()
        kept = self._largest or (GUESSED if self._seen < FIRST else 0)
        self._held[holder] = self._held.get(holder, 0) + kept
        return kept

    def hold(self, holder: object, exchange: Exchange, kept: int) -> Exchange:
        """Count an answer, for which so much room was kept, until its holder leaves.

        Whoever holds MOST by himself gets what comes beyond that with its long texts in short: an attempt is judged
        whole, however many answers it is made of.
        """
        self._seen += 1
        size = _size(exchange)
        self._largest = max(self._largest, size)
        held = self._held.get(holder, 0) - kept
        if size and held + size > MOST:
            exchange = in_short(exchange)
            size = _size(exchange)
        self._held[holder] = held + size
        if kept:
            self._wake()
        return exchange

    def leave(self, holder: object) -> None:
        """Count nothing of this holder any more."""
        if self._held.pop(holder, 0):
            self._wake()

    def _wake(self) -> None:
        self._freed.set()
        self._freed = anyio.Event()


def _size(exchange: Exchange) -> int:
    """About how many bytes an answer takes; 0 where it is not worth counting."""
    response = exchange.response
    if response is None:
        return 0
    size = weight(response.body) + sum(weight(event.data) + weight(event.event) for event in response.events or ())
    return size if size > LARGE else 0
