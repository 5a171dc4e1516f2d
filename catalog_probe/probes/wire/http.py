"""Sends HTTP requests, each once, and observes everything that comes back.

Of cookies only few are kept, and only ones that can be sent.
"""

from __future__ import annotations

import asyncio
import json
import re
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx

from catalog_probe.catalog.model import Exchange, Reason, Request, Response
from catalog_probe.catalog.model.clock import ms_since
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import AnnouncedBody, BytesBody, DeclaredBody, JsonBody
from catalog_probe.probes.wire.answer import (
    ACCEPT_ENCODING,
    BodyTooLarge,
    NoAnswer,
    Observer,
    decode_capped,
    explain_error,
    read_body,
)
from catalog_probe.probes.wire.transport import CONNECTIONS, Transport, make_tls_context

if TYPE_CHECKING:
    from http.cookiejar import Cookie

    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.targets.dialect import Dialect
    from catalog_probe.probes.wire.address import Origin
    from catalog_probe.probes.wire.transport import HttpAnswer


# Cookies that are kept; of more, the first ones are dropped (RFC 6265, 6.1).
MAX_COOKIES = 50

# Bytes of all cookies together: a request with a larger head would be refused for our fault.
MAX_BYTES = 4_096

# Characters that a request can carry. A cookie with any other would keep every later request from being sent.
_SENDABLE = re.compile(r"[\x20-\x7e]*")


class Cookies(httpx.Cookies):
    """Keeps the cookies that a server sets, within bounds."""

    def extract_cookies(self, response: httpx.Response) -> None:
        """Take over an answer's cookies, and drop the oldest beyond the bounds."""
        super().extract_cookies(response)
        left = MAX_BYTES
        for number, cookie in enumerate(reversed(list(self.jar))):
            size = len(cookie.name) + len(cookie.value or "") + len("=; ")
            if number >= MAX_COOKIES or size > left or not _is_sendable(cookie):
                self.jar.clear(cookie.domain, cookie.path, cookie.name)
            else:
                left -= size


def _is_sendable(cookie: Cookie) -> bool:
    texts = (cookie.name, cookie.value or "", cookie.path, cookie.domain)
    return all(_SENDABLE.fullmatch(text) for text in texts)


# Seconds that connecting may take at most.
CONNECT_S = 10.0

# Characters that are kept of a body larger than the cap.
CAPPED_LENGTH = 4096

# The headers of every request, unless the call sets others.
DEFAULT_HEADERS = {
    "accept": "*/*",
    "accept-encoding": ACCEPT_ENCODING,
    "connection": "keep-alive",
    "user-agent": "catalog-probe",
}

# Methods whose requests state the length even of an empty body (RFC 9110, 8.6).
METHODS_WITH_BODY = ("POST", "PUT", "PATCH")

