"""A WebSocket connection that bounds pings, pongs and pieces of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from websockets.asyncio.client import ClientConnection
from websockets.frames import DATA_OPCODES, Frame, Opcode

if TYPE_CHECKING:
    from websockets.protocol import Event

# Messages that are read in one conversation, and all other frames: of another kind, or after we stopped reading.
MAX_FRAMES = 2_000

# Bytes that are parsed at once. A frame may be two bytes long, and the library answers all of them before we can count.
SLICE = 4_096


class CountingConnection(ClientConnection):
    """Breaks the connection at the first frame beyond the limit.

    The library answers each ping at once, whether or not the other side reads the answers, and joins a message out of
    any number of empty pieces. Both would grow without bound.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._frames_left = MAX_FRAMES
        self._is_listening = True
        self.is_flooded = False

    def stop_listening(self) -> None:
        """Throw away messages from now on, but read them.

        The answer to our close comes after them.

        Otherwise messages without a reader would stop the connection from being read, and the close would time out.
        """
        self._is_listening = False
        self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Take bytes from the other side a slice at a time, and none after the limit."""
        view = memoryview(data)
        for start in range(0, len(data), SLICE):
            if self.is_flooded:
                return
            super().data_received(bytes(view[start : start + SLICE]))

    def process_event(self, event: Event) -> None:
        """Take one frame."""
        if isinstance(event, Frame):
            is_discarded = event.opcode in DATA_OPCODES and not self._is_listening
            if is_discarded or event.opcode not in (Opcode.TEXT, Opcode.BINARY):
                self._frames_left -= 1
            if self._frames_left < 0:
                self.is_flooded = True
                self.transport.abort()
            if is_discarded or self.is_flooded:
                return
        super().process_event(event)
