"""Index of endpoint records by method and path."""

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
    """The endpoint records of one provider, found by a request."""

    templates: tuple[_Template, ...] = ()

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> Self:
        """Index the endpoint records, the longest path first.

        Of several with one path, the one with most errors goes first. The others describe one aspect of the endpoint
        only, such as the limits of a tier.
        """
        records = tuple(records)
        error_counts = Counter(endpoint for record in records for endpoint in claimed_endpoints(record))
        templates = []
        for record in records:
            if record.kind == "endpoints":
                method, path = request_line(record)
                templates.append(_Template(str(record.address), method, _compile_path(path), len(path)))
        return cls(tuple(sorted(templates, key=lambda template: (-template.length, -error_counts[template.address]))))

    def find(self, exchange: Exchange, claimed: Collection[str] = ()) -> str:
        """Return the address of the endpoint that an exchange asked; empty if none fits.

        The longest path goes first, and of several endpoints with it one that the record has `claimed`. A request to
        the path of a claimed endpoint belongs to it even with a method that no record has.
        """
        request, response = exchange.request, exchange.response
        streamed = response is not None and response.events is not None and request.method == "POST"
        return self.find_by_request(request.method, request.url, claimed, streamed=streamed)

    def find_by_request(self, method: str, url: str, claimed: Collection[str] = (), *, streamed: bool = False) -> str:
        """Return the address of the endpoint with this method and path, by the rules of `find`."""
        templates = self._match_path(url)
        claimed_templates = [template for template in templates if template.address in claimed]
        methods = [STREAMED, method, ANY_METHOD] if streamed else [method, ANY_METHOD]
        for candidates in (claimed_templates, templates):
            for allowed_method in methods:
                for template in candidates:
                    if template.method == allowed_method:
                        return template.address
        return claimed_templates[0].address if claimed_templates else ""

    def list_by_request(self, method: str, url: str, *, streamed: bool = False) -> tuple[str, ...]:
        """Return the addresses of all endpoint records with this method and path. Several may describe one endpoint."""
        methods = {method, ANY_METHOD, *((STREAMED,) if streamed else ())}
        templates = [template for template in self._match_path(url) if template.method in methods]
        return _longest_addresses(templates)

    def list_by_path(self, url: str) -> tuple[str, ...]:
        """Return the addresses of the endpoint records with this path, whatever their method."""
        return _longest_addresses(self._match_path(url))

    def _match_path(self, url: str) -> list[_Template]:
        """Return the templates that match the end of the path: a target's base address may have a path of its own."""
        path = urlsplit(url).path or url
        return [template for template in self.templates if template.path.search(path)]


def _longest_addresses(templates: list[_Template]) -> tuple[str, ...]:
    return tuple(template.address for template in templates if template.length == templates[0].length)


def _compile_path(path: str) -> re.Pattern[str]:
    """Compile a path template: `{id}` matches a segment or a part of it, and `*` any rest."""
    escaped = re.escape(path).replace(r"\*", ".*")
    return re.compile(_PARAMETER.sub("[^/]+", escaped) + "$")
