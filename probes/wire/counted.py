"""A WebSocket connection that counts what no message shows: pings, pongs and pieces of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from websockets.asyncio.client import ClientConnection
from websockets.frames import Frame, Opcode

if TYPE_CHECKING:
    from websockets.protocol import Event

MAX_FRAMES = 2_000
"""Messages that are heard in one conversation, and frames of any other kind beside them."""

SLICE = 4_096
"""Bytes that are taken apart at once: a frame may be two bytes long, and all are answered before one can count them."""


class Counted(ClientConnection):
    """Breaks the connection at the frame that is one too many.

    The library answers each ping at once, whether or not the other side reads the answers, and puts a message together
    however many empty pieces it comes in: both would grow without bound.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._left = MAX_FRAMES
        self.flooded = False

    def data_received(self, data: bytes) -> None:
        """Take bytes from the other side, a little at a time and none after the last that may be."""
        view = memoryview(data)
        for start in range(0, len(data), SLICE):
            if self.flooded:
                return
            super().data_received(bytes(view[start : start + SLICE]))

    def process_event(self, event: Event) -> None:
        """Take one frame."""
        if isinstance(event, Frame) and (event.opcode not in (Opcode.TEXT, Opcode.BINARY)):
            self._left -= 1
        if self._left < 0:
            self.flooded = True
            self.transport.abort()
            return
        super().process_event(event)
