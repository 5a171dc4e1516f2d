"""Which endpoint record a request was sent to, by its method and path."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from catalog_probe.catalog.reading.record_fields import claimed_endpoints, request_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from catalog_probe.catalog.model import Exchange, Record

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
class EndpointIndex:
    """The endpoint records of one provider, to be found by a request."""

    templates: tuple[_Template, ...] = ()

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> Self:
        """Those of a provider's records. Of several with one path, that on which most errors occur goes first.

        Others tell of one aspect of it alone: what a tier may, what a limit still allows.
        """
        known = tuple(records)
        errors = Counter(endpoint for record in known for endpoint in claimed_endpoints(record))
        found = []
        for record in known:
            if record.kind == "endpoints":
                method, path = request_line(record)
                found.append(_Template(str(record.address), method, _pattern(path), len(path)))
        return cls(tuple(sorted(found, key=lambda each: (-each.length, -errors[each.address]))))

    def find(self, exchange: Exchange, claimed: Collection[str] = ()) -> str:
        """The address of the endpoint that was asked, the one with the longest path first; empty where none fits.

        Of several, one that the record `claimed` goes first. What went to the path of such a one with a method that
        none has was sent to it as well.
        """
        request, response = exchange.request, exchange.response
        streamed = response is not None and response.events is not None and request.method == "POST"
        return self.find_by_request(request.method, request.url, claimed, streamed=streamed)

    def find_by_request(self, method: str, url: str, claimed: Collection[str] = (), *, streamed: bool = False) -> str:
        """The address of the endpoint with this method and path, as `find` says it of an exchange.

        A target's base address may have a path of its own, so a template is matched with the end of the request's.
        """
        fits = self._with_path_of(url)
        own = [each for each in fits if each.address in claimed]
        methods = (*((STREAMED,) if streamed else ()), method, ANY_METHOD)
        named = (each for among in (own, fits) for wanted in methods for each in among if each.method == wanted)
        return next((each.address for each in (*named, *own)), "")

    def list_by_request(self, method: str, url: str, *, streamed: bool = False) -> tuple[str, ...]:
        """The addresses of all endpoints with this method and path: several records may speak of one."""
        methods = {method, ANY_METHOD, *((STREAMED,) if streamed else ())}
        fits = [each for each in self._with_path_of(url) if each.method in methods]
        return tuple(each.address for each in fits if each.length == fits[0].length)

    def list_by_path(self, url: str) -> tuple[str, ...]:
        """The addresses of the endpoints with this path, whatever their method."""
        fits = self._with_path_of(url)
        return tuple(each.address for each in fits if each.length == fits[0].length)

    def _with_path_of(self, url: str) -> list[_Template]:
        """Those whose path the request's ends in, the longest first."""
        path = urlsplit(url).path or url
        return [each for each in self.templates if each.path.search(path)]


def _pattern(path: str) -> re.Pattern[str]:
    """A path template as a pattern for the end of a path: `{id}` is one segment or part of it, a last `*` any rest."""
    escaped = re.escape(path).replace(r"\*", ".*")
    return re.compile(_PARAMETER.sub("[^/]+", escaped) + "$")
