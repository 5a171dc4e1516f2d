"""Canonical form of record files: keys in the order of the schema, slugs in the order of the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
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
    return format_json({slug: order_record_keys(data, kind) for slug, data in content.items()})


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
    """Format JSON for review: two spaces, no escapes, a final newline, and one line of evidence per endpoint."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if '"evidence": {' in text:
        text = _EVIDENCE_MEMBER.sub(_join_lines, text)
    return text.encode(errors="backslashreplace").decode()  # half a surrogate pair stays an escape


_EVIDENCE_MEMBER = re.compile(
    r'^(?P<key> {8}"[^"\n]+": )(?P<value>\{\n {10}"(?:on|since|observed)": .*?\n {8}\})(?P<comma>,?)$',
    re.MULTILINE | re.DOTALL,
)
"""Members of `endpoints`, `unconfirmed` and `resolved` in a record's `evidence`, found by their indentation."""


def _join_lines(match: re.Match[str]) -> str:
    value = json.dumps(json.loads(match["value"]), ensure_ascii=False)
    return f"{match['key']}{value}{match['comma']}"


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
