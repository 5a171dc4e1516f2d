"""Export one provider as OpenAPI 3.1: HTTP endpoints with their errors; streams and sockets are extensions.

Names are stand-ins, as everywhere in the catalog. `x-record` names the record of each operation and answer, and
`x-sources` the rows of the documents.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from catalog_probe.catalog.exports.responses import (
    Components,
    add_provider_refusals,
    build_responses,
    collect_refusal_envelopes,
    describe_error,
    merge_responses,
)
from catalog_probe.catalog.files.manifest import USUAL_ADDRESS, manifest
from catalog_probe.catalog.reading.expectations import documented_answers, expectations
from catalog_probe.catalog.reading.record_fields import claimed_endpoints, description, request_line
from catalog_probe.catalog.reading.requests import BEARER, body_schema, credential, query_schema, rule_sentences
from catalog_probe.catalog.recognition.endpoint_index import STREAMED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Json, Record

METHODS = ("GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE")

_PARAMETER = re.compile(r"\{([^}]+)\}")
_REST_PARAMETER = "rest"  # stands for `*` at the end of a path, which OpenAPI does not have


def build_document(catalog: Catalog, provider: str) -> dict[str, Json]:
    """Build the OpenAPI document of a provider.

    Raises:
        CatalogError: it has no manifest.
    """
    records = catalog.select(provider=provider)
    errors = _errors_by_endpoint(records)
    components = Components()
    paths: dict[str, dict[str, Json]] = defaultdict(dict)
    # Several records may describe one operation. The first gives its description, so those with parameters come first.
    for record in sorted(records, key=lambda record: not (body_schema(record) or query_schema(record))):
        if record.kind == "endpoints":
            method, path = request_line(record)
            _add_endpoint(paths[_template(path)], method, record, _refusals(record, errors, catalog), components)
    named_errors = {str(error.address): error for own in errors.values() for error in own}
    refusal_envelopes = collect_refusal_envelopes(named_errors.values())
    for item in paths.values():
        for key, operation in item.items():
            if not key.startswith("x-"):
                responses = add_provider_refusals(operation["responses"], refusal_envelopes, components)
                operation["responses"] = responses
    about = manifest(provider).about.removesuffix(".")
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{provider.upper()} as its documents have it",
            "version": catalog.digest[:12],
            "description": f"{about}. Exported from a catalog of what is documented; names are stand-ins.",
        },
        "servers": [_server(provider, USUAL_ADDRESS)],
        "paths": dict(sorted(paths.items())),
        "components": components.to_json(),
    }


def _server(provider: str, address: str) -> dict[str, Json]:
    """Return the path at which the mock serves an address: `auth_url` of `pc` is at `/pc-auth`."""
    suffix = "" if address == USUAL_ADDRESS else f"-{address.removesuffix('_url').replace('_', '-')}"
    return {"url": f"/{provider}{suffix}", "description": "where the mock serves it"}


def _errors_by_endpoint(records: Iterable[Record]) -> Mapping[str, Sequence[Record]]:
    errors: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        for endpoint in claimed_endpoints(record):
            errors[endpoint].append(record)
    return errors


def _refusals(record: Record, errors: Mapping[str, Sequence[Record]], catalog: Catalog) -> Sequence[Record]:
    """List the errors that name an endpoint, and those that the endpoint names for its rules and its credential."""
    refusals = {str(error.address): error for error in errors.get(str(record.address), ())}
    named = {expected.address for expected in expectations(record, catalog.__getitem__)} - {str(record.address)}
    for address in sorted(named):
        refusals[address] = catalog[address]
    return tuple(refusals.values())


def _add_endpoint(
    item: dict[str, Json], method: str, record: Record, errors: Sequence[Record], components: Components
) -> None:
    """Add an endpoint to the path item: as an operation, into an operation that is there, or as an extension."""
    key = "post" if method == STREAMED else method.lower()
    if method not in (*METHODS, STREAMED):
        extension = "x-any-method" if method == "*" else f"x-{key}"
        item.setdefault(extension, []).append(_describe_endpoint(record, errors))
        return
    operation = _operation(record, errors, components)
    existing = item.setdefault(key, operation)
    if existing is not operation:
        existing["x-record"] += operation["x-record"]
        for status, response in operation["responses"].items():
            existing["responses"][status] = merge_responses(existing["responses"].get(status), response)


def _describe_endpoint(record: Record, errors: Iterable[Record]) -> dict[str, Json]:
    """Describe an endpoint that OpenAPI cannot express: a socket, or a request by any method."""
    return {
        "x-record": str(record.address),
        "summary": record.title,
        "description": description(record),
        "x-errors": [describe_error(answer, error) for error in errors for answer in documented_answers(error)],
    }


def _operation(record: Record, errors: Sequence[Record], components: Components) -> dict[str, Json]:
    operation: dict[str, Json] = {
        "operationId": f"{record.address.family}_{record.address.slug}",
        "summary": record.title,
        "description": "\n".join(filter(None, (description(record), *rule_sentences(record)))),
        "tags": [record.address.family],
        "x-record": [str(record.address)],
        "x-sources": list(record.sources),
    }
    hosts = manifest(record.provider).hosts
    if str(record.address) in hosts:
        operation["servers"] = [_server(record.provider, hosts[str(record.address)])]
    parameters = [*_path_parameters(record), *_query_parameters(record)]
    if parameters:
        operation["parameters"] = parameters
    body = body_schema(record)
    if body is not None:
        content = {"application/json": {"schema": dict(body)}}
        operation["requestBody"] = {"required": bool(body.get("required")), "content": content}
    key = credential(record)
    if key is not None:
        name = f"{key.scheme}_{key.header}".replace("-", "_")
        if key.scheme == BEARER:
            components.security_schemes[name] = {"type": "http", "scheme": BEARER}
        else:
            components.security_schemes[name] = {"type": "apiKey", "in": "header", "name": key.header}
        operation["security"] = [{name: []}]
    operation["responses"], stream_errors = build_responses(record, errors, components)
    if stream_errors:
        operation["x-stream-errors"] = stream_errors
    return operation


def _path_parameters(record: Record) -> Iterator[dict[str, Json]]:
    _, path = request_line(record)
    for name in _PARAMETER.findall(_template(path)):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _query_parameters(record: Record) -> Iterator[dict[str, Json]]:
    query = query_schema(record)
    for name, schema in (query.get("properties") or {}).items():
        if schema is False:
            continue
        schema = dict(schema) if isinstance(schema, dict) else {}
        text = schema.pop("description", "")
        parameter = {"name": name, "in": "query", "required": name in (query.get("required") or ()), "schema": schema}
        yield {**parameter, "description": text} if text else parameter


def _template(path: str) -> str:
    return path.replace("*", f"{{{_REST_PARAMETER}}}")
