"""OpenAPI 3.1 of one provider: its HTTP endpoints with their errors; streams, sockets and the rest as extensions.

Names are stand-ins, as everywhere in the catalog. `x-record` names the record behind each operation and answer,
`x-sources` the rows of the documents.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.example import build_example
from catalog_probe.catalog.exports.schemas import COMPONENTS, envelope_schema, fields_schema
from catalog_probe.catalog.files.manifest import USUAL_ADDRESS, manifest
from catalog_probe.catalog.model.labels import SUCCESS
from catalog_probe.catalog.reading.expectations import documented_answers, expectation, expectations
from catalog_probe.catalog.reading.record_fields import claimed_endpoints, description, meaning, request_line
from catalog_probe.catalog.reading.requests import BEARER, body_schema, credential, query_schema, rule_sentences
from catalog_probe.catalog.recognition.endpoint_index import STREAMED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.envelopes.envelope import Envelope
    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.reading.headers import HeaderRule
    from catalog_probe.catalog.reading.streams import StreamRule

METHODS = ("GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE")
_PARAMETER = re.compile(r"\{([^}]+)\}")
_JSON = "application/json"
_REFUSED = 4
_OTHERS = "4XX"
"""Stands for every refusal that is not listed by its status."""

EXPORTED = "Exported from a catalog of what is documented; names are stand-ins."

_REST = "rest"
"""The name of the parameter that stands for `*` at the end of a path, which OpenAPI cannot say."""


@dataclass(slots=True)
class _Components:
    """What operations share, each once: shapes of bodies, examples of errors, ways to authenticate."""

    shapes: dict[str, Envelope] = field(default_factory=dict)
    examples: dict[str, Json] = field(default_factory=dict)
    schemes: dict[str, Json] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        return {
            "schemas": {name: envelope_schema(shape) for name, shape in sorted(self.shapes.items())},
            "examples": dict(sorted(self.examples.items())),
            "securitySchemes": dict(sorted(self.schemes.items())),
        }


def build_document(catalog: Catalog, provider: str) -> dict[str, Json]:
    """The OpenAPI document of a provider.

    Raises:
        CatalogError: it has no manifest.
    """
    about = manifest(provider)
    records = tuple(catalog.select(provider=provider))
    errors = _by_endpoint(each for each in records if each.kind == "errors")
    paths: dict[str, dict[str, Json]] = defaultdict(dict)
    parts = _Components()
    refused = _refused_with(errors)
    # Several records may speak of one operation: who says what is sent there describes it.
    for record in sorted(records, key=lambda each: not (body_schema(each) or query_schema(each))):
        if record.kind == "endpoints":
            method, path = request_line(record)
            _add(paths[_templated(path)], method, record, _refusals(record, errors, catalog), parts)
    for item in paths.values():
        for key, operation in item.items():
            if not key.startswith("x-"):
                operation["responses"] = _with_the_providers(operation["responses"], refused, parts)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{provider.upper()} as its documents have it",
            "version": catalog.digest[:12],
            "description": f"{about.about.removesuffix('.')}. {EXPORTED}",
        },
        "servers": [_server(provider, USUAL_ADDRESS)],
        "paths": dict(sorted(paths.items())),
        "components": parts.to_json(),
    }


def _server(provider: str, address: str) -> dict[str, Json]:
    """Where the mock serves what is found at an address: `auth_url` of `pc` is at `/pc-auth`."""
    host = "" if address == USUAL_ADDRESS else f"-{address.removesuffix('_url').replace('_', '-')}"
    return {"url": f"/{provider}{host}", "description": "where the mock serves it"}


def _by_endpoint(errors: Iterable[Record]) -> Mapping[str, Sequence[Record]]:
    found: dict[str, list[Record]] = defaultdict(list)
    for record in errors:
        for endpoint in claimed_endpoints(record):
            found[endpoint].append(record)
    return found


def _refused_with(errors: Mapping[str, Sequence[Record]]) -> Mapping[str, Mapping[str, Envelope]]:
    """The envelopes in which the provider refuses, by status; those of every 4xx together under `4XX`."""
    found: dict[str, dict[str, Envelope]] = defaultdict(dict)
    for error in {str(each.address): each for own in errors.values() for each in own}.values():
        for answer in documented_answers(error):
            whole = answer.stream is None and answer.failure is None and answer.envelope.body == "json"
            if whole and (answer.status_class or (answer.status or 0) // 100) == _REFUSED:
                for status in {_OTHERS, str(answer.status or _OTHERS)}:
                    found[status][answer.envelope.name] = answer.envelope
    return found


def _with_the_providers(
    responses: Mapping[str, Json], refused: Mapping[str, Mapping[str, Envelope]], parts: _Components
) -> dict[str, Json]:
    """The responses of an operation, and what the documents say of the provider as a whole.

    They list errors by provider, and tell of few where these come and where not: any other refusal may come, and one
    that is listed may stand in any of the envelopes that the provider has for its status.
    """
    told = "Another refusal of the provider: its errors are documented for all of its endpoints together."
    whole = {**responses, _OTHERS: _both(responses.get(_OTHERS), {"description": told})}
    for status in whole.keys() & refused.keys():
        if "content" in whole[status] or status == _OTHERS:
            parts.shapes |= refused[status]
            places: list[Json] = [{"$ref": _place(each)} for _, each in sorted(refused[status].items())]
            shown = {"description": "", "content": {_JSON: {"schema": {"anyOf": places}}}}
            whole[status] = {**_both(whole[status], shown), "description": whole[status]["description"]}
            if "headers" in responses.get(status, {}):
                whole[status]["headers"] = responses[status]["headers"]
    return whole


def _refusals(record: Record, errors: Mapping[str, Sequence[Record]], catalog: Catalog) -> Sequence[Record]:
    """The errors that name an endpoint, and those that the endpoint names: each rule's, and those of its credential."""
    named = {each.address for each in expectations(record, catalog.__getitem__)} - {str(record.address)}
    own = {str(each.address): each for each in errors.get(str(record.address), ())}
    return tuple({**own, **{address: catalog[address] for address in sorted(named)}}.values())


