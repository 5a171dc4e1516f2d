"""Servers that break HTTP: each misbehaviour is what one connection gets, as bytes or as silence."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

from tests.harness.serving import serving_connections

if TYPE_CHECKING:
    import ssl

GREEN = b'{"data":[],"models":[],"has_more":false,"first_id":null,"last_id":null}'
ENDLESS = 10**9


@dataclass
class Peer:
    """One request, and the means to answer it badly."""

    head: str
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def control(self) -> bool:
        return "/control\r\n" in self.head

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self.writer.write(piece)
        await self.writer.drain()

    async def hang(self) -> None:
        """Send nothing until the other side closes."""
        while await self.reader.read(65_536):
            pass

    def reset(self) -> None:
        """Break the connection by RST, as a machine that died would."""
        self.writer.transport.abort()


Misbehaviour = Callable[[Peer], Awaitable[None]]


@dataclass
class HostileServer:
    """A server that misbehaves on every request but controls; on those, too, without `green_control`."""

    misbehave: Misbehaviour
    green_control: bool = True
    heads: list[str] = field(default_factory=list)

    @contextmanager
    def serving(self, tls: ssl.SSLContext | None = None) -> Iterator[str]:
        with serving_connections(self._connection, tls) as base:
            yield base

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.heads.append(head)
            await reader.readexactly(body_length(head))
            peer = Peer(head, reader, writer)
            if peer.control and self.green_control:
                await peer.send(answer(200, GREEN))
            else:
                await self.misbehave(peer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def body_length(head: str) -> int:
    for line in head.lower().split("\r\n"):
        if line.startswith("content-length:"):
            return int(line.partition(":")[2])
    return 0


def answer_head(status: int = 200, **headers: str) -> bytes:
    """Return the head of an answer; `_` in a header's name stands for `-`."""
    lines = [f"HTTP/1.1 {status} X", *(f"{name.replace('_', '-')}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def answer(status: int, body: bytes = b"{}", content_type: str = "application/json", **headers: str) -> bytes:
    """Return a whole answer that ends its connection."""
    length = str(len(body))
    return answer_head(status, content_type=content_type, content_length=length, connection="close", **headers) + body


def always_answer(
    status: int, body: bytes = b"{}", content_type: str = "application/json", **headers: str
) -> Misbehaviour:
    """Return a misbehaviour that sends one answer to everything."""

    async def misbehave(peer: Peer) -> None:
        await peer.send(answer(status, body, content_type, **headers))

    return misbehave


async def hang(peer: Peer) -> None:
    await peer.hang()


async def close(peer: Peer) -> None:
    """Close the connection without an answer."""


async def reset_in_body(peer: Peer) -> None:
    """Promise a body, send half of it, and break the connection."""
    await peer.send(answer_head(404, content_type="application/json", content_length="1000"), b'{"type": "error"')
    peer.reset()


async def close_in_body(peer: Peer) -> None:
    """Promise a body, send half of it, and close."""
    await peer.send(answer_head(404, content_type="application/json", content_length="1000"), b'{"type": "error"')


async def reset_in_unsized_body(peer: Peer) -> None:
    """Reset in a body without a length: only TLS's close could have said that it was complete."""
    await peer.send(answer_head(404, content_type="application/json"), b'{"type": "error"')
    peer.reset()


async def send_garbage(peer: Peer) -> None:
    await peer.send(b"\x15\x03\x01\x00\x02\x02\x28 no HTTP at all\r\n\r\n" * 10)


async def send_endless_body(peer: Peer) -> None:
    """Send a body of 10 GB in chunks."""
    chunk = b"10000\r\n" + b"x" * 65_536 + b"\r\n"
    await peer.send(answer_head(404, content_type="application/json", transfer_encoding="chunked"))
    for _ in range(10 * 2**30 // 65_536):
        await peer.send(chunk)


@cache
def make_gzip_bomb() -> bytes:
    return gzip.compress(b" " * 40_000_000)


async def send_gzip_bomb(peer: Peer) -> None:
    """Send ten times the cap of a body, compressed to almost nothing."""
    await peer.send(answer(404, make_gzip_bomb(), content_encoding="gzip"))


async def send_endless_header(peer: Peer) -> None:
    """Send a header that never ends, one byte at a time."""
    await peer.send(b"HTTP/1.1 404 X\r\nx-slow: ")
    for _ in range(ENDLESS):
        await peer.send(b"a")
        await asyncio.sleep(0.01)


async def send_slow_body(peer: Peer) -> None:
    """Send a body that never ends, one byte at a time."""
    await peer.send(answer_head(404, content_type="application/json", content_length=str(ENDLESS)))
    for _ in range(ENDLESS):
        await peer.send(b" ")
        await asyncio.sleep(0.01)


async def send_header_flood(peer: Peer) -> None:
    await peer.send(b"HTTP/1.1 404 X\r\n")
    for number in range(1_000_000):
        await peer.send(f"x-flood-{number}: {'y' * 100}\r\n".encode())


async def send_endless_events(peer: Peer) -> None:
    """Send events without end."""
    await peer.send(answer_head(200, content_type="text/event-stream"))
    for number in range(ENDLESS):
        await peer.send(f'event: ping\ndata: {{"type": "ping", "number": {number}}}\n\n'.encode())
        await asyncio.sleep(0.005)


async def stall_in_events(peer: Peer) -> None:
    await peer.send(answer_head(200, content_type="text/event-stream"), b'event: ping\ndata: {"type": "ping"}\n\n')
    await peer.hang()


async def cut_in_events(peer: Peer) -> None:
    await peer.send(
        answer_head(200, content_type="text/event-stream", transfer_encoding="chunked"),
        b'27\r\nevent: ping\ndata: {"type": "ping"}\n\n\r\n',
    )
