"""Sends one HTTP request, once, and observes everything that comes back."""

from __future__ import annotations

import asyncio
import json
import ssl
import time
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import h11

from catalog.envelopes.pointer import find
from catalog.model import Exchange, Reason, Request, Response
from catalog.model.clock import ms_since
from catalog.model.codes import ReasonCode
from probes.calls.body import Content, Declared, JsonBody
from probes.wire import body
from probes.wire.failure import NoAnswer, reason_of
from probes.wire.http11 import Connection, Head, request
from probes.wire.observer import Observer
from probes.wire.origin import Origin, addressed
from probes.wire.pool import Pool
from probes.wire.tls import context

if TYPE_CHECKING:
    from probes.calls.call import Call
    from probes.target.dialect import Dialect
    from probes.wire.cookies import Cookies
    from probes.wire.redact import Redactor

CONNECT_S = 10.0
"""How long connecting may take at most."""

BESIDE_BODY = 1_000_000
"""Bytes on the wire that an answer may take beyond twice the cap on its body: heads, chunks, trailers, padding."""

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


@dataclass(frozen=True, slots=True)
class Limits:
    """Caps of one exchange, in seconds and bytes."""

    timeout_s: float
    max_body_bytes: int


@dataclass(frozen=True, slots=True)
class _Outgoing:
    """A request as it goes out."""

    url: str
    origin: Origin
    target: str
    method: str
    headers: Mapping[str, str]
    content: bytes


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
        trusted = context(ca_file, client_cert_file) if tls else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        trusted.set_alpn_protocols(["http/1.1"])
        self._pool = Pool(trusted, 2 * limits.max_body_bytes + BESIDE_BODY)
        self._cookies: Cookies | None = None
        """None until an answer sets one, which hardly any does."""

    async def exchange(self, call: Call, url: str, headers: Mapping[str, str], label: str, since: float) -> Exchange:
        """Send `call` to `url` with `headers`, both complete but in stand-ins; `since` is when the attempt began.

        Never raises for what the network or the server does: a missing answer is an exchange with a failure.
        """
        started = time.perf_counter()
        outgoing, asked = self._request(call, url, headers)
        answer_s = call.timeout_s or self._limits.timeout_s
        connect_s = call.connect_s or connect_s_within(self._limits)
        sent = False
        seen: Response | Reason
        try:
            async with asyncio.timeout(CONNECT_S + self._limits.timeout_s) as limit:
                async with self._pool.connection(outgoing.origin, connect_s) as connection:
                    # The answer's time begins when the request is sent, and not before: were it one limit with
                    # connecting, a machine too busy to look at a connection that stands would take its own lateness
                    # for the provider's.
                    deadline = asyncio.get_running_loop().time() + answer_s
                    limit.reschedule(deadline)
                    sent = True
                    seen = await self._answer(connection, call, outgoing, started, deadline)
        except (NoAnswer, h11.ProtocolError, OSError, zlib.error) as error:
            late = isinstance(error, TimeoutError) and not sent
            seen = reason_of(_NO_CONNECTION if late else error, self._observer.text)
        return self._observer.exchange(label, asked, seen, started=started, since=since)

    async def aclose(self) -> None:
        await self._pool.aclose()

    def _request(self, call: Call, url: str, headers: Mapping[str, str]) -> tuple[_Outgoing, Request]:
        """The request as it goes out, and as it is kept: in stand-ins and redacted."""
        content, shown = self._content(call)
        sent = self._dialect.headers_out(headers)
        if isinstance(call.body, JsonBody):
            sent.setdefault("content-type", "application/json")
        if isinstance(call.body, Declared):
            sent["content-length"] = str(call.body.length)
        query = [(key, self._dialect.text_out(value)) for key, value in call.query]
        origin, target = addressed(url, query)
        whole = f"{origin}{target}"
        own = {"host": origin.authority}
        if content is not None or (call.body is None and call.method in WITH_CONTENT):
            own["content-length"] = str(len(content or b""))
        if self._cookies is not None and (cookie := self._cookies.header(whole)):
            own["cookie"] = cookie
        outgoing = _Outgoing(whole, origin, target, call.method, own | HEADERS | sent, content or b"")
        return outgoing, self._observer.request(call.method, whole, sent, shown)

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
        self, connection: Connection, call: Call, outgoing: _Outgoing, started: float, deadline: float
    ) -> Response:
        asking = request(outgoing.method, outgoing.target, outgoing.headers)
        if isinstance(call.body, Declared):
            await connection.send_declared(asking, call.body.length)
        else:
            connection.send(asking, outgoing.content)
        head = await connection.head()
        headers = head.headers()
        if "set-cookie" in headers:
            self._learn_cookies(outgoing.url, head)
        encoding = headers.get("content-encoding", "")
        shown = self._observer.headers(headers)
        if call.stream and "text/event-stream" in shown.get("content-type", ""):
            return await self._streamed(connection, encoding, Response(head.status, shown), started, deadline)
        return await self._whole(connection, encoding, Response(head.status, shown), call)

    def _learn_cookies(self, url: str, head: Head) -> None:
        if self._cookies is None:
            from probes.wire.cookies import Cookies

            self._cookies = Cookies()
        self._cookies.learn(url, head.all_of(b"set-cookie"))

    async def _whole(self, connection: Connection, encoding: str, begun: Response, call: Call) -> Response:
        ended = "complete"
        try:
            raw = await body.read(connection.pieces(), encoding, self._limits.max_body_bytes)
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
        return Response(begun.status, begun.headers, observed, body_type, ended=ended)

    async def _streamed(
        self, connection: Connection, encoding: str, begun: Response, started: float, deadline: float
    ) -> Response:
        from probes.wire import sse

        left_s = deadline - asyncio.get_running_loop().time()
        stream = await sse.read(
            body.capped(connection.pieces(), encoding, self._limits.max_body_bytes),
            lambda: ms_since(started),
            stall_s=min(sse.STALL_S, left_s * 0.4),
            whole_s=left_s * 0.5,
            by_line=self._events_named_by_line,
        )
        return Response(begun.status, begun.headers, events=self._observer.stream(stream.events), ended=stream.ended)


_NO_CONNECTION = NoAnswer(ReasonCode.CONNECT_TIMEOUT, "no connection came free in time")


def connect_s_within(limits: Limits) -> float:
    """How long connecting may take, in seconds, where the call itself does not say."""
    return min(CONNECT_S, limits.timeout_s)
