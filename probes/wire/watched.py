"""A connection that is watched as its bytes come in: no answer is endless, and what nobody asked for is noticed."""

from __future__ import annotations

import select
import ssl
from collections.abc import Callable, Iterable
from typing import Any

import httpcore

MAX_INTERIM = 16
"""Interim responses (1xx) before an answer."""

BESIDE_BODY = 1_000_000
"""Bytes on the wire that an answer may take beyond twice the cap on its body: heads, chunks, trailers, padding."""


class WatchingBackend(httpcore.AsyncNetworkBackend):
    """Opens connections that are watched; an answer may take `most` bytes of one."""

    def __init__(self, max_body_bytes: int) -> None:
        self._most = 2 * max_body_bytes + BESIDE_BODY
        self._opening = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        stream = await self._opening.connect_tcp(host, port, timeout, local_address, socket_options)
        return Watched(stream, self._most)

    async def sleep(self, seconds: float) -> None:
        await self._opening.sleep(seconds)


class Watched(httpcore.AsyncNetworkStream):
    """One connection; each answer begins where something was sent after the last was read.

    Raises:
        httpcore.RemoteProtocolError: the answer takes more than it may, on `read`.
    """

    def __init__(self, stream: httpcore.AsyncNetworkStream, most: int) -> None:
        self._stream = stream
        self._most = most
        self._begin()
        self._looking: Callable[[], bool] | None = None

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self._stream.read(max_bytes, timeout)
        self._take(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._taken:
            self._begin()
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        return Watched(await self._stream.start_tls(ssl_context, server_hostname, timeout), self._most)

    def get_extra_info(self, info: str) -> Any:
        # What may be read on an idle connection is no answer to what is asked next: the pool gives the connection up.
        if info == "is_readable":
            return self._more_came or self._is_readable()
        return self._stream.get_extra_info(info)

    def _is_readable(self) -> bool:
        """Whether something waits on the socket, or it is closed; asked of each connection at each request."""
        if self._looking is None:
            self._looking = _looking_at(self._stream)
        return self._looking()

    def _begin(self) -> None:
        self._taken = 0
        self._last = b""
        self._interim = 0
        self._head: bytes | None = b""
        """What has come of the head; None once it is there."""
        self._end: int | None = None
        """How many bytes the answer takes, where its head says so."""

    def _take(self, data: bytes) -> None:
        self._taken += len(data)
        self._last = data
        if self._taken > self._most:
            raise httpcore.RemoteProtocolError(f"the answer takes more than {self._most} bytes of the connection")
        if self._head is not None:
            self._read_head(self._head + data)

    def _read_head(self, data: bytes) -> None:
        while True:
            head, end, rest = data.partition(b"\r\n\r\n")
            if not end:
                self._head = data
                return
            status = head[9:12]
            if not status.startswith(b"1") or status == b"101":
                break
            self._interim += 1
            if self._interim > MAX_INTERIM:
                raise httpcore.RemoteProtocolError(f"more than {MAX_INTERIM} interim responses")
            data = rest
        self._head = None
        length = _length(status, head)
        self._end = None if length is None else self._taken - len(rest) + length

    @property
    def _more_came(self) -> bool:
        """Whether bytes came after the end of the answer, and so before anything else was asked."""
        if self._head is not None:
            return False
        if self._end is not None:
            return self._taken > self._end
        ended = self._last.endswith(b"\r\n") and not self._last.endswith(b"\r\n\r\n\r\n")
        return not ended or b"\r\n\r\nHTTP/1." in self._last


def _looking_at(stream: httpcore.AsyncNetworkStream) -> Callable[[], bool]:
    """How to look whether something waits there; anyio finds out all about a socket each time it is asked for it."""
    socket = stream.get_extra_info("socket")
    if socket is None or not hasattr(select, "poll"):
        return lambda: bool(stream.get_extra_info("is_readable"))
    poll = select.poll()
    poll.register(socket, select.POLLIN)
    return lambda: socket.fileno() < 0 or bool(poll.poll(0))


def _length(status: bytes, head: bytes) -> int | None:
    """Of how many bytes the body is, as a head says; None where they come in chunks, or end with the connection."""
    if status in (b"204", b"304"):
        return 0
    fields = [line.partition(b":") for line in head.lower().split(b"\r\n")[1:]]
    said = {name.strip(): value.strip() for name, _, value in fields}
    length = said.get(b"content-length", b"")
    return int(length) if length.isdigit() and b"transfer-encoding" not in said else None
