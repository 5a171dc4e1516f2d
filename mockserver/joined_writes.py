"""A connection that sends in one piece what is written in one turn of the loop: an answer's head and its body.

The server writes both apart, and each piece costs a call of the system and wakes the client.
"""

from __future__ import annotations

import re
from email.utils import formatdate
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

CAPITALS_EXTENSION = "mock.capitals"
"""The server puts a function here that spells the header names of an answer With-Capitals."""

DATE_EXTENSION = "mock.date"
"""And one here that dates an answer by the clock of the mock, where that is not the real one."""

_DATE = re.compile(rb"(?<=\r\ndate: )[^\r\n]+")
_NAMES = re.compile(rb"(?<=\r\n)[^:\r\n]+(?=:)")
"""The names of headers in a head."""


class JoinedWrites:
    """A transport around a transport; what is not told here is as there."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held: list[bytes] = []
        self._capitals = False
        self._moment: float | None = None

    def dated(self, moment: float) -> None:
        """Let the next head say that it is this moment, in seconds since the epoch, and not what the server says."""
        self._moment = moment

    def with_capitals(self) -> None:
        """Spell the names of headers With-Capitals in the next head: the server makes them all small."""
        self._capitals = True

    def write(self, data: bytes) -> None:
        """Send it with all else that is written in this turn."""
        if (self._capitals or self._moment is not None) and data.startswith(b"HTTP/"):
            data = self._head(data)
        if not self._held:
            self._loop.call_soon(self._send)
        self._held.append(data)

    def _head(self, data: bytes) -> bytes:
        if self._moment is not None:
            data = _DATE.sub(formatdate(self._moment, usegmt=True).encode("ascii"), data, count=1)
        if self._capitals:
            data = _NAMES.sub(lambda name: name[0].title(), data)
        self._capitals, self._moment = False, None
        return data

    def close(self) -> None:
        """Send what is held, then close."""
        self._send()
        self._transport.close()

    def abort(self) -> None:
        """Send what is held, then break the connection."""
        self._send()
        self._transport.abort()

    def _send(self) -> None:
        if self._held:
            data = b"".join(self._held)
            self._held.clear()
            self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
