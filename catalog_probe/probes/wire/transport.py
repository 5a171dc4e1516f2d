"""HTTP below the requests: bounded connections, TLS, pools, early answers.

A server may refuse a body by its length alone (413), or say that it wants it (100, RFC 9110, 10.1.1).

The transport of httpx takes no network backend of ours, so the pool below it is used. Proxies are chosen as httpx does.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies, proxy_bypass

import h11
import httpcore
import httpx
from h2.config import H2Configuration
from h2.exceptions import H2Error

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import AnnouncedBody, Body, DeclaredBody
from catalog_probe.probes.targets.target import is_loopback
from catalog_probe.probes.wire.answer import NoAnswer, iterate_causes

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator


def make_tls_context(ca_file: str = "", client_cert_file: str = "") -> ssl.SSLContext:
    """Return a context that verifies certificate and host name.

    With `ca_file` no other authority is trusted.

    `client_cert_file` holds the certificate and key that the client shows where a host asks for them.
    """
    context = ssl.create_default_context(cafile=ca_file or None)
    if client_cert_file:
        context.load_cert_chain(client_cert_file)
    return context


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


# Seconds to wait for an answer before a declared body is sent.
EARLY_ANSWER_S = 1.0

CHUNK = b" " * 65_536
CONTINUE, EXPECTATION_FAILED = 100, 417


async def send_until_answered(
    stream: httpcore.AsyncNetworkStream, request: httpx.Request, body: DeclaredBody | AnnouncedBody
) -> tuple[h11.Response | h11.InformationalResponse, AsyncIterator[bytes]]:
    """Send a request over HTTP/1.1; return head and body of the answer.

    The stream cannot be used again.

    Raises:
        NoAnswer: the server takes no expectations.
        h11.ProtocolError: what one of the sides sent is no HTTP.
        httpcore.NetworkError: the connection broke.
    """
    connection = h11.Connection(h11.CLIENT)
    # The URL has the host in ASCII and all else percent-encoded, and the headers name the host.
    head_event = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
    await stream.write(connection.send(head_event) or b"")
    if isinstance(body, AnnouncedBody):
        head = await _read_head(stream, connection, is_announced=True)
        if head.status_code == EXPECTATION_FAILED:
            message = f"HTTP {EXPECTATION_FAILED}: it does not say which body it would take"
            raise NoAnswer(ReasonCode.PROTOCOL_ERROR, message)
    else:
        sending = asyncio.create_task(_send_body(stream, connection, body.length))
        try:
            head = await _read_head(stream, connection)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)  # a server that refuses a body may cut it off
    return head, _read_body(stream, connection)


async def _send_body(stream: httpcore.AsyncNetworkStream, connection: h11.Connection, length: int) -> None:
    await asyncio.sleep(EARLY_ANSWER_S)
    for start in range(0, length, len(CHUNK)):
        await stream.write(connection.send(h11.Data(CHUNK[: length - start])) or b"")
    await stream.write(connection.send(h11.EndOfMessage()) or b"")


async def _read_head(
    stream: httpcore.AsyncNetworkStream, connection: h11.Connection, *, is_announced: bool = False
) -> h11.Response | h11.InformationalResponse:
    while True:
        event = await _next_event(stream, connection)
        if isinstance(event, h11.Response):
            return event
        # Of interim answers only 100 counts, and only for a body that waits for it.
        if isinstance(event, h11.InformationalResponse) and is_announced and event.status_code == CONTINUE:
            return event


async def _read_body(stream: httpcore.AsyncNetworkStream, connection: h11.Connection) -> AsyncGenerator[bytes, None]:
    if connection.their_state is h11.SEND_RESPONSE:
        return  # the answer is 100: the announced body is wanted, and there is no body to read
    while isinstance(event := await _next_event(stream, connection), h11.Data):
        yield bytes(event.data)


async def _next_event(
    stream: httpcore.AsyncNetworkStream, connection: h11.Connection
) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await stream.read(65_536))
    return event


# Default for the connections of a lane's pool: the requests that run at once over HTTP/1.1.
CONNECTIONS = 8

# Seconds for which an idle connection is kept.
IDLE_S = 5.0

# The statuses that HTTP has (RFC 9110, 15).
HTTP_STATUSES = range(100, 600)

# httpcore takes any HTTP/2 header block: one without `:status` for a 200, and line ends within a value. h2 refuses what
# RFC 9113, 8, calls malformed, as curl does.
httpcore.AsyncHTTP2Connection.CONFIG = H2Configuration(validate_inbound_headers=True)

_LIBRARY_ERRORS = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    h11.ProtocolError,
    H2Error,
    ValueError,  # httpcore converts any status over HTTP/2 to a number
)


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The head of an answer, and its body as it comes, still compressed."""

    status: int
    fields: list[tuple[bytes, bytes]]
    """The headers as they came."""
    http_version: str
    pieces: AsyncIterator[bytes]

    def headers(self) -> dict[str, str]:
        """Return the headers as text, names in lower case, joined (RFC 9110, 5.3)."""
        headers: dict[str, str] = {}
        # In UTF-8, if they are; else each byte is a character.
        encoding = "utf-8" if _is_utf8(b"\n".join(value for _, value in self.fields)) else "iso-8859-1"
        for field_name, field_value in self.fields:
            name, value = field_name.decode(encoding).lower(), field_value.decode(encoding)
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        return headers