def _add(
    item: dict[str, Json],
    method: str,
    record: Record,
    of_it: Sequence[Record],
    parts: _Components,
) -> None:
    """Add an endpoint record to its path: as an operation, to one that is there, or as an extension."""
    key = "post" if method == STREAMED else method.lower()
    if method not in (*METHODS, STREAMED):
        surface = "any-method" if method == "*" else key
        item.setdefault(f"x-{surface}", []).append(_told(record, of_it))
        return
    made = _operation(record, of_it, parts)
    there = item.get(key)
    if there is None:
        item[key] = made
        return
    there["x-record"] += made["x-record"]
    for status, answer in made["responses"].items():
        there["responses"][status] = _both(there["responses"].get(status), answer)


def _told(record: Record, errors: Iterable[Record]) -> dict[str, Json]:
    """What OpenAPI has no words for: a socket, a call by any method."""
    return {
        "x-record": str(record.address),
        "summary": record.title,
        "description": description(record),
        "x-errors": [_told_of(answer, each) for each in errors for answer in documented_answers(each)],
    }


def _operation(record: Record, errors: Sequence[Record], parts: _Components) -> dict[str, Json]:
    made: dict[str, Json] = {
        "operationId": f"{record.address.family}_{record.address.slug}",
        "summary": record.title,
        "description": "\n".join(filter(None, (description(record), *rule_sentences(record)))),
        "tags": [record.address.family],
        "x-record": [str(record.address)],
        "x-sources": list(record.sources),
    }
    about = manifest(record.provider)
    if str(record.address) in about.hosts:
        made["servers"] = [_server(record.provider, about.hosts[str(record.address)])]
    parameters = [*_of_path(record), *_of_query(record)]
    if parameters:
        made["parameters"] = parameters
    body = body_schema(record)
    if body is not None:
        required = bool(body.get("required"))
        made["requestBody"] = {"required": required, "content": {_JSON: {"schema": dict(body)}}}
    key = credential(record)
    if key is not None:
        bearer = key.scheme == BEARER
        name = f"{key.scheme}_{key.header}".replace("-", "_")
        parts.schemes[name] = (
            {"type": "http", "scheme": BEARER} if bearer else {"type": "apiKey", "in": "header", "name": key.header}
        )
        made["security"] = [{name: []}]
    made["responses"], streamed = _responses(record, errors, parts)
    if streamed:
        made["x-stream-errors"] = streamed
    return made


def _responses(record: Record, errors: Sequence[Record], parts: _Components) -> tuple[dict[str, Json], list[Json]]:
    """The answers by status, and the errors that come inside a stream that began as a success."""
    found: dict[str, Json] = {}
    success = expectation(record, SUCCESS)
    if success is not None:
        status = str(success.status) if success.status is not None else "2XX"
        found[status] = _success(record, success, parts)
    streamed: list[Json] = []
    for error in errors:
        for answer in documented_answers(error):
            if answer.stream is not None or answer.failure is not None:
                streamed.append(_told_of(answer, error))
                continue
            status = str(answer.status) if answer.status is not None else f"{answer.status_class or 4}XX"
            found[status] = _both(found.get(status), _error(answer, error, parts))
    return found or {"default": {"description": "The documents show no answer."}}, streamed


def _success(record: Record, expected: Expected, parts: _Components) -> dict[str, Json]:
    parts.shapes[expected.envelope.name] = expected.envelope
    made: dict[str, Json] = {"description": f"{record.title}: as documented."}
    if expected.headers:
        made["headers"] = _headers(expected.headers)
    content: dict[str, Json] = {}
    if expected.envelope.body != "empty":
        schema: dict[str, Json] = {"$ref": _place(expected.envelope)}
        if expected.fields:
            schema = {"allOf": [schema, fields_schema(expected.fields)]}
        content[_content_type(expected.envelope)] = {"schema": schema}
    stream = expected.stream
    if stream is not None:
        content = {"text/event-stream": {"schema": {"type": "string"}, "x-events": _events(stream)}}
    if content:
        made["content"] = content
    return made


