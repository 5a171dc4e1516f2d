"""Sends one HTTP request, once, and observes everything that comes back."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx

from catalog_probe.catalog.model import Exchange, Reason, Request, Response
from catalog_probe.catalog.model.clock import ms_since
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.body import AnnouncedBody, BytesBody, DeclaredBody, JsonBody
from catalog_probe.probes.wire import body
from catalog_probe.probes.wire.cookies import Cookies
from catalog_probe.probes.wire.failure import NoAnswer, reason_of
from catalog_probe.probes.wire.observer import Observer
from catalog_probe.probes.wire.tls import context
from catalog_probe.probes.wire.transport import CONNECTIONS, Transport

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.targets.dialect import Dialect
    from catalog_probe.probes.wire.address import Origin
    from catalog_probe.probes.wire.transport import Answer

CONNECT_S = 10.0
"""How long connecting may take at most."""

SHOWN_OF_CAPPED = 4096
"""Characters kept of a body that was larger than the cap."""

HEADERS = {
    "accept": "*/*",
    "accept-encoding": body.ACCEPT_ENCODING,
    "connection": "keep-alive",
    "user-agent": "catalog-probe",
}
"""What every request says, unless the call says otherwise."""

WITH_CONTENT = ("POST", "PUT", "PATCH")
"""Methods whose requests tell the length of a body that they have not (RFC 9110, 8.6)."""


_Content = tuple[AsyncIterator[bytes], str, int]
"""A body as it comes, in what it is packed, and how much of it is read at most."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one exchange, in seconds and bytes."""

    timeout_s: float
    max_body_bytes: int


