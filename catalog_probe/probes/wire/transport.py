"""Sends HTTP requests over bounded pools of httpcore, httpx's engine.

The transport of httpx takes no network backend of ours, so the pool below it is used. Proxies are chosen as httpx does.
"""

from __future__ import annotations

import ssl
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.request import getproxies, proxy_bypass

import h11
import httpcore
import httpx
from h2.config import H2Configuration
from h2.exceptions import H2Error

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls.body import AnnouncedBody, Body, DeclaredBody
from catalog_probe.probes.targets.target import is_loopback
from catalog_probe.probes.wire.bounded_stream import READ_BUDGET, BoundedBackend, ReadBudget
from catalog_probe.probes.wire.early_answer import send_until_answered
from catalog_probe.probes.wire.failure import NoAnswer, iterate_causes
from catalog_probe.probes.wire.tls import make_tls_context

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator

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
