"""Sends HTTP requests over pools of httpcore, the engine of httpx, and bounds what a server may send.

The transport of httpx takes no network backend of ours, so the pool under it is used; proxies are chosen as httpx does.
"""

from __future__ import annotations

import ssl
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies, proxy_bypass

import h11
import httpcore
import httpx
from h2.exceptions import H2Error

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.body import AnnouncedBody, Body, DeclaredBody
from catalog_probe.probes.targets.target import is_loopback
from catalog_probe.probes.wire import early_answer
from catalog_probe.probes.wire.failure import NoAnswer, chain_of
from catalog_probe.probes.wire.tls import context

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator

CONNECTIONS = 8
"""Connections of a lane's pool at most, unless told: so many requests are under way at once over HTTP/1.1."""

KEPT = 24
"""Idle connections of a pool at most: on a mock a run has some twenty pools."""

KEPT_ALIVE_S = 5.0
"""How long an idle connection is kept."""

BESIDE_BODY = 1_000_000
"""Bytes that an answer may take beside its body: heads, interim answers, the sizes of chunks, trailers, padding."""

READ_BYTES = 256 * 1024  # as much as asyncio reads at once: nothing is left in its buffer, where nobody would see it


class Intake:
    """What one exchange may still read from its connection, in bytes, and how the connection ended."""

    def __init__(self, max_body_bytes: int) -> None:
        self.left = BESIDE_BODY
        self.body_left = 2 * max_body_bytes
        """Before it is unpacked, and what packs badly may become longer."""
        self.is_answered = False
        self.has_ended = False

    def expect_body(self) -> None:
        """The head is there: from now on the body may come as well."""
        self.is_answered = True
        self.left += self.body_left


_INTAKE: ContextVar[Intake] = ContextVar("intake")
"""Set by each exchange; it reads in its own task."""


class BoundedStream(httpcore.AsyncNetworkStream):
    """A connection that gives no exchange more bytes than it may read."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self._stream = stream
        self._tls = stream.get_extra_info("ssl_object")
        self._is_shared = self._tls is not None and self._tls.selected_alpn_protocol() == "h2"
        self._held = b""
        """Bytes that were received and not asked for yet."""

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return bytes of the answer, or none at its end; raise NoAnswer where it breaks off or takes too much."""
        if not self._held:
            self._held = await self._receive(timeout)
        # The last byte waits until it is asked for. If it never is, more came than the answer, and `is_readable` says
        # so: httpcore would take it for the answer to the next request.
        size = min(max_bytes, max(len(self._held) - 1, 1))
        data, self._held = self._held[:size], self._held[size:]
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
        """Return the connection that speaks TLS over this one."""
        try:
            return BoundedStream(await self._stream.start_tls(ssl_context, server_hostname, timeout))
        except httpcore.ConnectError as error:  # many a server resets or ends it to say that it speaks no TLS
            raise NoAnswer(ReasonCode.TLS_FAILED, str(error)) from error

    def get_extra_info(self, info: str) -> Any:
        """Tell about the connection; `is_readable` of an idle one means that it cannot be used again."""
        if info == "is_readable" and (self._held or self._has_tls_data()):
            return True
        return self._stream.get_extra_info(info)

    async def _receive(self, timeout: float | None) -> bytes:
        intake = _INTAKE.get()
        if intake.left < 0:
            raise NoAnswer(ReasonCode.PROTOCOL_ERROR, "the answer takes too many bytes beside its body")
        data = await self._stream.read(READ_BYTES, timeout)
        # Over HTTP/2 an exchange reads for others as well. There the library bounds heads, and time whatever floods.
        if not self._is_shared:
            intake.left -= len(data)
        if not data:
            if not intake.is_answered:
                raise NoAnswer(ReasonCode.CLOSED_WITHOUT_ANSWER, "the connection was closed without an answer")
            if self._is_cut():  # where only the end delimits an answer, it may not be whole (RFC 9112, 9.8)
                raise NoAnswer(ReasonCode.CONNECTION_RESET, "the connection was cut: TLS does not say that it ended")
            intake.has_ended = True
        return data

    def _has_tls_data(self) -> bool:
        try:
            return self._tls is not None and self._tls.read(1) is not None
        except ssl.SSLWantReadError:
            return False
        except ssl.SSLError:
            return True

    def _is_cut(self) -> bool:
        """Whether a TLS connection that has ended was not closed by its other side."""
        try:
            return self._tls is not None and bool(self._tls.read(1))
        except ssl.SSLError:
            return True


