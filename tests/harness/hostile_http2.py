"""Servers that speak HTTP/2 by hand and never come to an end (RFC 9113)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tests.harness.hostile import Misbehaviour, Peer

DATA, HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 0x0, 0x1, 0x3, 0x4, 0x6, 0x7, 0x9
END_STREAM, END_HEADERS, ACK = 1, 4, 1
TABLE_SIZE = 1
PREFACE = 24
"""Bytes that a client says before its first frame (3.4)."""
CONTROL = b"ListLanguageModels"
CANCELLED = 8
ENHANCE_YOUR_CALM = 11
OK = b"\x88"
"""The header `:status: 200`, compressed (RFC 7541, appendix A)."""


def frame(kind: int, payload: bytes = b"", *, stream: int = 0, flags: int = 0) -> bytes:
    """A frame (4.1)."""
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def repeat_frames(again: bytes, first: bytes = b"") -> Misbehaviour:
    """Once a call has come `first`, then the same without end.

    Sooner, and it would hang on the client's haste whether there is a call that the frames can befall.
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
    """Ask for calm two hundred times, in words."""

    async def misbehave(peer: Peer) -> None:
        asking = frame(GOAWAY, struct.pack("!II", 0, ENHANCE_YOUR_CALM) + words)
        await peer.send(frame(SETTINGS), frame(SETTINGS, flags=1), asking * 200)
        await peer.hang()

    return misbehave


repeat_goaway = repeat_frames(frame(GOAWAY, struct.pack("!II", 1, 0)))
repeat_settings = repeat_frames(frame(SETTINGS))
repeat_pings = repeat_frames(frame(PING, b"8 bytes."))
repeat_continuations = repeat_frames(frame(CONTINUATION, b"\x00\x01a\x01b", stream=1), frame(HEADERS, OK, stream=1))
"""Headers of one answer without end."""


def field(name: str, value: str) -> bytes:
    """A header that is written out (RFC 7541, 6.2.2)."""
    return b"\0" + b"".join(bytes([len(each)]) + each for each in (name.encode(), value.encode()))


GRPC = OK + field("content-type", "application/grpc")
NO_MESSAGE = bytes(5)
"""A message of no bytes, not compressed."""


def trailers(*fields: tuple[str, str]) -> bytes:
    """Headers that end a call at once, as a frame without its stream."""
    return GRPC + b"".join(field(name, value) for name, value in fields)


def answer_calls(*answer: tuple[int, bytes, int]) -> Misbehaviour:
    """Answer a control as it should be, and any other call with these frames: kind, payload and flags of each."""
    green = (
        (HEADERS, GRPC, END_HEADERS),
        (DATA, NO_MESSAGE, 0),
        (HEADERS, field("grpc-status", "0"), END_HEADERS | END_STREAM),
    )

    async def misbehave(peer: Peer) -> None:
        # Without a table of headers each request writes its path out.
        await peer.send(frame(SETTINGS, struct.pack("!HI", TABLE_SIZE, 0)), frame(SETTINGS, flags=ACK))
        await peer.reader.readexactly(PREFACE)
        while True:
            came = await _read_frame(peer)
            if came.kind == PING and not came.flags & ACK:
                await peer.send(frame(PING, came.payload, flags=ACK))
            if came.kind == HEADERS:
                frames = green if CONTROL in came.payload else answer
                await peer.send(*(frame(kind, said, stream=came.stream, flags=flags) for kind, said, flags in frames))

    return misbehave


class _Frame(NamedTuple):
    kind: int
    flags: int
    stream: int
    payload: bytes


async def _read_frame(peer: Peer) -> _Frame:
    """The client's next frame (4.1)."""
    head = await peer.reader.readexactly(9)
    payload = await peer.reader.readexactly(int.from_bytes(head[:3]))
    return _Frame(head[3], head[4], int.from_bytes(head[5:]), payload)
