"""Sends one HTTP request, once, and observes everything that comes back."""

from __future__ import annotations

import json
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import httpcore
import httpx

from catalog.envelopes.pointer import find
from catalog.model import Exchange, Reason, Request, Response
from catalog.model.clock import ms_since
from probes.calls.body import Content, Declared, JsonBody
from probes.wire import body
from probes.wire.failure import reason_of
from probes.wire.observer import Observer
from probes.wire.tls import context
from probes.wire.watched import WatchingBackend

if TYPE_CHECKING:
    from probes.calls.call import Call
    from probes.target.dialect import Dialect
    from probes.wire.redact import Redactor

CONNECTIONS = 8
"""One small pool a lane: a large shared one gets slower as concurrency grows."""

KEPT_ALIVE_S = 5.0
"""How long a connection is kept for the next request."""

CONNECT_S = 10.0
"""How long connecting may take at most."""

EARLY_ANSWER_S = 1.0
"""How long the sender of a declared body waits for an answer before it starts to send in earnest."""

GLANCE_S = 0.002
"""How often it looks whether an answer has come."""

SHOWN_OF_CAPPED = 4096
"""Characters kept of a body that was larger than the cap."""

HEADERS = {
    "accept": "*/*",
    "accept-encoding": body.ACCEPT_ENCODING,
    "connection": "keep-alive",
    "user-agent": "catalog-probe",
}
"""What every request says, unless the call says otherwise."""

_CHUNK = b" " * 65_536


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one exchange, in seconds and bytes."""

    timeout_s: float
    max_body_bytes: int


class HttpWire:
    """The HTTP connections of one lane. Redirects are not followed and proxies of the environment are not used."""

    def __init__(
        self,
        dialect: Dialect,
        redactor: Redactor,
        limits: Limits,
        *,
        tls: bool,
        ca_file: str = "",
        client_cert_file: str = "",
        events_named_by_line: bool = False,
    ) -> None:
        self._dialect = dialect
        self._events_named_by_line = events_named_by_line
        self._redactor = redactor
        self._observer = Observer(redactor, dialect)
        self._limits = limits
        self._tls = context(ca_file, client_cert_file) if tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._transport = self._new_transport()
        self._cookies = httpx.Cookies()
        """What this credential was told to bring along: providers' gateways tell clients apart by it."""

    async def exchange(self, call: Call, url: str, headers: Mapping[str, str], label: str, since: float) -> Exchange:
        """Send `call` to `url` with `headers`, both complete but in stand-ins; `since` is when the attempt began.

        Never raises for what the network or the server does: a missing answer is an exchange with a failure.
        """
        started = time.perf_counter()
        connection = _Connection(call.timeout_s or self._limits.timeout_s)
        request, asked = self._request(call, url, headers, connection)
        seen: Response | Reason
        try:
            with anyio.fail_after(CONNECT_S + self._limits.timeout_s) as connection.deadline:
                if isinstance(call.body, Declared):
                    # its sender must see the connection begin, so it cannot be one of the pool
                    async with self._new_transport() as transport:
                        seen = await self._answer(transport, call, request, started)
                else:
                    seen = await self._answer(self._transport, call, request, started)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, TimeoutError, zlib.error, ssl.SSLError) as error:
            late = isinstance(error, TimeoutError) and not connection.asked
            seen = reason_of(httpx.ConnectTimeout("") if late else error, self._observer.text)
        return self._observer.exchange(label, asked, seen, started=started, since=since)

    async def aclose(self) -> None:
        await self._transport.aclose()

    def _new_transport(self) -> httpx.AsyncHTTPTransport:
        # No client around it: what that does about each request (redirects, hooks, authentication) is a tenth of our
        # CPU and never wanted here.
        transport = httpx.AsyncHTTPTransport(verify=self._tls, trust_env=False)
        # httpx has no option for what opens connections; its pool is one of httpcore, which has.
        transport._pool = httpcore.AsyncConnectionPool(
            ssl_context=self._tls,
            max_connections=CONNECTIONS,
            max_keepalive_connections=CONNECTIONS,
            keepalive_expiry=KEPT_ALIVE_S,
            network_backend=WatchingBackend(self._limits.max_body_bytes),
        )
        return transport

    def _request(
        self, call: Call, url: str, headers: Mapping[str, str], connection: _Connection
    ) -> tuple[httpx.Request, Request]:
        """The request as it goes out, and as it is kept: in stand-ins and redacted."""
        content, shown = self._content(call)
        sent = self._dialect.headers_out(headers)
        if isinstance(call.body, JsonBody):
            sent.setdefault("content-type", "application/json")
        if isinstance(call.body, Declared):
            sent["content-length"] = str(call.body.length)
        query = httpx.QueryParams(tuple((key, self._dialect.text_out(value)) for key, value in call.query))
        request = httpx.Request(
            call.method,
            url,
            content=content,
            headers=HEADERS | sent,
            params=query or None,
            cookies=self._cookies,
            extensions={"timeout": self._time_limits(call).as_dict(), "trace": connection.trace},
        )
        if isinstance(call.body, Declared):
            request.stream = _DeclaredBody(call.body.length, connection)
        return request, self._observer.request(call.method, str(request.url), sent, shown)

    def _time_limits(self, call: Call) -> httpx.Timeout:
        """Each phase has its own limit, so that a late connection is told from a late answer."""
        answer_s = call.timeout_s or self._limits.timeout_s
        connect_s = call.connect_s or connect_s_within(self._limits)
        return httpx.Timeout(answer_s, connect=connect_s, pool=self._limits.timeout_s)

    def _content(self, call: Call) -> tuple[bytes | None, Any]:
        match call.body:
            case JsonBody(value):
                return json.dumps(self._dialect.json_out(value)).encode(), value
            case Content(data):
                return data, data.decode("utf-8", "backslashreplace")
            case Declared(length):
                return None, f"[{length} bytes declared in content-length]"
        return None, None

    async def _answer(
        self, transport: httpx.AsyncHTTPTransport, call: Call, request: httpx.Request, started: float
    ) -> Response:
        response = await transport.handle_async_request(request)
        response.request = request
        try:
            if "set-cookie" in response.headers:
                self._cookies.extract_cookies(response)
            if response.status_code < httpx.codes.OK:
                raise httpx.RemoteProtocolError(f"HTTP {response.status_code} in place of an answer")
            headers = self._observer.headers(dict(response.headers))
            if call.stream and "text/event-stream" in headers.get("content-type", ""):
                return await self._streamed(response, headers, started)
            return await self._whole(call, response, headers)
        finally:
            await response.aclose()

    async def _whole(self, call: Call, response: httpx.Response, headers: Mapping[str, str]) -> Response:
        ended = "complete"
        try:
            raw = await body.read(response, self._limits.max_body_bytes)
        except body.BodyTooLarge as error:
            raw, ended = error.kept, "capped"
        value, body_type = body.parsed(raw)
        del raw  # it may be as large as what was made of it
        # Learnt before the body is made evidence, or this very answer would show what it hands out.
        for secret in (find(value, pointer) for pointer in call.secrets):
            if isinstance(secret, str):
                self._redactor.keep(secret, seen_as=self._dialect.text_in(secret))
        observed, body_type = self._observer.evidence(value, body_type)
        if ended == "capped":  # cut only now: half a secret would not be recognised
            observed, body_type = str(observed)[:SHOWN_OF_CAPPED], "text"
        return Response(status=response.status_code, headers=headers, body=observed, body_type=body_type, ended=ended)

    async def _streamed(self, response: httpx.Response, headers: Mapping[str, str], started: float) -> Response:
        from probes.wire import sse

        left_s = anyio.current_effective_deadline() - anyio.current_time()
        stream = await sse.read(
            body.capped(response, self._limits.max_body_bytes),
            lambda: ms_since(started),
            stall_s=min(sse.STALL_S, left_s * 0.4),
            whole_s=left_s * 0.5,
            by_line=self._events_named_by_line,
        )
        events = self._observer.stream(stream.events)
        return Response(status=response.status_code, headers=headers, events=events, ended=stream.ended)