class Transport:
    """The connections of one lane, over HTTP/2 and proxies where there are any.

    It keeps the time limit of connecting; its caller keeps the others. A request is sent once. httpcore sends it again
    only over HTTP/2, if the server has said that it did not process it (GOAWAY).
    """

    def __init__(self, tls: ssl.SSLContext, max_body_bytes: int, connections: int = CONNECTIONS) -> None:
        self._tls = tls
        self._max_body_bytes = max_body_bytes
        self._connections = connections
        self._backend = BoundedBackend()
        self._proxies: dict[tuple[str, str, int], httpcore.Proxy | None] = {}
        self._pools: dict[str, httpcore.AsyncConnectionPool] = {}

    def find_proxy_host(self, url: httpx.URL) -> str | None:
        """Return host and port of the proxy for a URL, or None.

        Raises:
            NoAnswer: the environment names a proxy that cannot be used.
        """
        proxy = self._find_proxy(url)
        return None if proxy is None else f"{proxy.url.host.decode()}:{proxy.url.origin.port}"

    @asynccontextmanager
    async def send(
        self, request: httpx.Request, connect_s: float, begin: Callable[[], None], body: Body
    ) -> AsyncGenerator[HttpAnswer, None]:
        """Send a request; `begin` is called when there is a connection.

        Leaving the block frees the connection.

        A `DeclaredBody` is sent unless the answer comes first; an `AnnouncedBody` never is.

        Raises:
            NoAnswer: there is no connection, or no answer. Reading the body may raise it as well.
        """
        budget = ReadBudget(self._max_body_bytes)
        READ_BUDGET.set(budget)
        proxy = self._find_proxy(request.url)

        async def trace(event: str, _: Any) -> None:
            if event.endswith("send_request_headers.started"):
                begin()

        extensions = {"timeout": {"connect": connect_s}, "trace": trace}
        if isinstance(body, DeclaredBody | AnnouncedBody):
            sending = self._send_until_answered(request, body, proxy, extensions, begin)
        else:
            sending = self._send_over_pool(request, proxy, extensions)
        async with AsyncExitStack() as stack:
            with translate_errors(budget, proxy):
                answer = await stack.enter_async_context(sending)
            if answer.status not in HTTP_STATUSES:
                raise NoAnswer(ReasonCode.PROTOCOL_ERROR, f"{answer.status} is no HTTP status")
            budget.add_body()
            yield replace(answer, pieces=_read_pieces(answer.pieces, budget, proxy))

    async def aclose(self) -> None:
        """Close all pools."""
        for pool in self._pools.values():
            await pool.aclose()

    @asynccontextmanager
    async def _send_over_pool(
        self, request: httpx.Request, proxy: httpcore.Proxy | None, extensions: dict[str, Any]
    ) -> AsyncGenerator[HttpAnswer, None]:
        pool = self._get_pool(proxy)
        url, headers = _convert_url(request.url), request.headers.raw
        sending = pool.stream(request.method, url, headers=headers, content=request.read(), extensions=extensions)
        async with sending as response:
            version = response.extensions["http_version"].decode("ascii", "replace")
            yield HttpAnswer(response.status, response.headers, version, response.aiter_stream())

    @asynccontextmanager
    async def _send_until_answered(
        self,
        request: httpx.Request,
        body: DeclaredBody | AnnouncedBody,
        proxy: httpcore.Proxy | None,
        extensions: dict[str, Any],
        begin: Callable[[], None],
    ) -> AsyncGenerator[HttpAnswer, None]:
        url = _convert_url(request.url)
        connect_s = extensions["timeout"]["connect"]
        async with self._connect(url.origin, proxy, extensions) as stream:
            if url.scheme == b"https":
                self._tls.set_alpn_protocols(["http/1.1"])
                stream = await stream.start_tls(self._tls, url.host.decode(), connect_s)
            begin()
            head, pieces = await send_until_answered(stream, request, body)
            version = f"HTTP/{head.http_version.decode()}"
            yield HttpAnswer(head.status_code, list(head.headers), version, pieces)

    @asynccontextmanager
    async def _connect(
        self, origin: httpcore.Origin, proxy: httpcore.Proxy | None, extensions: dict[str, Any]
    ) -> AsyncGenerator[httpcore.AsyncNetworkStream, None]:
        """Open a connection for one exchange, without TLS; a tunnel over a proxy."""
        host, port = origin.host.decode(), origin.port
        if proxy is None:
            stream = await self._backend.connect_tcp(host, port, extensions["timeout"]["connect"])
            try:
                yield stream
            finally:
                await stream.aclose()
            return
        # The documented way to a tunnel, as `httpcore.AsyncConnectionPool(proxy=…)` makes it.
        target = f"{host}:{port}".encode()
        headers = [(b"host", target), (b"accept", b"*/*"), *proxy.headers]
        async with httpcore.AsyncConnectionPool(proxy.ssl_context, network_backend=self._backend) as pool:
            options = {**extensions, "target": target}
            async with pool.stream("CONNECT", proxy.url, headers=headers, extensions=options) as response:
                if not 200 <= response.status < 300:
                    reason = response.extensions["reason_phrase"].decode("ascii", "ignore")
                    raise httpcore.ProxyError(f"{response.status} {reason}")
                yield response.extensions["network_stream"]

    def _get_pool(self, proxy: httpcore.Proxy | None) -> httpcore.AsyncConnectionPool:
        key = "" if proxy is None else str(proxy.url)
        if key not in self._pools:
            self._pools[key] = httpcore.AsyncConnectionPool(
                ssl_context=self._tls,
                proxy=proxy,
                max_connections=self._connections,
                keepalive_expiry=IDLE_S,
                http2=True,
                network_backend=self._backend,
            )
        return self._pools[key]

    def _find_proxy(self, url: httpx.URL) -> httpcore.Proxy | None:
        key = url.scheme, url.host, _convert_url(url).origin.port
        if key not in self._proxies:
            self._proxies[key] = _read_environment_proxy(*key)
        return self._proxies[key]


