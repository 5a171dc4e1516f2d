"""OpenAPI response objects: the documented answers to one operation, by status, and how two of them are merged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.example import build_example
from catalog_probe.catalog.exports.schemas import COMPONENTS, envelope_schema, fields_schema
from catalog_probe.catalog.model.labels import SUCCESS
from catalog_probe.catalog.reading.expectations import documented_answers, expectation
from catalog_probe.catalog.reading.record_fields import meaning

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from catalog_probe.catalog.envelopes.envelope import Envelope
    from catalog_probe.catalog.model import Json, Record
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.reading.headers import HeaderRule
    from catalog_probe.catalog.reading.streams import StreamRule

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
    success = expectation(record, SUCCESS)
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
