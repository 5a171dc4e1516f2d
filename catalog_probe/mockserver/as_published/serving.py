"""A provider's app as published: contradictions, compression, cookies, pages.

None of it is the provider's answer, so it may neither change a verdict nor be news.
"""

from __future__ import annotations

import gzip
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.as_published.contradictions import (
    PA_CONTRADICTIONS,
    PB_CONTRADICTIONS,
    PC_CONTRADICTIONS,
    PD_CONTRADICTIONS,
    RequestHead,
    WholeAnswer,
    encode_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from catalog_probe.mockserver.as_published.contradictions import Contradiction


COMPRESSED_FROM = 200  # bytes; smaller bodies are not compressed
PAGE_EVERY = 61  # requests until the edge answers one itself
MAX_REMEMBERED = 1_000  # endpoints that had a page and get no second one
KEEP_ALIVE_EVERY = 3  # events of a stream

PAGE = (
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n"
    "<hr><center>edge</center>\r\n</body>\r\n</html>\r\n"
)

# what a stream without news sends; PB has nothing of the kind
KEEP_ALIVES: Mapping[str, str] = {
    "pa": 'event: ping\ndata: {"type": "ping"}',
    "pc": ": keep-alive",
    "pd": ": keep-alive",
}

_CDN = {
    "server": "edge",
    "cf-cache-status": "DYNAMIC",
    "cf-ray": "a1b2c3d4e5f60718-FRA",
    "strict-transport-security": "max-age=31536000; includeSubDomains; preload",
    "x-content-type-options": "nosniff",
    "alt-svc": 'h3=":443"; ma=86400',
    "set-cookie": "__edge=Zm9yIG5vYm9keQ; path=/; HttpOnly; Secure; SameSite=None",
}

# undocumented headers of each answer
HEADERS: Mapping[str, Mapping[str, str]] = {
    "pa": {
        **_CDN,
        "via": "1.1 edge",
        "vary": "Accept-Encoding",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "x-robots-tag": "none",
        "server-timing": "x-originResponse;dur=785",
        "x-envoy-upstream-service-time": "783",
    },
    "pb": {
        "server": "scaffolding",
        "server-timing": "gfet4t7; dur=1217",
        "vary": "Origin, X-Origin, Referer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "SAMEORIGIN",
        "x-xss-protection": "0",
        "alt-svc": 'h3=":443"; ma=2592000,h3-29=":443"; ma=2592000',
    },
    "pc": {
        **_CDN,
        "access-control-expose-headers": "X-Request-ID",
        "x-envoy-upstream-service-time": "86",
    },
    "pd": {
        **_CDN,
        "vary": "origin, access-control-request-method, access-control-request-headers",
        "access-control-expose-headers": "*",
    },
}

# undocumented members of a generation
FIELDS: Mapping[str, Mapping[str, Any]] = {
    "pa": {"context_management": None},
    "pb": {"responseId": "fH8oaunbEbr9qtsPjYGX4A0", "modelVersion": "mock-lite-001"},
    "pc": {"billing": {"payer": "developer"}},
    "pd": {"service_tier": "default"},
}

_GENERATION_MEMBERS = ("usage", "usageMetadata")  # each generation has one of them, and nothing else has


@dataclass
class Edge:
    """The edge of one provider; it remembers which endpoints had a page."""

    provider: str
    _requests: int = 0
    _had_a_page: OrderedDict[str, None] = field(default_factory=OrderedDict)

    def make_page(self, request: RequestHead) -> WholeAnswer | None:
        """Answer in the provider's place, now and then.

        It happens once at each endpoint, so that a retry succeeds.
        """
        self._requests += 1
        endpoint = f"{request.method} {request.path}"
        if self._requests % PAGE_EVERY or endpoint in self._had_a_page:
            return None
        self._had_a_page[endpoint] = None
        if len(self._had_a_page) > MAX_REMEMBERED:
            self._had_a_page.popitem(last=False)
        return WholeAnswer(502, {"content-type": "text/html", **HEADERS[self.provider]}, PAGE.encode())

    def change(self, request: RequestHead, answer: WholeAnswer) -> WholeAnswer:
        """Return a whole answer as it leaves the edge."""
        body, headers = answer.body, self.add_headers(answer.headers)
        is_object = answer.status == 200 and isinstance(answer.json, dict)
        if is_object and any(member in answer.json for member in _GENERATION_MEMBERS):
            body = encode_json({**FIELDS[self.provider], **answer.json})
        if body:
            headers.pop("content-length", None)  # so it is sent in chunks
        if len(body) >= COMPRESSED_FROM and "gzip" in request.headers.get("accept-encoding", ""):
            body, headers["content-encoding"] = gzip.compress(body, mtime=0), "gzip"
        return WholeAnswer(answer.status, headers, body)

    def add_headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers with those of the edge."""
        return {**HEADERS[self.provider], **headers}

    def add_keep_alives(self, blocks: Iterable[str], sent: int) -> Iterator[str]:
        """Put keep-alives between the blocks of a stream, of which `sent` came before."""
        for number, block in enumerate(blocks, sent):
            if number % KEEP_ALIVE_EVERY == 1 and self.provider in KEEP_ALIVES:
                yield KEEP_ALIVES[self.provider]
            yield block


CONTRADICTIONS: Mapping[str, tuple[Contradiction, ...]] = {
    "pa": PA_CONTRADICTIONS,
    "pb": PB_CONTRADICTIONS,
    "pc": PC_CONTRADICTIONS,
    "pd": PD_CONTRADICTIONS,
}

EVENT_STREAM = "text/event-stream"


class AsPublished:
    """The ASGI app of a provider's HTTP host, answering as published."""

    def __init__(self, provider: str, app: ASGIApp) -> None:
        self._app = app
        self._contradictions = CONTRADICTIONS[provider]
        self._edge = Edge(provider)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = _read_head(scope)
        page = self._edge.make_page(request)
        if page is None:
            await self._app(scope, receive, _Sender(self._contradictions, self._edge, request, send).send)
            return
        while (await receive()).get("more_body"):
            pass
        await _send_whole(send, self._edge.change(request, page))


class _Sender:
    """Changes one answer on its way: a stream block by block, any other as a whole."""

    def __init__(self, contradictions: tuple[Contradiction, ...], edge: Edge, request: RequestHead, send: Send) -> None:
        self._contradictions = contradictions
        self._edge = edge
        self._request = request
        self._send = send
        self._status = 0
        self._headers: dict[str, str] = {}
        self._buffer = b""
        self._sent_blocks = 0

    async def send(self, message: Message) -> None:
        """Take a message of the provider's app."""
        if message["type"] == "http.response.start":
            self._status = message["status"]
            self._headers = _decode_headers(message["headers"])
            if self._is_stream:
                headers = _encode_headers(self._edge.add_headers(self._headers))
                await self._send({"type": "http.response.start", "status": self._status, "headers": headers})
            return
        self._buffer += message.get("body", b"")
        has_more = message.get("more_body", False)
        if self._is_stream:
            await self._send_blocks(has_more=has_more)
        elif not has_more:
            await _send_whole(self._send, self._change(WholeAnswer(self._status, self._headers, self._buffer)))

    @property
    def _is_stream(self) -> bool:
        return self._headers.get("content-type", "").startswith(EVENT_STREAM) and self._status < 300

    def _change(self, answer: WholeAnswer) -> WholeAnswer:
        for contradiction in self._contradictions:
            if contradiction.change is not None:
                answer = contradiction.change(self._request, answer) or answer
        return self._edge.change(self._request, answer)

    def _change_block(self, block: str) -> str:
        for contradiction in self._contradictions:
            if contradiction.change_block is not None:
                block = contradiction.change_block(block)
        return block

    async def _send_blocks(self, *, has_more: bool) -> None:
        text = self._buffer.decode("utf-8", "surrogateescape")
        separator = "\r\n\r\n" if "\r\n\r\n" in text else "\n\n"
        *blocks, incomplete = text.split(separator)
        changed = self._edge.add_keep_alives(map(self._change_block, blocks), self._sent_blocks)
        output = "".join(f"{block}{separator}" for block in changed)
        output += "" if has_more else incomplete
        self._sent_blocks += len(blocks)
        self._buffer = incomplete.encode("utf-8", "surrogateescape") if has_more else b""
        body = output.encode("utf-8", "surrogateescape")
        await self._send({"type": "http.response.body", "body": body, "more_body": has_more})


async def _send_whole(send: Send, answer: WholeAnswer) -> None:
    headers = _encode_headers(answer.headers)
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


def _read_head(scope: Scope) -> RequestHead:
    path = scope["path"][len(scope.get("root_path", "")) :]
    return RequestHead(scope["method"], path, _decode_headers(scope["headers"]))


def _decode_headers(headers: list[tuple[bytes, bytes]]) -> dict[str, str]:
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}


def _encode_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
