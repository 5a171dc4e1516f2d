"""Areas of a provider's API, and which error records can occur in each."""

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
_ORDINARY_ROLE = "inference"  # the role of the key for the ordinary part of an API


@dataclass(frozen=True, slots=True)
class RequestLocation:
    """The endpoints and the area that a request went to."""

    endpoints: frozenset[str]
    """The endpoint records with its method and path; if there is none, those with its path."""
    area: str


@dataclass(frozen=True, slots=True)
class ApiAreas:
    """The endpoints of a provider by area. The area is the first path segment after the version, such as `models`."""

    endpoints: EndpointIndex
    _area_by_endpoint: Mapping[str, str] = field(default_factory=dict)
    _separate: frozenset[str] = frozenset()
    """Endpoints of a separate API with its own keys, such as an administration API."""

    @classmethod
    def from_records(cls, provider: str, records: Iterable[Record]) -> Self:
        """Find the areas of a provider's endpoint records. The controls in its manifest show the separate APIs."""
        records = tuple(records)
        controls = manifest(provider).controls
        areas = {
            str(record.address): area_of(request_line(record)[1]) for record in records if record.kind == "endpoints"
        }
        ordinary_areas = {area_of(control.path) for role, control in controls.items() if role == _ORDINARY_ROLE}
        separate_areas = {area_of(control.path) for control in controls.values()} - ordinary_areas
        separate = {address for address, area in areas.items() if area in separate_areas}
        return cls(EndpointIndex.from_records(records), areas, frozenset(separate))

    def locate_request(self, method: str | None, path: str | None) -> RequestLocation | None:
        """Return where a request went; None if the path is unknown. `path` may be a whole URL."""
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
        """Whether an error of these endpoints can be the answer.

        An error of a separate API can only answer a request to that API. If the request is unknown, the answer's texts
        must name the area.
        """
        if not endpoints or not endpoints <= self._separate:
            return True
        areas = {self._area_by_endpoint.get(address, "") for address in endpoints}
        return any(area in texts for area in areas) if request is None else request.area in areas

    def fits(self, endpoints: frozenset[str], request: RequestLocation | None) -> bool:
        """Whether a record of these endpoints is documented for the endpoint that the request went to.

        An error that names no endpoint may occur on any. For an undocumented path, only the areas are compared.
        """
        if request is None or not endpoints:
            return True
        if request.endpoints:
            return not endpoints.isdisjoint(request.endpoints)
        areas = {self._area_by_endpoint.get(address, "") for address in endpoints}
        return request.area in areas or request.area not in self._area_by_endpoint.values()


def area_of(path: str) -> str:
    """Return the first segment after the version: `models` of `/v1beta/models/{id}:generate`."""
    segments = [segment for segment in (urlsplit(path).path or path).split("/") if segment]
    start = next((index + 1 for index, segment in enumerate(segments) if _VERSION.fullmatch(segment)), 0)
    return segments[start].partition(":")[0] if start < len(segments) else ""