class BoundedBackend(httpcore.AnyIOBackend):
    """Opens connections that are bounded."""

    async def connect_tcp(self, *arguments: Any, **options: Any) -> httpcore.AsyncNetworkStream:
        """Connect to a host and port."""
        return BoundedStream(await super().connect_tcp(*arguments, **options))


@dataclass(frozen=True, slots=True)
class Answer:
    """The head of an answer, and its body as it comes, still compressed."""

    status: int
    fields: list[tuple[bytes, bytes]]
    """The headers as they came."""
    http_version: str
    pieces: AsyncIterator[bytes]

    def headers(self) -> dict[str, str]:
        """The headers as text by name in lower case, those of one name as one (RFC 9110, 5.3)."""
        headers: dict[str, str] = {}
        # UTF-8, or else each byte is taken for a character.
        encoding = "utf-8" if _is_utf8(b"\n".join(value for _, value in self.fields)) else "iso-8859-1"
        for field_name, field_value in self.fields:
            name, value = field_name.decode(encoding).lower(), field_value.decode(encoding)
            headers[name] = f"{headers[name]}, {value}" if name in headers else value
        return headers


class Transport:
    """The connections of one lane: HTTP/2 where the server prefers it, proxies where the environment names them.

    Of the time limits it keeps that of connecting; the others are its caller's. A request is sent once: httpcore sends
    again only over HTTP/2, where the server has said that it did not look at a request (GOAWAY).
    """

    def __init__(self, tls: ssl.SSLContext, max_body_bytes: int, connections: int = CONNECTIONS) -> None:
        self._tls = tls
        self._max_body_bytes = max_body_bytes
        self._connections = connections
        self._backend = BoundedBackend()
        self._proxies: dict[tuple[str, str, int], httpcore.Proxy | None] = {}
        self._pools: dict[str, httpcore.AsyncConnectionPool] = {}

    def proxy_host(self, url: httpx.URL) -> str | None:
        """Return host and port of the proxy that a request to a URL goes through; raise NoAnswer as `answer` does."""
        proxy = self._proxy(url)
        return None if proxy is None else f"{proxy.url.host.decode()}:{proxy.url.origin.port}"

    @asynccontextmanager
    async def answer(
        self, request: httpx.Request, connect_s: float, begin: Callable[[], None], body: Body
    ) -> AsyncGenerator[Answer, None]:
        """Send a request; `begin` is called when a connection stands. Leaving the block frees the connection.

        A `DeclaredBody` is sent unless the answer comes first; an `AnnouncedBody` never is.

        Raises:
            NoAnswer: there is no connection to be had, or no answer. Reading the body raises it, too.
        """
        intake = Intake(self._max_body_bytes)
        _INTAKE.set(intake)
        proxy = self._proxy(request.url)

        async def trace(event: str, _: Any) -> None:
            if event.endswith("send_request_headers.started"):
                begin()

        extensions = {"timeout": {"connect": connect_s}, "trace": trace}
        if isinstance(body, DeclaredBody | AnnouncedBody):
            answering = self._answered_early(request, body, proxy, extensions, begin)
        else:
            answering = self._answered(request, proxy, extensions)
        async with AsyncExitStack() as stack:
            with _failures(intake, proxy):
                answer = await stack.enter_async_context(answering)
            intake.expect_body()
            yield replace(answer, pieces=_read(answer.pieces, intake, proxy))

    async def aclose(self) -> None:
        """Close what is kept."""
        for pool in self._pools.values():
            await pool.aclose()

    @asynccontextmanager
    async def _answered(
        self, request: httpx.Request, proxy: httpcore.Proxy | None, extensions: dict[str, Any]
    ) -> AsyncGenerator[Answer, None]:
        pool = self._pool(proxy)
        url, headers = _url(request.url), request.headers.raw
        asking = pool.stream(request.method, url, headers=headers, content=request.read(), extensions=extensions)
        async with asking as response:
            version = response.extensions["http_version"].decode("ascii", "replace")
            yield Answer(response.status, response.headers, version, response.aiter_stream())

    @asynccontextmanager
    async def _answered_early(
        self,
        request: httpx.Request,
        body: DeclaredBody | AnnouncedBody,
        proxy: httpcore.Proxy | None,
        extensions: dict[str, Any],
        begin: Callable[[], None],
    ) -> AsyncGenerator[Answer, None]:
        url = _url(request.url)
        connect_s = extensions["timeout"]["connect"]
        async with self._connected(url.origin, proxy, extensions) as stream:
            if url.scheme == b"https":
                self._tls.set_alpn_protocols(["http/1.1"])
                stream = await stream.start_tls(self._tls, url.host.decode(), connect_s)
            begin()
            head, pieces = await early_answer.ask(stream, request, body)
            version = f"HTTP/{head.http_version.decode()}"
            yield Answer(head.status_code, list(head.headers), version, pieces)

    @asynccontextmanager
    async def _connected(
        self, origin: httpcore.Origin, proxy: httpcore.Proxy | None, extensions: dict[str, Any]
    ) -> AsyncGenerator[httpcore.AsyncNetworkStream, None]:
        """A connection of one exchange, without TLS yet; through a proxy it is a tunnel."""
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

    def _pool(self, proxy: httpcore.Proxy | None) -> httpcore.AsyncConnectionPool:
        key = "" if proxy is None else str(proxy.url)
        if key not in self._pools:
            self._pools[key] = httpcore.AsyncConnectionPool(
                ssl_context=self._tls,
                proxy=proxy,
                max_connections=self._connections,
                max_keepalive_connections=KEPT,
                keepalive_expiry=KEPT_ALIVE_S,
                http2=True,
                network_backend=self._backend,
            )
        return self._pools[key]

    def _proxy(self, url: httpx.URL) -> httpcore.Proxy | None:
        key = url.scheme, url.host, _url(url).origin.port
        if key not in self._proxies:
            self._proxies[key] = _environment_proxy(*key)
        return self._proxies[key]


