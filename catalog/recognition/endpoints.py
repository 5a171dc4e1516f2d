"""Which endpoint record a request was sent to, by its method and path."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from catalog.reading.facts import request_line

if TYPE_CHECKING:
    from catalog.model import Exchange, Record

ANY_METHOD = "*"
STREAMED = "SSE"
"""The method of an endpoint record that speaks of the streamed form of a POST (1:2.1, 1:4.2)."""

_PARAMETER = re.compile(r"\\\{[^}]*\\\}")


@dataclass(frozen=True, slots=True)
class _Template:
    address: str
    method: str
    path: re.Pattern[str]
    length: int


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The endpoint records of one provider, to be found by a request."""

    templates: tuple[_Template, ...] = ()

    @classmethod
    def of(cls, records: Iterable[Record]) -> Self:
        found = []
        for record in records:
            if record.kind == "endpoints":
                method, path = request_line(record)
                found.append(_Template(str(record.address), method, _pattern(path), len(path)))
        return cls(tuple(sorted(found, key=lambda each: -each.length)))

    def find(self, exchange: Exchange) -> str:
        """The address of the endpoint that was asked, the one with the longest path first; empty where none fits.

        A target's base address may have a path of its own, so a template is matched with the end of the request's.
        """
        request, response = exchange.request, exchange.response
        path = urlsplit(request.url).path or request.url
        streamed = response is not None and response.events is not None and request.method == "POST"
        for method in (*((STREAMED,) if streamed else ()), request.method, ANY_METHOD):
            for each in self.templates:
                if each.method == method and each.path.search(path):
                    return each.address
        return ""


def _pattern(path: str) -> re.Pattern[str]:
    """A path template as a pattern for the end of a path: `{id}` is one segment or part of it, a last `*` any rest."""
    escaped = re.escape(path).replace(r"\*", ".*")
    return re.compile(_PARAMETER.sub("[^/]+", escaped) + "$")