class HttpWire:
    """The HTTP connections of one lane. Redirects are not followed; proxies of the environment are used."""

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
        trusted = context(ca_file, client_cert_file) if tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        self._transport = Transport(trusted, limits.max_body_bytes, connections)
        self._cookies = Cookies()
        """What this credential was told to bring along: providers' gateways tell clients apart by it."""

    @staticmethod
    def read_origin(url: str) -> Origin:
        """Where a request to `url` goes."""
        parsed = httpx.URL(url)
        return parsed.scheme, f"{parsed.userinfo!r}{parsed.host}", parsed.port

    async def exchange(self, call: Call, url: str, headers: Mapping[str, str], label: str, since: float) -> Exchange:
        """Send `call` to `url` with `headers`, both complete but in stand-ins; `since` is when the attempt began.

        Never raises for what the network or the server does: a missing answer is an exchange with a failure.
        """
        started = time.perf_counter()
        request, asked = self._request(call, url, headers)
        seen: Response | Reason
        proxy = http_version = None
        try:
            proxy = self._transport.proxy_host(request.url)
            async with asyncio.timeout(CONNECT_S + self._limits.timeout_s) as limit:
                asking = _Asking(limit, call.timeout_s or self._limits.timeout_s)
                connect_s = call.connect_timeout_s or connect_s_within(self._limits)
                async with self._transport.answer(request, connect_s, asking.begin, call.body) as answer:
                    http_version = answer.http_version
                    seen = await self._observed(call, request, answer, started, asking)
        except (NoAnswer, OSError, zlib.error) as error:
            late = isinstance(error, TimeoutError) and asking.ends_at is None
            seen = reason_of(_NO_CONNECTION if late else error)
        exchange = self._observer.exchange(label, asked, seen, started=started, since=since)
        return replace(exchange, http_version=http_version, proxy=proxy)

    async def aclose(self) -> None:
        await self._transport.aclose()

    def _request(self, call: Call, url: str, headers: Mapping[str, str]) -> tuple[httpx.Request, Request]:
        """The request as it goes out, and as it is observed: in stand-ins."""
        content, shown = self._content(call)
        sent = self._dialect.headers_out(headers)
        if isinstance(call.body, JsonBody):
            sent.setdefault("content-type", "application/json")
        if isinstance(call.body, DeclaredBody | AnnouncedBody):
            sent["content-length"] = str(call.body.length)
        if isinstance(call.body, AnnouncedBody):
            sent["expect"] = "100-continue"
        query = tuple((key, self._dialect.text_out(value)) for key, value in call.query)
        address = httpx.URL(url, params=httpx.QueryParams(query)) if query else httpx.URL(url)
        # What httpx adds to a request's headers it adds by making all of them anew.
        told = {"host": address.netloc.decode(), **HEADERS, **sent}
        if content or (call.method in WITH_CONTENT and "transfer-encoding" not in told):
            told.setdefault("content-length", str(len(content)))
        request = httpx.Request(
            call.method,
            address,
            headers=told,
            cookies=self._cookies or None,
            stream=httpx.ByteStream(content),
        )
        return request, self._observer.request(call.method, str(address), sent, shown)

    def _content(self, call: Call) -> tuple[bytes, Any]:
        match call.body:
            case JsonBody(value):
                return json.dumps(self._dialect.json_out(value)).encode(), value
            case BytesBody(data):
                return data, data.decode("utf-8", "backslashreplace")
            case DeclaredBody(length):
                return b"", f"[{length} bytes declared in content-length]"
        return b"", None

    async def _observed(
        self, call: Call, request: httpx.Request, answer: Answer, started: float, asking: _Asking
    ) -> Response:
        told = answer.headers()
        if "set-cookie" in told:
            self._cookies.extract_cookies(httpx.Response(answer.status, headers=answer.fields, request=request))
        content = answer.pieces, told.get("content-encoding", ""), self._limits.max_body_bytes
        headers = self._observer.headers(told)
        if call.stream and "text/event-stream" in headers.get("content-type", "").lower():
            return await self._streamed(answer.status, headers, content, started, asking.left_s)
        return await self._whole(answer.status, headers, content)

    async def _whole(self, status: int, headers: Mapping[str, str], content: _Content) -> Response:
        ended = "complete"
        try:
            raw = await body.read(*content)
        except body.BodyTooLarge as error:
            raw, ended = error.kept, "capped"
        value, body_type = self._observer.body(raw)
        if ended == "capped":
            value, body_type = str(value)[:SHOWN_OF_CAPPED], "text"
        return Response(status=status, headers=headers, body=value, body_type=body_type, ended=ended)

    async def _streamed(
        self, status: int, headers: Mapping[str, str], content: _Content, started: float, left_s: float
    ) -> Response:
        from catalog_probe.probes.wire import sse  # few answers are streams

        stream = await sse.read(
            body.capped(*content),
            lambda: ms_since(started),
            stall_s=min(sse.STALL_S, left_s * 0.4),
            whole_s=left_s * 0.5,
            by_line=self._events_named_by_line,
        )
        events = self._observer.stream(stream.events)
        return Response(status=status, headers=headers, events=events, ended=stream.ended)


class _Asking:
    """The time that one request has.

    The answer's begins when the request is sent, and not before: were it one limit with connecting, a machine too busy
    to look at a connection that stands would take its own lateness for the provider's.
    """

    def __init__(self, limit: asyncio.Timeout, answer_s: float) -> None:
        self._limit = limit
        self._answer_s = answer_s
        self.ends_at: float | None = None
        """When the answer must be there, by the loop's clock; None until the request is sent."""

    def begin(self) -> None:
        """A connection stands, and the request is about to be sent."""
        self.ends_at = asyncio.get_running_loop().time() + self._answer_s
        self._limit.reschedule(self.ends_at)

    @property
    def left_s(self) -> float:
        """Seconds that are left for the answer."""
        return (self.ends_at or 0.0) - asyncio.get_running_loop().time()


_NO_CONNECTION = NoAnswer(ReasonCode.CONNECT_TIMEOUT, "no connection came free in time")


def connect_s_within(limits: Limits) -> float:
    """How long connecting may take, in seconds, where the call itself does not say."""
    return min(CONNECT_S, limits.timeout_s)