def _environment_proxy(scheme: str, host: str, port: int) -> httpcore.Proxy | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY name; none for loopback."""
    if is_loopback(host) or proxy_bypass(f"{host}:{port}"):
        return None
    proxies = getproxies()
    address = proxies.get(scheme) or proxies.get("all")
    if not address:
        return None
    try:
        proxy = httpx.Proxy(address if "://" in address else f"http://{address}")
    except (ValueError, httpx.InvalidURL):  # their words quote the address, which may hold a password
        proxy = None
    if proxy is None or proxy.url.scheme not in ("http", "https"):
        raise NoAnswer(ReasonCode.CONNECT_REFUSED, f"the proxy of the environment for {scheme} is no http(s) address")
    tls = context() if proxy.url.scheme == "https" else None
    return httpcore.Proxy(_url(proxy.url), proxy.raw_auth, proxy.headers.raw, tls)


def _url(url: httpx.URL) -> httpcore.URL:
    return httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)


@contextmanager
def _failures(intake: Intake, proxy: httpcore.Proxy | None) -> Iterator[None]:
    """Raise NoAnswer for what the libraries raise."""
    try:
        yield
    except httpcore.ProxyError as error:
        refusal = httpcore.ProxyError(f"the proxy {proxy.url.host.decode() if proxy else ''} answered {error}")
        raise NoAnswer(ReasonCode.CONNECT_REFUSED, str(refusal)) from refusal
    except _FROM_LIBRARIES as error:
        raise NoAnswer(_code(error, intake), str(error)) from error


_FROM_LIBRARIES = (
    httpcore.NetworkError,
    httpcore.TimeoutException,
    httpcore.ProtocolError,
    h11.ProtocolError,
    H2Error,
    ValueError,  # httpcore reads a status over HTTP/2 as a number, whatever it is
)


def _code(error: Exception, intake: Intake) -> ReasonCode:
    match error:
        case httpcore.ConnectTimeout():
            return ReasonCode.CONNECT_TIMEOUT
        case httpcore.ConnectError():
            # A connection that is reset before it stands was reset in the handshake: somebody listened.
            reset = any(isinstance(cause, ConnectionResetError) for cause in chain_of(error))
            return ReasonCode.CONNECTION_RESET if reset else ReasonCode.CONNECT_REFUSED
        case httpcore.NetworkError():
            return ReasonCode.CONNECTION_RESET
    return ReasonCode.CONNECTION_RESET if intake.has_ended else ReasonCode.PROTOCOL_ERROR


async def _read(
    pieces: AsyncIterator[bytes], intake: Intake, proxy: httpcore.Proxy | None
) -> AsyncGenerator[bytes, None]:
    with _failures(intake, proxy):
        async for piece in pieces:
            intake.body_left -= len(piece)
            if intake.body_left < 0:
                raise NoAnswer(ReasonCode.PROTOCOL_ERROR, "the body takes too many bytes before it is unpacked")
            yield piece


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode()
    except UnicodeDecodeError:
        return False
    return True
