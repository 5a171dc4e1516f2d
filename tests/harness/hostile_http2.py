"""Servers that speak HTTP/2 by hand and never come to an end (RFC 9113)."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.harness.hostile import Misbehaviour, Peer

HEADERS, SETTINGS, PING, GOAWAY, CONTINUATION = 0x1, 0x4, 0x6, 0x7, 0x9
ENHANCE_YOUR_CALM = 11
OK = b"\x88"
"""The header `:status: 200`, compressed (RFC 7541, appendix A)."""


def frame(kind: int, payload: bytes = b"", *, stream: int = 0, flags: int = 0) -> bytes:
    """A frame (4.1)."""
    return struct.pack("!I", len(payload))[1:] + bytes([kind, flags]) + struct.pack("!I", stream) + payload


def for_ever(again: bytes, first: bytes = b"") -> Misbehaviour:
    """After the settings of both sides `first`, then the same without end."""

    async def misbehave(peer: Peer) -> None:
        await peer.send(frame(SETTINGS), frame(SETTINGS, flags=1), first)
        while True:
            await peer.send(again * 500)

    return misbehave


def going_away(words: bytes) -> Misbehaviour:
    """Ask for calm two hundred times, in words."""

    async def misbehave(peer: Peer) -> None:
        asking = frame(GOAWAY, struct.pack("!II", 0, ENHANCE_YOUR_CALM) + words)
        await peer.send(frame(SETTINGS), frame(SETTINGS, flags=1), asking * 200)
        await peer.hang()

    return misbehave


leaving = for_ever(frame(GOAWAY, struct.pack("!II", 1, 0)))
settling = for_ever(frame(SETTINGS))
pinging = for_ever(frame(PING, b"8 bytes."))
going_on = for_ever(frame(CONTINUATION, b"\x00\x01a\x01b", stream=1), frame(HEADERS, OK, stream=1))
"""Headers of one answer without end."""
