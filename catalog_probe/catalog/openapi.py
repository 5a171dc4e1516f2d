"""Export one provider as OpenAPI 3.1: operations, responses, schemas, examples.

Names are stand-ins, as everywhere in the catalog. `x-record` names the record of each operation and answer, and
`x-sources` the rows of the documents.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import USUAL_ADDRESS, manifest
from catalog_probe.catalog.model.exchange import SUCCESS
from catalog_probe.catalog.reading.expectations import documented_answers, expectations, own_expectation
from catalog_probe.catalog.reading.record_fields import claimed_endpoints, description, meaning, request_line
from catalog_probe.catalog.recognition.endpoints import (
    BEARER,
    STREAMED,
    body_schema,
    credential,
    query_schema,
    rule_sentences,
)
from catalog_probe.catalog.text.json_values import build_document

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.envelopes import Envelope
    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.reading.expectations import Expected, StreamRule
    from catalog_probe.catalog.reading.response_headers import HeaderRule


def build_example(envelope: Envelope, aspects: Mapping[str, Json]) -> Json:
    """Return a body that has each aspect at its place in the envelope; aspects without a place are left out."""
    values = {pointer: aspects[aspect] for aspect, pointer in envelope.wire.items() if aspect in aspects and pointer}
    return _complete(build_document(values), envelope.schema)


def _complete(value: Json, schema: Json) -> Json:
    """Convert digits to integers as the schema demands, and add required members that are constant or may be null."""
    if not isinstance(schema, dict):
        return value
    if not isinstance(value, dict):
        is_number = schema.get("type") == "integer" and isinstance(value, str) and value.isdigit()
        return int(value) if is_number else value
    members: dict[str, Json] = {}
    required = schema.get("required") or ()
    for name, member_schema in (schema.get("properties") or {}).items():
        if name in value:
            members[name] = _complete(value[name], member_schema)
        elif name in required and isinstance(member_schema, dict) and _has_default(member_schema):
            members[name] = member_schema.get("const")
    return {**members, **{name: member for name, member in value.items() if name not in members}}


def _has_default(schema: Mapping[str, Json]) -> bool:
    return "const" in schema or "null" in schema.get("type", ())


ANY_ITEM = "*"
"""In a pointer, each item of an array."""

COMPONENTS = "#/components/schemas"
"""The place of schemas in an OpenAPI document."""

_FILE_KEYWORDS = frozenset({"$schema", "$id"})


def envelope_schema(envelope: Envelope) -> Json:
    """Return the schema of an envelope as a component of an OpenAPI document."""
    schema = {key: value for key, value in envelope.schema.items() if key not in _FILE_KEYWORDS}
    return _move_references(schema, f"{COMPONENTS}/{envelope.name}/")


def _move_references(value: Json, prefix: str) -> Json:
    """Rewrite references inside the schema's own file to where the schema is now."""
    if isinstance(value, list):
        return [_move_references(item, prefix) for item in value]
    if not isinstance(value, dict):
        return value
    moved = {key: _move_references(member, prefix) for key, member in value.items()}
    reference = value.get("$ref")
    if isinstance(reference, str) and reference.startswith("#/"):
        moved["$ref"] = f"{prefix}{reference.removeprefix('#/')}"
    return moved


def fields_schema(fields: Mapping[str, Json]) -> dict[str, Json]:
    """Make one schema for the values at JSON pointers; `false` at a pointer forbids a value there."""
    schema: dict[str, Json] = {}
    for pointer, field_schema in fields.items():
        steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
        _put(schema, steps, field_schema)
    return schema


def _put(parent: dict[str, Json], steps: list[str], schema: Json) -> None:
    """Put a schema below another, and make the objects and arrays between them.

    A documented field must be there, so each member on the way is required, but not the items of an array.
    """
    if not steps:
        if isinstance(schema, dict):
            parent.update(schema)
        return
    first, *rest = steps
    if first == ANY_ITEM:
        parent.setdefault("type", "array")
        # `contains`, because some item has the field, and others may be of another kind
        _put(parent.setdefault("contains" if rest else "items", {}), rest, schema)
        return
    parent.setdefault("type", "object")
    properties = parent.setdefault("properties", {})
    if schema is False and not rest:
        properties[first] = False
        return
    required = parent.setdefault("required", [])
    if first not in required:
        required.append(first)
    _put(properties.setdefault(first, {}), rest, schema)


JSON_TYPE = "application/json"

