"""What stands before a real provider: compression, chunks, cookies, headers of its own, a page now and then.

None of it is the provider's answer: it may neither change a verdict nor be news.
"""

from __future__ import annotations

import gzip
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.as_published.answers import Answer, Asked, as_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

COMPRESSED_FROM = 200
"""Bytes: smaller bodies are sent as they are."""

PAGE_EVERY = 61
"""After how many requests the edge answers one itself."""

PAGES_APART = 1_000
"""How many other endpoints are remembered as having had a page, so that asking again gets past it."""

PAGE = (
    "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n"
    "<hr><center>edge</center>\r\n</body>\r\n</html>\r\n"
)

KEEP_ALIVES: Mapping[str, str] = {
    "pa": 'event: ping\ndata: {"type": "ping"}',
    "pc": ": keep-alive",
    "pd": ": keep-alive",
}
"""What says in a stream that there will be more, and nothing else. PB has no such thing."""

KEEP_ALIVE_EVERY = 3
"""How many events of a stream there are for one of them."""

_CDN = {
    "server": "edge",
    "cf-cache-status": "DYNAMIC",
    "cf-ray": "a1b2c3d4e5f60718-FRA",
    "strict-transport-security": "max-age=31536000; includeSubDomains; preload",
    "x-content-type-options": "nosniff",
    "alt-svc": 'h3=":443"; ma=86400',
    "set-cookie": "__edge=Zm9yIG5vYm9keQ; path=/; HttpOnly; Secure; SameSite=None",
}

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
"""What each sends beside what is documented."""

FIELDS: Mapping[str, Mapping[str, Any]] = {
    "pa": {"context_management": None},
    "pb": {"responseId": "fH8oaunbEbr9qtsPjYGX4A0", "modelVersion": "mock-lite-001"},
    "pc": {"billing": {"payer": "developer"}},
    "pd": {"service_tier": "default"},
}
"""What is in a generation beside what is documented."""

_GENERATIONS = ("usage", "usageMetadata")
"""One of these is in each generation, and in nothing else."""


@dataclass
class Edge:
    """What stands before one provider; it remembers where it has answered itself."""

    provider: str
    _asked: int = 0
    _had_a_page: OrderedDict[str, None] = field(default_factory=OrderedDict)

    def page(self, asked: Asked) -> Answer | None:
        """The answer of the edge itself, now and then, and never twice in a row to the same request."""
        self._asked += 1
        endpoint = f"{asked.method} {asked.path}"
        if self._asked % PAGE_EVERY or endpoint in self._had_a_page:
            return None
        self._had_a_page[endpoint] = None
        if len(self._had_a_page) > PAGES_APART:
            self._had_a_page.popitem(last=False)
        return Answer(502, {"content-type": "text/html", **HEADERS[self.provider]}, PAGE.encode())

    def dressed(self, asked: Asked, answer: Answer) -> Answer:
        """A whole answer as it leaves the edge."""
        body, headers = answer.body, {**HEADERS[self.provider], **answer.headers}
        if answer.status == 200 and isinstance(answer.json, dict) and any(each in answer.json for each in _GENERATIONS):
            body = as_json({**FIELDS[self.provider], **answer.json})
        if body:
            headers.pop("content-length", None)  # so it is sent in chunks
        if len(body) >= COMPRESSED_FROM and "gzip" in asked.headers.get("accept-encoding", ""):
            body, headers["content-encoding"] = gzip.compress(body, mtime=0), "gzip"
        return Answer(answer.status, headers, body)

    def stream_headers(self, headers: Mapping[str, str]) -> Mapping[str, str]:
        """Those of an event stream."""
        return {**HEADERS[self.provider], **headers}

    def kept_alive(self, blocks: Iterable[str], told: int) -> Iterator[str]:
        """Blocks of an event stream, with some that say nothing between them; `told` came before."""
        for number, block in enumerate(blocks, told):
            if number % KEEP_ALIVE_EVERY == 1 and self.provider in KEEP_ALIVES:
                yield KEEP_ALIVES[self.provider]
            yield block
