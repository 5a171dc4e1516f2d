"""Sends requests of httpx over a few connections of our own, which are kept for the next request of a lane."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable, Mapping
from typing import Any, NamedTuple

import h11
import httpx

from catalog.model.codes import ReasonCode
from probes.wire.failure import NoAnswer
from probes.wire.http11 import Connection

CONNECTIONS = 8
"""One small pool a lane: so many requests are under way at once unless told."""

KEPT = 24
"""So many connections at most are kept while nothing is asked over them: on a mock a run has some twenty pools."""

KEPT_ALIVE_S = 5.0
"""How long a connection is kept for the next request."""

EYEBALLS_S = 0.25
"""When the next address of a host is tried beside one that does not answer (RFC 8305, 5)."""

ASKED = "catalog_probe.asked"
"""The extension of a request that is called when a connection stands, and the request is about to be sent."""

_PORTS = {"http": 80, "https": 443}
_NO_EXPECTATIONS = 417


class _Origin(NamedTuple):
    """Where requests that may share a connection go."""

    scheme: str
    host: str
    port: int


class Transport:
    """Speaks HTTP/1.1 by h11. Proxies of the environment are not used.

    It shows what those of httpx hide, and a prober must see: an answer before its request is sent ends the sending,
    more than a few interim answers are none, and so is what comes unasked. Of the limits in `timeout` it keeps that of
    connecting; the others are its caller's.
    """

    def __init__(self, tls: ssl.SSLContext, most: int, connections: int = CONNECTIONS) -> None:
        """`tls` is for hosts that speak it; an answer may take `most` bytes of a connection."""
        self._tls = tls
        self._most = most
        self._places = asyncio.Semaphore(connections)
        self._kept: list[tuple[_Origin, Connection]] = []

    async def answer(self, request: httpx.Request) -> Answer:
        """Send a request, and return its answer as soon as the head is there; closing that frees the connection.

        Raises:
            httpx.TransportError: there is no connection to be had, or no answer.
        """
        url, extensions = request.url, request.extensions
        origin = _Origin(url.scheme, url.raw_host.decode(), url.port or _PORTS[url.scheme])
        await self._places.acquire()
        connection = self._kept_for(origin)
        try:
            if connection is None:
                connection = await self._opened(origin, _patience_s(extensions))
            if ASKED in extensions:
                extensions[ASKED]()
            try:
                head = await _asked(connection, request)
            except h11.LocalProtocolError as error:
                raise httpx.LocalProtocolError(str(error)) from error
        except BaseException:
            self._leave(origin, connection)
            raise
        return Answer(head, self, origin, connection)

    async def aclose(self) -> None:
        """Close what is kept."""
        self._close(list(self._kept))
        await asyncio.sleep(0)  # the loop closes sockets when it comes round

    def _leave(self, origin: _Origin, connection: Connection | None) -> None:
        """Keep a connection that can be used again, and close any other; its place is free."""
        self._places.release()
        if connection is not None and connection.rest():
            self._kept.append((origin, connection))
            self._close(self._kept[:-KEPT])

    def _kept_for(self, origin: _Origin) -> Connection | None:
        """The connection that was used last and can be used still; those that cannot are closed."""
        for its, connection in reversed(self._kept):
            if its == origin:
                self._kept.remove((its, connection))
                if connection.ready(KEPT_ALIVE_S):
                    return connection
                connection.abort()
        return None

    def _close(self, those: list[tuple[_Origin, Connection]]) -> None:
        for each in those:
            self._kept.remove(each)
            each[1].abort()

    async def _opened(self, origin: _Origin, patience_s: float | None) -> Connection:
        connection = Connection(self._most)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(patience_s):
                transport, _ = await loop.create_connection(
                    lambda: connection, origin.host, origin.port, happy_eyeballs_delay=EYEBALLS_S
                )
            if origin.scheme == "https":
                async with asyncio.timeout(patience_s):
                    await self._secured(connection, transport, origin.host)
        except TimeoutError:
            raise NoAnswer(ReasonCode.CONNECT_TIMEOUT, f"no connection within {patience_s:g} s") from None
        except OSError as error:
            raise NoAnswer(_why_not(error), str(error)) from error
        return connection

    async def _secured(self, connection: Connection, transport: asyncio.Transport, host: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            secured = await loop.start_tls(transport, connection, self._tls, server_hostname=host)
        except TimeoutError:
            raise
        except OSError as error:  # a reset, or an end, is how many a server says that it does not speak TLS
            transport.abort()
            raise NoAnswer(ReasonCode.TLS_FAILED, str(error)) from error
        assert secured is not None
        connection.use(secured)


class Unsent(httpx.AsyncByteStream):
    """The body of a request that announces one and waits whether it is wanted: it never comes."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        raise AssertionError("it is announced, and never sent")