OTHER_REFUSALS = "4XX"
"""The status of every refusal that is not listed by its own."""


@dataclass(slots=True)
class Components:
    """What operations share: shapes of bodies, examples of errors, ways to authenticate."""

    shapes: dict[str, Envelope] = field(default_factory=dict)
    examples: dict[str, Json] = field(default_factory=dict)
    security_schemes: dict[str, Json] = field(default_factory=dict)

    def schema_ref(self, envelope: Envelope) -> dict[str, Json]:
        """Add the shape of an envelope, and return a reference to it."""
        self.shapes[envelope.name] = envelope
        return {"$ref": f"{COMPONENTS}/{envelope.name}"}

    def to_json(self) -> dict[str, Json]:
        """Return the `components` object."""
        return {
            "schemas": {name: envelope_schema(envelope) for name, envelope in sorted(self.shapes.items())},
            "examples": dict(sorted(self.examples.items())),
            "securitySchemes": dict(sorted(self.security_schemes.items())),
        }


def build_responses(
    record: Record, errors: Sequence[Record], components: Components
) -> tuple[dict[str, Json], list[Json]]:
    """Return the responses of an endpoint by status, and the errors that come inside a stream that began well."""
    responses: dict[str, Json] = {}
    success = own_expectation(record, SUCCESS)
    if success is not None:
        status = str(success.status) if success.status is not None else "2XX"
        responses[status] = _success_response(record, success, components)
    stream_errors: list[Json] = []
    for error in errors:
        for answer in documented_answers(error):
            if answer.stream is not None or answer.failure is not None:
                stream_errors.append(describe_error(answer, error))
                continue
            status = str(answer.status) if answer.status is not None else f"{answer.status_class or 4}XX"
            responses[status] = merge_responses(responses.get(status), _error_response(answer, error, components))
    return responses or {"default": {"description": "The documents show no answer."}}, stream_errors


