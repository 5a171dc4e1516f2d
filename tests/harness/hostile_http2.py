"""Servers that write HTTP/2 frames by hand: endless ones, and broken gRPC calls (RFC 9113)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

from hpack import Decoder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.harness.hostile import Misbehaviour, Peer

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 0x0, 0x1, 0x3, 0x4, 0x6, 0x7, 0x9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
PREFACE = 24
"""Bytes that a client sends before its first frame (3.4)."""
CANCELLED = 8
ENHANCE_YOUR_CALM = 11
OK = b"\x88"
"""The header `:status: 200`, compressed (RFC 7541, appendix A)."""


def frame(kind: int, payload: bytes = b"", *, stream: int = 0, flags: int = 0) -> bytes:
    """Encode a frame (4.1)."""
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def repeat_frames(again: bytes, first: bytes = b"") -> Misbehaviour:
    """Wait for a call, then send `first` once and `again` without end.

    Without the wait, it would depend on the client's speed whether there is a call that the frames can break.
    """

    async def misbehave(peer: Peer) -> None:
        await peer.send(frame(SETTINGS), frame(SETTINGS, flags=ACK))
        await peer.reader.readexactly(PREFACE)
        while (await _read_frame(peer)).kind != HEADERS:
            pass
        await peer.send(first)
        while True:
            await peer.send(again * 500)

    return misbehave


def send_goaways(words: bytes) -> Misbehaviour:
    """Send 200 GOAWAY frames with ENHANCE_YOUR_CALM and these words."""

    async def misbehave(peer: Peer) -> None:
        goaway = frame(GOAWAY, struct.pack("!II", 0, ENHANCE_YOUR_CALM) + words)
        await peer.send(frame(SETTINGS), frame(SETTINGS, flags=1), goaway * 200)
        await peer.hang()

    return misbehave


repeat_goaway = repeat_frames(frame(GOAWAY, struct.pack("!II", 1, 0)))
repeat_settings = repeat_frames(frame(SETTINGS))
repeat_pings = repeat_frames(frame(PING, b"8 bytes."))
repeat_continuations = repeat_frames(frame(CONTINUATION, b"\x00\x01a\x01b", stream=1), frame(HEADERS, OK, stream=1))
"""Headers of one answer without end."""


def field(name: str, value: str) -> bytes:
    """Encode a literal header (RFC 7541, 6.2.2)."""
    return b"\0" + b"".join(bytes([len(text)]) + text for text in (name.encode(), value.encode()))


GRPC = OK + field("content-type", "application/grpc")
NO_MESSAGE = bytes(5)
"""An empty message, not compressed."""


Answer = tuple[int, bytes, int]
"""A frame of an answer: its kind, payload and flags."""

GREEN_CALL: tuple[Answer, ...] = (
    (HEADERS, GRPC, END_HEADERS),
    (DATA, NO_MESSAGE, 0),
    (HEADERS, field("grpc-status", "0"), END_HEADERS | END_STREAM),
)


def trailers(*fields: tuple[str, str]) -> bytes:
    """Encode the header block that ends a call at once."""
    return GRPC + b"".join(field(name, value) for name, value in fields)


def answer_calls(*answer: Answer, green: Sequence[Answer] = GREEN_CALL) -> Misbehaviour:
    """Answer controls rightly with the frames `green`, and any other request with `answer`."""

    async def misbehave(peer: Peer) -> None:
        decoder = Decoder()
        await peer.send(frame(SETTINGS), frame(SETTINGS, flags=ACK))
        await peer.reader.readexactly(PREFACE)
        while True:
            received = await _read_frame(peer)
            if received.kind == PING and not received.flags & ACK:
                await peer.send(frame(PING, received.payload, flags=ACK))
            if received.kind == HEADERS:
                is_control = any(value.endswith(b"/control") for _, value in decoder.decode(received.payload, raw=True))
                for kind, payload, flags in green if is_control else answer:
                    stream = 0 if kind == GOAWAY else received.stream
                    await peer.send(frame(kind, payload, stream=stream, flags=flags))

    return misbehave


class _Frame(NamedTuple):
    kind: int
    flags: int
    stream: int
    payload: bytes


async def _read_frame(peer: Peer) -> _Frame:
    """Read the client's next frame (4.1)."""
    head = await peer.reader.readexactly(9)
    payload = await peer.reader.readexactly(int.from_bytes(head[:3]))
    return _Frame(head[3], head[4], int.from_bytes(head[5:]), payload)