_NO_CONNECTION = NoAnswer(ReasonCode.CONNECT_TIMEOUT, "no connection came free in time")


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one exchange, in seconds and bytes."""

    timeout_s: float
    max_body_bytes: int


class HttpWire:
    """The HTTP connections of one lane.

    Redirects are not followed. Proxies of the environment are used.
    """

    def __init__(
        self,
        dialect: Dialect,
        limits: Limits,
        *,
        tls: bool,
        ca_file: str = "",
        client_cert_file: str = "",
        events_named_by_line: bool = False,
        connections: int = CONNECTIONS,
    ) -> None:
        self._dialect = dialect
        self._events_named_by_line = events_named_by_line
        self._observer = Observer(dialect)
        self._limits = limits
        # Reading the certificate authorities takes time, and plain http does not need them.
        tls_context = make_tls_context(ca_file, client_cert_file) if tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._transport = Transport(tls_context, limits.max_body_bytes, connections)
        self._cookies = Cookies()

    @staticmethod
    def read_origin(url: str) -> Origin:
        """Return where a request to `url` goes."""
        parsed = httpx.URL(url)
        return parsed.scheme, f"{parsed.userinfo!r}{parsed.host}", parsed.port

    async def exchange(self, call: Call, url: str, headers: Mapping[str, str], label: str, since: float) -> Exchange:
        """Send `call` to `url` with `headers`, both complete but in stand-ins.

        `since` is when the attempt began.

        Never raises for what the network or the server does: a missing answer is an exchange with a failure.
        """
        started = time.perf_counter()
        sent_request, request = self._make_request(call, url, headers)
        outcome: Response | Reason
        proxy = http_version = None
        try:
            proxy = self._transport.find_proxy_host(sent_request.url)
            async with asyncio.timeout(CONNECT_S + self._limits.timeout_s) as timeout:
                time_limit = _AnswerTimeLimit(timeout, call.timeout_s or self._limits.timeout_s)
                connect_s = call.connect_timeout_s or connect_limit_s(self._limits)
                async with self._transport.send(sent_request, connect_s, time_limit.begin, call.body) as answer:
                    http_version = answer.http_version
                    outcome = await self._observe(call, sent_request, answer, started, time_limit)
        except (NoAnswer, OSError, zlib.error) as error:
            is_without_connection = isinstance(error, TimeoutError) and time_limit.ends_at is None
            outcome = explain_error(_NO_CONNECTION if is_without_connection else error)
        exchange = self._observer.make_exchange(label, request, outcome, started=started, since=since)
        return replace(exchange, http_version=http_version, proxy=proxy)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._transport.aclose()

    def _make_request(self, call: Call, url: str, headers: Mapping[str, str]) -> tuple[httpx.Request, Request]:
        """Return the request as it is sent, and as it is observed: in stand-ins."""
        content, shown_body = self._encode_body(call)
        sent_headers = self._dialect.headers_out(headers)
        if isinstance(call.body, JsonBody):
            sent_headers.setdefault("content-type", "application/json")
        if isinstance(call.body, DeclaredBody | AnnouncedBody):
            sent_headers["content-length"] = str(call.body.length)
        if isinstance(call.body, AnnouncedBody):
            sent_headers["expect"] = "100-continue"
        query = tuple((key, self._dialect.text_out(value)) for key, value in call.query)
        address = httpx.URL(url, params=httpx.QueryParams(query)) if query else httpx.URL(url)
        # All headers are set here, because httpx builds them anew for each one that it adds.
        all_headers = {"host": address.netloc.decode(), **DEFAULT_HEADERS, **sent_headers}
        if content or (call.method in METHODS_WITH_BODY and "transfer-encoding" not in all_headers):
            all_headers.setdefault("content-length", str(len(content)))
        sent_request = httpx.Request(
            call.method,
            address,
            headers=all_headers,
            cookies=self._cookies or None,
            stream=httpx.ByteStream(content),
        )
        return sent_request, self._observer.make_request(call.method, str(address), sent_headers, shown_body)

    def _encode_body(self, call: Call) -> tuple[bytes, Any]:
        """Return the body as it is sent, and as it is shown."""
        match call.body:
            case JsonBody(value):
                return json.dumps(self._dialect.json_out(value)).encode(), value
            case BytesBody(data):
                return data, data.decode("utf-8", "backslashreplace")
            case DeclaredBody(length):
                return b"", f"[{length} bytes declared in content-length]"
        return b"", None

    async def _observe(
        self, call: Call, request: httpx.Request, answer: HttpAnswer, started: float, time_limit: _AnswerTimeLimit
    ) -> Response:
        received_headers = answer.headers()
        if "set-cookie" in received_headers:
            self._cookies.extract_cookies(httpx.Response(answer.status, headers=answer.fields, request=request))
        encoding = received_headers.get("content-encoding", "")
        headers = self._observer.translate_headers(received_headers)
        response = Response(status=answer.status, headers=headers)
        if call.stream and "text/event-stream" in headers.get("content-type", "").lower():
            return await self._observe_stream(response, answer.pieces, encoding, started, time_limit.left_s)
        return await self._observe_body(response, answer.pieces, encoding)

    async def _observe_body(self, response: Response, pieces: AsyncIterator[bytes], encoding: str) -> Response:
        try:
            raw = await read_body(pieces, encoding, self._limits.max_body_bytes)
        except BodyTooLarge as error:
            value, _ = self._observer.parse_body(error.start)
            return replace(response, body=str(value)[:CAPPED_LENGTH], body_type="text", ended="capped")
        value, body_type = self._observer.parse_body(raw)
        return replace(response, body=value, body_type=body_type)

    async def _observe_stream(
        self, response: Response, pieces: AsyncIterator[bytes], encoding: str, started: float, left_s: float
    ) -> Response:
        from catalog_probe.probes.wire import events  # few answers are streams

        # Within the time limit of the answer, so that a slow stream is observed as one, and not as no answer.
        stream = await events.read_stream(
            decode_capped(pieces, encoding, self._limits.max_body_bytes),
            lambda: ms_since(started),
            stall_s=min(events.STALL_S, left_s * 0.4),
            whole_s=left_s * 0.5,
            by_line=self._events_named_by_line,
        )
        return replace(response, events=self._observer.translate_events(stream.events), ended=stream.ended)


class _AnswerTimeLimit:
    """The time limit of an answer, which begins when its request is sent.

    One limit for connecting and answering would blame the provider for our own lateness: a busy machine may notice
    late that a connection is there.
    """

    def __init__(self, timeout: asyncio.Timeout, answer_s: float) -> None:
        self._timeout = timeout
        self._answer_s = answer_s
        self.ends_at: float | None = None
        """When the answer must be there, by the loop's clock; None until the request is sent."""

    def begin(self) -> None:
        """Start the limit: there is a connection, and the request is about to be sent."""
        self.ends_at = asyncio.get_running_loop().time() + self._answer_s
        self._timeout.reschedule(self.ends_at)

    @property
    def left_s(self) -> float:
        """Seconds that are left for the answer."""
        return (self.ends_at or 0.0) - asyncio.get_running_loop().time()


def connect_limit_s(limits: Limits) -> float:
    """Return how long connecting may take, in seconds, unless the call says so."""
    return min(CONNECT_S, limits.timeout_s)