class _Connection:
    """What carries one request, as httpcore tells of it while it works.

    The answer's time begins when the request is sent, and not before: were it one limit with connecting, a machine
    too busy to look at a connection that stands would take its own lateness for the provider's.
    """

    def __init__(self, answer_s: float) -> None:
        self._answer_s = answer_s
        self.deadline: anyio.CancelScope | None = None
        self.stream: Any = None
        """The network stream, where this request opened it."""
        self.asked = False
        """Whether the request began to be sent, and so a connection stands."""

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            self.stream = info["return_value"]
        elif event.endswith(".send_request_headers.started"):
            self.asked = True
            if self.deadline is not None:
                self.deadline.deadline = anyio.current_time() + self._answer_s


class _DeclaredBody(httpx.AsyncByteStream):
    """A body whose length is announced, and which is no longer sent once an answer has arrived.

    The server may answer from Content-Length alone (413). httpx reads no answer before the body is sent, so this
    stream watches the socket: as soon as there is something to read it ends the upload by the error with which
    httpcore says that the peer takes no more, and httpcore then reads the answer.
    """

    def __init__(self, size: int, connection: _Connection) -> None:
        self._size = size
        self._connection = connection

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._size
        patience_s = EARLY_ANSWER_S
        while left > 0:
            if await self._answered(patience_s):
                raise httpcore.WriteError("the answer came before the body was sent")
            patience_s = 0.0
            piece = _CHUNK[: min(len(_CHUNK), left)]
            left -= len(piece)
            yield piece

    async def _answered(self, patience_s: float) -> bool:
        """Whether an answer waits on the socket, or arrives there in time."""
        deadline = time.perf_counter() + patience_s
        while not self._connection.stream.get_extra_info("is_readable"):
            if time.perf_counter() >= deadline:
                return False
            await anyio.sleep(GLANCE_S)
        return True


def connect_s_within(limits: Limits) -> float:
    """How long connecting may take, in seconds, where the call itself does not say."""
    return min(CONNECT_S, limits.timeout_s)
