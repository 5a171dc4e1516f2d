"""A WebSocket connection that counts what no message shows: pings, pongs and pieces of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from websockets.asyncio.client import ClientConnection
from websockets.frames import DATA_OPCODES, Frame, Opcode

if TYPE_CHECKING:
    from websockets.protocol import Event

MAX_FRAMES = 2_000
"""Messages that are heard in one conversation, and frames beside them: of any other kind, or heard by nobody."""

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
        self._is_heard = True
        self.flooded = False

    def stop_listening(self) -> None:
        """Throw away what is said from now on, but read it: the answer to our close comes after it.

        Else the messages that wait for a reader keep the connection from being read, and a close takes all its time.
        """
        self._is_heard = False
        self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Take bytes from the other side, a little at a time and none after the last that may be."""
        view = memoryview(data)
        for start in range(0, len(data), SLICE):
            if self.flooded:
                return
            super().data_received(bytes(view[start : start + SLICE]))

    def process_event(self, event: Event) -> None:
        """Take one frame."""
        if isinstance(event, Frame):
            is_unheard = event.opcode in DATA_OPCODES and not self._is_heard
            if is_unheard or event.opcode not in (Opcode.TEXT, Opcode.BINARY):
                self._left -= 1
            if self._left < 0:
                self.flooded = True
                self.transport.abort()
            if is_unheard or self.flooded:
                return
        super().process_event(event)