def _read_environment_proxy(scheme: str, host: str, port: int) -> httpcore.Proxy | None:
    """Return the proxy of HTTPS_PROXY and the like; none for loopback."""
    if is_loopback(host) or proxy_bypass(f"{host}:{port}"):
        return None
    proxies = getproxies()
    address = proxies.get(scheme) or proxies.get("all")
    if not address:
        return None
    try:
        proxy = httpx.Proxy(address if "://" in address else f"http://{address}")
    except (ValueError, httpx.InvalidURL):  # not quoted: the message contains the address, which may hold a password
        proxy = None
    if proxy is None or proxy.url.scheme not in ("http", "https"):
        raise NoAnswer(ReasonCode.CONNECT_REFUSED, f"the proxy of the environment for {scheme} is no http(s) address")
    tls = make_tls_context() if proxy.url.scheme == "https" else None
    return httpcore.Proxy(_convert_url(proxy.url), proxy.raw_auth, proxy.headers.raw, tls)


def _convert_url(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


@contextmanager
def translate_errors(budget: ReadBudget, proxy: httpcore.Proxy | None = None) -> Iterator[None]:
    """Raise NoAnswer for what the libraries raise."""
    try:
        yield
    except httpcore.ProxyError as error:
        refusal = httpcore.ProxyError(f"the proxy {proxy.url.host.decode() if proxy else ''} answered {error}")
        raise NoAnswer(ReasonCode.CONNECT_REFUSED, str(refusal)) from refusal
    except _LIBRARY_ERRORS as error:
        raise NoAnswer(_select_code(error, budget), str(error)) from error


def _select_code(error: Exception, budget: ReadBudget) -> ReasonCode:
    match error:
        case httpcore.ConnectTimeout():
            return ReasonCode.CONNECT_TIMEOUT
        case httpcore.ConnectError():
            # A reset while connecting happens in the TLS handshake, so somebody did listen.
            is_reset = any(isinstance(cause, ConnectionResetError) for cause in iterate_causes(error))
            return ReasonCode.CONNECTION_RESET if is_reset else ReasonCode.CONNECT_REFUSED
        case httpcore.NetworkError():
            return ReasonCode.CONNECTION_RESET
    return ReasonCode.CONNECTION_RESET if budget.has_ended else ReasonCode.PROTOCOL_ERROR


async def _read_pieces(
    pieces: AsyncIterator[bytes], budget: ReadBudget, proxy: httpcore.Proxy | None
) -> AsyncGenerator[bytes, None]:
    with translate_errors(budget, proxy):
        async for piece in pieces:
            budget.body_left -= len(piece)
            if budget.body_left < 0:
                raise NoAnswer(ReasonCode.PROTOCOL_ERROR, "the body takes too many bytes before it is unpacked")
            yield piece


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
