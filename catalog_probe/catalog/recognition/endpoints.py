"""Endpoints: what they take, an index by method and path, and areas of the API."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.reading.expectations import rules_of
from catalog_probe.catalog.reading.record_fields import claimed_endpoints, request_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from catalog_probe.catalog.model import Exchange, Json, Record


BEARER = "bearer"
"""The scheme of a token in `authorization`; with any other scheme the key has a header of its own."""


@dataclass(frozen=True, slots=True)
class Credential:
    """The header (stand-in name) that carries the credential, and the scheme in which it is written."""

    header: str
    scheme: str


def credential(record: Record) -> Credential | None:
    """Return how an endpoint is authenticated, or None if its record does not say."""
    auth = record.data.get("auth")
    if not isinstance(auth, dict) or not auth.get("header"):
        return None
    return Credential(str(auth["header"]), str(auth.get("scheme") or ""))


def body_schema(record: Record) -> Mapping[str, Json] | None:
    """Return the JSON Schema of the documented fields of the body, or None."""
    body = (record.data.get("request") or {}).get("body")
    return body if isinstance(body, dict) else None


def query_schema(record: Record) -> Mapping[str, Json]:
    """Return the JSON Schema of the documented query parameters, or an empty object."""
    query = (record.data.get("request") or {}).get("query")
    return query if isinstance(query, dict) else {}


def rule_sentences(record: Record) -> tuple[str, ...]:
    """Return the rules for requests, one sentence each."""
    return tuple(str(rule["rule"]) for rule in rules_of(record))


def keyless_refusals(records: Iterable[Record]) -> frozenset[str]:
    """Return the error records that only a request without a credential causes.

    Endpoints name such a record for a missing credential and never for a wrong one, and it has neither other causes nor
    a code. This prevents that a refusal of a request with a key is evidence of a record about a missing key. Example:
    PC's 401 with the code `invalid_api_key` has a code, so it is none of these.
    """
    records = tuple(records)
    auths = [auth for record in records if isinstance(auth := record.data.get("auth"), dict)]
    missing = {auth["missing"] for auth in auths if auth.get("missing")}
    wrong = {auth["wrong"] for auth in auths if auth.get("wrong")}
    identified = {str(record.address) for record in records if record.data.get("causes") or record.data.get("code")}
    return frozenset(missing - wrong - identified)


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

        An endpoint that the record has `claimed` goes first, then its own method before `*`, then the longest path. A
        request to the path of a claimed endpoint belongs to it even with a method that no record has. Example: a GET of
        `/v1/models/m-1` belongs to `/v1/models/{id}`, and not to `/v1/*`.
        """
        request, response = exchange.request, exchange.response
        streamed = response is not None and response.events is not None and request.method == "POST"
        return self.find_by_request(request.method, request.url, claimed, streamed=streamed)

    def find_by_request(self, method: str, url: str, claimed: Collection[str] = (), *, streamed: bool = False) -> str:
        """Return the address of the endpoint with this method and path, by the rules of `find`."""
        templates = self._match_path(url)  # the longest first, an order that min() keeps among equals
        methods = [STREAMED, method, ANY_METHOD] if streamed else [method, ANY_METHOD]
        likeliest = min(
            (template for template in templates if template.method in methods),
            key=lambda template: (template.address not in claimed, methods.index(template.method)),
            default=None,
        )
        if likeliest is None:
            likeliest = next((template for template in templates if template.address in claimed), None)
        return likeliest.address if likeliest is not None else ""

    def list_by_request(self, method: str, url: str, *, streamed: bool = False) -> tuple[str, ...]:
        """Return the addresses of all endpoint records with this method and path; several may describe one endpoint.

        Example: one record describes a POST to `/v1/files`, and another one only its limits in a tier.
        """
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
        must name the area. Example: a 429 of PA with the usual body is an error of the compliance API only if the path
        is one of `/v1/compliance`, or if the path is unknown and the message has the word `compliance`.
        """
        if not endpoints or not endpoints <= self._separate:
            return True
        areas = {self._area_by_endpoint.get(address, "") for address in endpoints}
        return any(area in texts for area in areas) if request is None else request.area in areas

    def fits(self, endpoints: frozenset[str], request: RequestLocation | None) -> bool:
        """Whether a record of these endpoints is documented for the endpoint that the request went to.

        An error that names no endpoint may occur on any. For an undocumented path, only the areas are compared.
        Example: an error of `/v1/files` fits a request to the undocumented `/v1/files/x/y`, and none to `/v1/messages`.
        """
        if request is None or not endpoints:
            return True
        if request.endpoints:
            return not endpoints.isdisjoint(request.endpoints)
        areas = {self._area_by_endpoint.get(address, "") for address in endpoints}
        is_unknown_area = request.area not in self._area_by_endpoint.values()
        return request.area in areas or is_unknown_area


def area_of(path: str) -> str:
    """Return the first segment after the version, or the first of all without a version.

    >>> area_of("/v1beta/models/m-1:generate")
    'models'
    """
    segments = [segment for segment in (urlsplit(path).path or path).split("/") if segment]
    start = next((index + 1 for index, segment in enumerate(segments) if _VERSION.fullmatch(segment)), 0)
    return segments[start].partition(":")[0] if start < len(segments) else ""