def _error(answer: Expected, error: Record, parts: _Components) -> dict[str, Json]:
    parts.shapes[answer.envelope.name] = answer.envelope
    made: dict[str, Json] = {"description": meaning(error) or error.title, "x-record": [str(error.address)]}
    if answer.headers:
        made["headers"] = _headers(answer.headers)
    if answer.envelope.body == "empty":
        return made
    kind = _content_type(answer.envelope)
    said = {**answer.wire, "message": meaning(error), "http_status": answer.body_status}
    shown: dict[str, Json] = {"schema": {"$ref": _place(answer.envelope)}}
    if answer.envelope.body == "json":
        value = build_example(answer.envelope, {key: each for key, each in said.items() if each is not None})
        if not value:  # what ends a success in its own words stands in no envelope of errors
            return {**made, "content": {kind: shown}}
        name = str(error.address).replace("/", ".")
        parts.examples[name] = {"summary": error.title, "value": value}
        shown["examples"] = {name: {"$ref": f"#/components/examples/{name}"}}
    made["content"] = {kind: shown}
    return made


def _both(first: Json, second: Json) -> Json:
    """One response for two that share a status: either description, body and header."""
    if first is None:
        return second
    told = dict.fromkeys([*first["description"].split("\n"), second["description"]])
    merged = {**first, "description": "\n".join(told)}
    records = [*first.get("x-record", ()), *second.get("x-record", ())]
    if records:
        merged["x-record"] = list(dict.fromkeys(records))
    headers = {**second.get("headers", {}), **first.get("headers", {})}
    if headers:
        every = first.get("headers", {}).keys() & second.get("headers", {}).keys()
        merged["headers"] = {
            name: {**each, "required": each["required"] and name in every} for name, each in headers.items()
        }
    content = dict(first.get("content", {}))
    for kind, shown in second.get("content", {}).items():
        content[kind] = _either(content[kind], shown) if kind in content else shown
    if content:
        merged["content"] = content
    return merged


def _either(first: Mapping[str, Json], second: Mapping[str, Json]) -> dict[str, Json]:
    schemas: list[Json] = []
    for each in (first["schema"], second["schema"]):
        schemas += [one for one in each.get("anyOf", [each]) if one not in schemas]
    examples = {**first.get("examples", {}), **second.get("examples", {})}
    made: dict[str, Json] = {"schema": schemas[0] if len(schemas) == 1 else {"anyOf": schemas}}
    return {**made, "examples": examples} if examples else made


def _headers(rules: Iterable[HeaderRule]) -> dict[str, Json]:
    """The headers that an answer has; one that must be absent is told in words, for OpenAPI cannot forbid."""
    found: dict[str, Json] = {}
    for rule in rules:
        if "*" in rule.name:
            continue
        schema: dict[str, Json] = {"type": "string"}
        if rule.rule == "equals":
            schema["const"] = rule.value
        if rule.format:
            schema["description"] = rule.format
        absent = rule.rule == "absent"
        found[rule.name] = {
            "required": not absent and not rule.optional,
            "schema": schema,
            **({"description": "Documented as absent."} if absent else {}),
        }
    return found


def _told_of(answer: Expected, error: Record) -> dict[str, Json]:
    told = {"x-record": str(error.address), "summary": error.title, "status": answer.body_status, **answer.wire}
    if answer.stream is not None:
        told["x-stream"] = _events(answer.stream)
    if answer.failure is not None:
        told["x-failure"] = answer.failure
    return {key: value for key, value in told.items() if value is not None}


def _events(stream: StreamRule) -> dict[str, Json]:
    told = {
        "protocol": stream.protocol,
        "event": stream.event,
        "events": list(stream.events),
        "terminal": stream.terminal,
        "close_code": stream.close_code,
        "grpc_status": stream.grpc_status,
    }
    return {key: value for key, value in told.items() if value not in (None, [], "")}


def _of_path(record: Record) -> Iterator[dict[str, Json]]:
    _, path = request_line(record)
    for name in _PARAMETER.findall(_templated(path)):
        yield {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _of_query(record: Record) -> Iterator[dict[str, Json]]:
    schema = query_schema(record)
    for name, each in (schema.get("properties") or {}).items():
        if each is not False:
            shown = dict(each) if isinstance(each, dict) else {}
            told = shown.pop("description", "")
            yield {
                "name": name,
                "in": "query",
                "required": name in (schema.get("required") or ()),
                "schema": shown,
                **({"description": told} if told else {}),
            }


def _templated(path: str) -> str:
    """A path as OpenAPI has it: a `*` at its end is a parameter."""
    return path.replace("*", f"{{{_REST}}}")


def _content_type(shape: Envelope) -> str:
    return {"json": _JSON, "text": "text/plain"}.get(shape.body, "*/*")


def _place(shape: Envelope) -> str:
    return f"{COMPONENTS}/{shape.name}"
