"""Which part of a provider's API a request went to, and which error records can occur there."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.reading.record_fields import request_line
from catalog_probe.catalog.recognition.endpoint_index import EndpointIndex

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.model import Record

_VERSION = re.compile(r"v\d+[a-z0-9]*")
_ORDINARY_ROLE = "inference"
"""The role whose key the ordinary part of an API takes."""


@dataclass(frozen=True, slots=True)
class RequestLocation:
    """Where a request went."""

    endpoints: frozenset[str]
    """The endpoint records that have its method and path; of another method, those that have its path."""
    area: str


@dataclass(frozen=True, slots=True)
class ApiAreas:
    """The endpoints of a provider by area: the first segment of a path that is no version, such as `models`."""

    endpoints: EndpointIndex
    _by_endpoint: Mapping[str, str] = field(default_factory=dict)
    _apart: frozenset[str] = frozenset()
    """Endpoints of an API with keys of its own, such as that of an administrator."""

    @classmethod
    def from_records(cls, provider: str, records: Iterable[Record]) -> Self:
        """Read the areas of a provider's endpoint records. Its manifest tells which of them are an API of their own."""
        records = tuple(records)
        about = manifest(provider)
        areas = {
            str(record.address): area_of(request_line(record)[1]) for record in records if record.kind == "endpoints"
        }
        ordinary = {area_of(control.path) for role, control in about.controls.items() if role == _ORDINARY_ROLE}
        others = {area_of(control.path) for control in about.controls.values()} - ordinary
        apart = {address for address, area in areas.items() if area in others}
        return cls(EndpointIndex.from_records(records), areas, frozenset(apart))

    def locate(self, method: str | None, path: str | None) -> RequestLocation | None:
        """Where a request went; None where nobody says. `path` may be a whole URL."""
        if not path:
            return None
        methods = (method.upper(),) if method else ("GET", "POST", "DELETE", "PUT", "PATCH", "WS")
        endpoints = frozenset(
            address
            for name in methods
            for address in self.endpoints.list_by_request(name, path, streamed=name == "POST")
        )
        return RequestLocation(endpoints or frozenset(self.endpoints.list_by_path(path)), area_of(path))

    def can_occur(self, endpoints: frozenset[str], request: RequestLocation | None, texts: str) -> bool:
        """Whether an error of these endpoints can be the answer: that of an API apart, only to a request there.

        Where nobody knows the request, the answer's own texts may speak of that API.
        """
        if not endpoints or not endpoints <= self._apart:
            return True
        areas = {self._by_endpoint.get(address, "") for address in endpoints}
        return any(area in texts for area in areas) if request is None else request.area in areas

    def fits(self, endpoints: frozenset[str], request: RequestLocation | None) -> bool:
        """Whether a record of these endpoints is one of those that are documented where the request went.

        An error that names no endpoint may occur on any. Of a path that no record has, only the area is compared.
        """
        if request is None or not endpoints:
            return True
        if request.endpoints:
            return not endpoints.isdisjoint(request.endpoints)
        areas = {self._by_endpoint.get(address, "") for address in endpoints}
        return request.area in areas or request.area not in self._by_endpoint.values()


def area_of(path: str) -> str:
    """The first segment after the version: `models` of `/v1beta/models/{id}:generate`."""
    segments = [segment for segment in (urlsplit(path).path or path).split("/") if segment]
    start = next((index + 1 for index, segment in enumerate(segments) if _VERSION.fullmatch(segment)), 0)
    return segments[start].partition(":")[0] if start < len(segments) else ""
