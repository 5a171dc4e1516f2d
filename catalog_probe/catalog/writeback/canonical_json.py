"""Canonical form of record files: keys in the order of the schema, slugs in the order of the file.

The members that write-back sets are one line each, and the evidence one line for each endpoint: so the diff of a night
shows its tags and its differences, a few lines for each record.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.files.schemas import KIND_SCHEMA, resolve_ref, schemas

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json


class _SchemaPart(NamedTuple):
    """A part of a schema, and the schema that contains it: a `$ref` without a urn is relative to that."""

    schema: Mapping[str, Json]
    base: str


def format_record_file(content: Mapping[str, Json], kind: str) -> str:
    """Format a record file with these records, slug -> record."""
    records = {slug: _format_members(order_record_keys(data, kind), _format_member) for slug, data in content.items()}
    return _escape_halves(_join_members(records) + "\n")


def order_record_keys(data: Json, kind: str) -> Json:
    """Return the record with its keys in the order of the schema."""
    urn = KIND_SCHEMA[kind]
    return _order_keys(data, [_SchemaPart(schemas().get(urn, {}), urn)])


def list_missing_nullable_fields(data: Mapping[str, Json], kind: str) -> tuple[str, ...]:
    """Return the required fields that a record lacks and that may be null: no row of the documents gives them."""
    urn = KIND_SCHEMA[kind]
    schema = schemas().get(urn, {})
    properties = schema.get("properties", {})
    return tuple(
        name
        for name in schema.get("required", ())
        if name not in data
        and any(_allows_null(part.schema) for part in _unfold([_SchemaPart(properties.get(name, {}), urn)]))
    )


def _allows_null(schema: Mapping[str, Json]) -> bool:
    types = schema.get("type", ())
    return "null" in ((types,) if isinstance(types, str) else types)


def format_json(value: Json) -> str:
    """Format JSON for review: two spaces, no escapes, a final newline."""
    return _escape_halves(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


ONE_LINE_MEMBERS = frozenset({"verification", "observed", "observed_for_this_key", "example"})
"""The members of a record that write-back sets, besides its evidence."""


def _format_member(key: str, value: Json) -> str:
    """Format a member of a record on one line if write-back sets it; else on as many lines as it takes."""
    if key == "evidence" and isinstance(value, dict) and value.get("endpoints"):
        return _format_evidence(value)
    indent = None if key in ONE_LINE_MEMBERS or key == "evidence" else 2
    return json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False)


def _format_evidence(evidence: Mapping[str, Json]) -> str:
    """Format the evidence of a record: one line, then one for each endpoint.

    Example: `{"schema_version": 1, "confirmed": "2fa1c9", "endpoints": {`, `  "pa/endpoints/models/get_model": {"on":
    "2026-11-20"}`, `}}`.
    """
    head = json.dumps({key: value for key, value in evidence.items() if key != "endpoints"}, ensure_ascii=False)
    endpoints = _format_members(evidence["endpoints"], lambda _, line: json.dumps(line, ensure_ascii=False))
    return f'{head.removesuffix("}")}, "endpoints": {endpoints}}}'


def _format_members(value: Json, format_member: Callable[[str, Json], str]) -> str:
    """Format an object with one member after another, each by `format_member(key, member)`."""
    if not isinstance(value, dict):
        return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return _join_members({key: format_member(key, member) for key, member in value.items()})


def _join_members(texts: Mapping[str, str]) -> str:
    """Join the formatted members of an object, indented by two spaces."""
    if not texts:
        return "{}"
    members = (f"{json.dumps(key, ensure_ascii=False)}: {text}" for key, text in texts.items())
    return "{\n  " + ",\n".join(members).replace("\n", "\n  ") + "\n}"


def _escape_halves(text: str) -> str:
    """Escape half of a surrogate pair, which UTF-8 cannot encode."""
    return text.encode(errors="backslashreplace").decode()


def _order_keys(value: Json, parts: Iterable[_SchemaPart]) -> Json:
    """Return the value with its keys in the order of these schema parts."""
    if not isinstance(value, dict | list):
        return value
    parts = tuple(_unfold(parts))
    if isinstance(value, list):
        items = [_SchemaPart(part.schema["items"], part.base) for part in parts if "items" in part.schema]
        return [_order_keys(item, items) for item in value]
    known_names = (name for part in parts for name in part.schema.get("properties", ()) if name in value)
    return {
        key: _order_keys(value[key], _find_member_parts(key, parts)) for key in dict.fromkeys((*known_names, *value))
    }


def _unfold(parts: Iterable[_SchemaPart], above: frozenset[int] = frozenset()) -> Iterator[_SchemaPart]:
    """Yield every schema part for the same value: the parts, their references, and what they combine.

    `above` are the ids of the schemas that led here, so that a schema that refers to itself ends.
    """
    for part in parts:
        if isinstance(part.schema, Mapping) and id(part.schema) not in above:
            below = above | {id(part.schema)}
            yield part
            target = resolve_ref(part.schema["$ref"], part.base) if "$ref" in part.schema else None
            combined = [option for word in ("allOf", "anyOf", "oneOf") for option in part.schema.get(word, ())]
            combined += [part.schema[word] for word in ("then", "else") if word in part.schema]
            yield from _unfold([_SchemaPart(*target)] if target else [], below)
            yield from _unfold((_SchemaPart(option, part.base) for option in combined), below)


def _find_member_parts(key: str, parts: Iterable[_SchemaPart]) -> Iterator[_SchemaPart]:
    for schema, base in parts:
        by_pattern = [part for pattern, part in schema.get("patternProperties", {}).items() if re.search(pattern, key)]
        if key in schema.get("properties", ()):
            yield _SchemaPart(schema["properties"][key], base)
        elif by_pattern:
            yield from (_SchemaPart(part, base) for part in by_pattern)
        elif "additionalProperties" in schema:
            yield _SchemaPart(schema["additionalProperties"], base)