def collect_refusal_envelopes(errors: Iterable[Record]) -> dict[str, dict[str, Envelope]]:
    """Return the envelopes in which a provider refuses, by status; those of every refusal are under `4XX` too."""
    envelopes: dict[str, dict[str, Envelope]] = {OTHER_REFUSALS: {}}
    for error in errors:
        for answer in documented_answers(error):
            is_plain = answer.stream is None and answer.failure is None and answer.envelope.body == "json"
            if is_plain and (answer.status_class or (answer.status or 0) // 100) == 4:
                for status in {OTHER_REFUSALS, str(answer.status or OTHER_REFUSALS)}:
                    envelopes.setdefault(status, {})[answer.envelope.name] = answer.envelope
    return envelopes


def add_provider_refusals(
    responses: Mapping[str, Json], envelopes: Mapping[str, Mapping[str, Envelope]], components: Components
) -> dict[str, Json]:
    """Add what the documents say of the provider as a whole to the responses of an operation.

    They list errors by provider, and seldom say on which endpoints they occur. So any other refusal may come, and a
    listed one may have any of the envelopes that the provider uses for its status.
    """
    description = "Another refusal of the provider: its errors are documented for all of its endpoints together."
    merged = {**responses}
    merged[OTHER_REFUSALS] = merge_responses(responses.get(OTHER_REFUSALS), {"description": description})
    for status in merged.keys() & envelopes.keys():
        response = merged[status]
        if status != OTHER_REFUSALS and "content" not in response:
            continue
        refs = [components.schema_ref(envelope) for _, envelope in sorted(envelopes[status].items())]
        if not refs:
            continue
        any_envelope = {"description": "", "content": {JSON_TYPE: {"schema": {"anyOf": refs}}}}
        merged[status] = {**merge_responses(response, any_envelope), "description": response["description"]}
        own_headers = responses.get(status, {}).get("headers")
        if own_headers is not None:  # merging made them optional, but other refusals are not what is documented here
            merged[status]["headers"] = own_headers
    return merged


def merge_responses(first: Json, second: Json) -> Json:
    """Merge two responses with the same status: either description, body and header may come."""
    if first is None:
        return second
    descriptions = dict.fromkeys([*first["description"].split("\n"), second["description"]])
    merged = {**first, "description": "\n".join(descriptions)}
    records = [*first.get("x-record", ()), *second.get("x-record", ())]
    if records:
        merged["x-record"] = list(dict.fromkeys(records))
    first_headers, second_headers = first.get("headers", {}), second.get("headers", {})
    if first_headers or second_headers:
        in_both = first_headers.keys() & second_headers.keys()
        merged["headers"] = {
            name: {**header, "required": header["required"] and name in in_both}
            for name, header in {**second_headers, **first_headers}.items()
        }
    content = dict(first.get("content", {}))
    for media_type, body in second.get("content", {}).items():
        content[media_type] = _merge_bodies(content[media_type], body) if media_type in content else body
    if content:
        merged["content"] = content
    return merged


def _merge_bodies(first: Mapping[str, Json], second: Mapping[str, Json]) -> dict[str, Json]:
    schemas: list[Json] = []
    for schema in (first["schema"], second["schema"]):
        schemas += [option for option in schema.get("anyOf", [schema]) if option not in schemas]
    merged: dict[str, Json] = {"schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas}}
    examples = {**first.get("examples", {}), **second.get("examples", {})}
    if examples:
        merged["examples"] = examples
    return merged


def describe_error(answer: Expected, error: Record) -> dict[str, Json]:
    """Describe an error that is no HTTP response of its own, as an extension."""
    fields = {"x-record": str(error.address), "summary": error.title, "status": answer.body_status, **answer.wire}
    if answer.stream is not None:
        fields["x-stream"] = _describe_stream(answer.stream)
    if answer.failure is not None:
        fields["x-failure"] = answer.failure
    return {name: value for name, value in fields.items() if value is not None}


def _success_response(record: Record, expected: Expected, components: Components) -> dict[str, Json]:
    ref = components.schema_ref(expected.envelope)
    response: dict[str, Json] = {"description": f"{record.title}: as documented."}
    if expected.headers:
        response["headers"] = _headers(expected.headers)
    if expected.stream is not None:
        stream = {"schema": {"type": "string"}, "x-events": _describe_stream(expected.stream)}
        response["content"] = {"text/event-stream": stream}
    elif expected.envelope.body != "empty":
        schema = {"allOf": [ref, fields_schema(expected.fields)]} if expected.fields else ref
        response["content"] = {_media_type(expected.envelope): {"schema": schema}}
    return response


def _error_response(answer: Expected, error: Record, components: Components) -> dict[str, Json]:
    ref = components.schema_ref(answer.envelope)
    response: dict[str, Json] = {"description": meaning(error) or error.title, "x-record": [str(error.address)]}
    if answer.headers:
        response["headers"] = _headers(answer.headers)
    if answer.envelope.body == "empty":
        return response
    body: dict[str, Json] = {"schema": ref}
    response["content"] = {_media_type(answer.envelope): body}
    if answer.envelope.body == "json":
        aspects = {**answer.wire, "message": meaning(error), "http_status": answer.body_status}
        example = build_example(answer.envelope, {name: value for name, value in aspects.items() if value is not None})
        if example:  # an error that ends a success in its own format has no envelope of errors
            name = str(error.address).replace("/", ".")
            components.examples[name] = {"summary": error.title, "value": example}
            body["examples"] = {name: {"$ref": f"#/components/examples/{name}"}}
    return response


def _headers(rules: Iterable[HeaderRule]) -> dict[str, Json]:
    """Return the headers of an answer; OpenAPI cannot forbid one, so an absent header is described in words."""
    headers: dict[str, Json] = {}
    for rule in rules:
        if "*" in rule.name:
            continue
        schema: dict[str, Json] = {"type": "string"}
        if rule.rule == "equals":
            schema["const"] = rule.value
        if rule.format:
            schema["description"] = rule.format
        is_absent = rule.rule == "absent"
        header: dict[str, Json] = {"required": not is_absent and not rule.optional, "schema": schema}
        if is_absent:
            header["description"] = "Documented as absent."
        headers[rule.name] = header
    return headers


def _describe_stream(stream: StreamRule) -> dict[str, Json]:
    fields = {
        "protocol": stream.protocol,
        "event": stream.event,
        "events": list(stream.events),
        "terminal": stream.terminal,
        "close_code": stream.close_code,
        "grpc_status": stream.grpc_status,
    }
    return {name: value for name, value in fields.items() if value not in (None, [], "")}


def _media_type(envelope: Envelope) -> str:
    return {"json": JSON_TYPE, "text": "text/plain"}.get(envelope.body, "*/*")


METHODS = ("GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE")

_PARAMETER = re.compile(r"\{([^}]+)\}")
_REST_PARAMETER = "rest"  # stands for `*` at the end of a path, which OpenAPI does not have


def build_openapi_document(catalog: Catalog, provider: str) -> dict[str, Json]:
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
