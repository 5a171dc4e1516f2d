"""Connections that give no exchange more bytes than it may read."""

from __future__ import annotations

import ssl
from contextvars import ContextVar
from typing import Any

import httpcore

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.wire.failure import NoAnswer

# Bytes of an answer besides its body: heads, interim answers, sizes of chunks, trailers, padding.
MAX_OVERHEAD = 1_000_000

# As much as asyncio reads at once: nothing is left in its buffer, where `is_readable` would not notice it.
READ_BYTES = 256 * 1024


class ReadBudget:
    """What one exchange may still read, in bytes, and how the connection ended."""

    def __init__(self, max_body_bytes: int, *, is_own_connection: bool = False) -> None:
        self.is_own_connection = is_own_connection
        """Whether the exchange shares its connection with no other, also over HTTP/2."""
        self.left = MAX_OVERHEAD
        # Of the packed body, which may be longer than the unpacked one if it packs badly.
        self.body_left = 2 * max_body_bytes
        self.is_answered = False
        self.has_ended = False

    def add_body(self) -> None:
        """Allow the bytes of the body as well: the head is there."""
        self.is_answered = True
        self.left += self.body_left


# Set by each exchange, which reads in its own task.
READ_BUDGET: ContextVar[ReadBudget] = ContextVar("read_budget")


class BoundedStream(httpcore.AsyncNetworkStream):
    """A connection that raises NoAnswer when an exchange has used up its read budget."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._tls = stream.get_extra_info("ssl_object")
        self._is_http2 = self._tls is not None and self._tls.selected_alpn_protocol() == "h2"
        self._buffer = b""
        """Bytes that were received and not asked for yet."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return bytes of the answer, or none at its end.

        Raises NoAnswer if it breaks off or is too long.
        """
        if not self._buffer:
            self._buffer = await self._receive(timeout)
        # The last byte is held back until it is asked for. If it never is, more came than the answer. `is_readable`
        # then says so, because httpcore would take it for the answer to the next request.
        size = min(max_bytes, max(len(self._buffer) - 1, 1))
        data, self._buffer = self._buffer[:size], self._buffer[size:]
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes."""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection."""
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Return a connection that speaks TLS over this one."""
        try:
            return BoundedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))
        except httpcore.ConnectError as error:  # many servers that do not speak TLS reset or end the connection
            raise NoAnswer(ReasonCode.TLS_FAILED, str(error)) from error

    def get_extra_info(self, info: str) -> Any:
        """Return information about the connection.

        `is_readable` of an idle one means that it cannot be used again.
        """
        if info == "is_readable" and (self._buffer or self._has_tls_data()):
            return True
        return self._stream.get_extra_info(info)

    async def _receive(self, timeout: float | None) -> bytes:
        budget = READ_BUDGET.get()
        if budget.left < 0:
            raise NoAnswer(ReasonCode.PROTOCOL_ERROR, "the answer takes too many bytes beside its body")
        data = await self._stream.read(READ_BYTES, timeout)
        # On a shared HTTP/2 connection an exchange also reads for others. The library bounds heads there, and time
        # bounds a flood.
        if budget.is_own_connection or not self._is_http2:
            budget.left -= len(data)
        if not data:
            if not budget.is_answered:
                raise NoAnswer(ReasonCode.CLOSED_WITHOUT_ANSWER, "the connection was closed without an answer")
            if (
                self._is_cut()
            ):  # the body may be incomplete if only the end of the connection delimits it (RFC 9112, 9.8)
                raise NoAnswer(ReasonCode.CONNECTION_RESET, "the connection was cut: TLS does not say that it ended")
            budget.has_ended = True
        return data

    def _has_tls_data(self) -> bool:
        try:
            return self._tls is not None and self._tls.read(1) is not None
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLError:
            return True

    def _is_cut(self) -> bool:
        """Whether a TLS connection ended without a proper close by its other side."""
        try:
            return self._tls is not None and bool(self._tls.read(1))
        except ssl.SSLError:
            return True


class BoundedBackend(httpcore.AnyIOBackend):
    """Opens bounded connections."""

    async def connect_tcp(self, *arguments: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        """Connect to a host and port."""
        return BoundedStream(await super().connect_tcp(*arguments, **options))