class Answer:
    """The head of an answer, its body as it comes, and the connection that it comes over.

    No `httpx.Response`: what that knows to do with a body is never wanted, and it takes longer than to read the head.
    """

    def __init__(
        self,
        head: h11.Response | h11.InformationalResponse,
        transport: Transport,
        origin: _Origin,
        connection: Connection,
    ) -> None:
        self.status = head.status_code
        self.fields = list(head.headers)
        """The headers as they came, their names in lower case."""
        self._transport = transport
        self._origin = origin
        self._connection: Connection | None = connection

    def headers(self) -> dict[str, str]:
        """The headers as text, those of one name as one (RFC 9110, 5.3)."""
        told: dict[str, str] = {}
        encoding = _encoding(self.fields)
        for name, value in self.fields:
            key, text = name.decode(encoding), value.decode(encoding)
            told[key] = f"{told[key]}, {text}" if key in told else text
        return told

    def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes, still packed where it is."""
        assert self._connection is not None, "it is closed"
        return self._connection.pieces()

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._transport._leave(self._origin, self._connection)
            self._connection = None


def _encoding(fields: Iterable[tuple[bytes, bytes]]) -> str:
    """What headers are written in: UTF-8, or else each byte is taken for a character."""
    try:
        b"\n".join(value for _, value in fields).decode()
    except UnicodeDecodeError:
        return "iso-8859-1"
    return "utf-8"


async def _asked(connection: Connection, request: httpx.Request) -> h11.Response | h11.InformationalResponse:
    """The head of the answer to a request, which need not be sent to its end; an announced body may get 100.

    Raises:
        h11.LocalProtocolError: it is no request that HTTP allows.
        httpx.TransportError: there is no answer.
    """
    # The URL has the host in ASCII and all else percent-encoded, and httpx has told the host in a header.
    asking = h11.Request(method=request.method.encode(), target=request.url.raw_path, headers=request.headers.raw)
    if isinstance(request.stream, httpx.ByteStream):
        connection.send(asking, request.read())
    elif isinstance(request.stream, Unsent):
        connection.announce(asking)
    else:
        assert isinstance(request.stream, httpx.AsyncByteStream)
        await connection.send_until_answered(asking, request.stream)
    head = await connection.head()
    if head.status_code == _NO_EXPECTATIONS and isinstance(request.stream, Unsent):
        raise NoAnswer(ReasonCode.PROTOCOL_ERROR, f"HTTP {_NO_EXPECTATIONS}: it does not say which body it would take")
    return head


def _patience_s(extensions: Mapping[str, Any]) -> float | None:
    patience_s: float | None = extensions.get("timeout", {}).get("connect")
    return patience_s


def _why_not(error: OSError) -> ReasonCode:
    """A connection that is reset before it stands was reset in the handshake: somebody listened."""
    reset = isinstance(error, ConnectionResetError)
    return ReasonCode.CONNECTION_RESET if reset else ReasonCode.CONNECT_REFUSED
