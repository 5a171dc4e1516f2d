"""The one way to write a record file: keys in the order of the schema, slugs in the order of the file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.files.schemas import KIND_SCHEMA, resolve_ref, schemas

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json


class _Part(NamedTuple):
    """A piece of schema, and the schema it stands in: a `$ref` without a urn counts from there."""

    schema: Mapping[str, Json]
    base: str


def format_record_file(content: Mapping[str, Json], kind: str) -> str:
    """The text of a record file that holds these records, slug -> record."""
    return format_json({slug: order_record_keys(data, kind) for slug, data in content.items()})


def order_record_keys(data: Json, kind: str) -> Json:
    """The same record with its keys in order."""
    urn = KIND_SCHEMA[kind]
    return _ordered(data, [_Part(schemas().get(urn, {}), urn)])


def list_missing_nullable_fields(data: Mapping[str, Json], kind: str) -> tuple[str, ...]:
    """The fields that a record of this kind must have, lacks, and may have empty: null says that no row tells."""
    urn = KIND_SCHEMA[kind]
    schema = schemas().get(urn, {})
    told = schema.get("properties", {})
    return tuple(
        name
        for name in schema.get("required", ())
        if name not in data and any(_takes_null(part.schema) for part in _unfold([_Part(told.get(name, {}), urn)]))
    )


def _takes_null(schema: Mapping[str, Json]) -> bool:
    types = schema.get("type", ())
    return "null" in ((types,) if isinstance(types, str) else types)


def format_json(value: Json) -> str:
    """JSON as people review it: two spaces, real characters, a newline at the end; evidence a line an endpoint."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if '"evidence": {' in text:
        text = _EVIDENCE_LINE.sub(_on_one_line, text)
    return text.encode(errors="backslashreplace").decode()  # half a surrogate pair stays the escape that it was


_EVIDENCE_LINE = re.compile(
    r'^(?P<key> {8}"[^"\n]+": )(?P<value>\{\n {10}"(?:on|since|observed)": .*?\n {8}\})(?P<comma>,?)$',
    re.MULTILINE | re.DOTALL,
)
"""Members of `endpoints`, `unconfirmed` and `resolved` in a record's `evidence`, by their depth in a record file."""


def _on_one_line(found: re.Match[str]) -> str:
    value = json.dumps(json.loads(found["value"]), ensure_ascii=False)
    return f"{found['key']}{value}{found['comma']}"


def _ordered(value: Json, parts: Iterable[_Part]) -> Json:
    """The value with its keys in the order in which these pieces of schema name them."""
    if not isinstance(value, dict | list):
        return value
    parts = tuple(_unfold(parts))
    if isinstance(value, list):
        items = [_Part(part.schema["items"], part.base) for part in parts if "items" in part.schema]
        return [_ordered(item, items) for item in value]
    named = (name for part in parts for name in part.schema.get("properties", ()) if name in value)
    return {key: _ordered(value[key], _of_key(key, parts)) for key in dict.fromkeys((*named, *value))}


def _unfold(parts: Iterable[_Part], above: frozenset[int] = frozenset()) -> Iterator[_Part]:
    """Each piece of schema that speaks about the same value: the piece, what it refers to, what it combines.

    `above` are the schemas that led there: one that refers to itself ends, and so do `true` and `false`.
    """
    for part in parts:
        if isinstance(part.schema, Mapping) and id(part.schema) not in above:
            below = above | {id(part.schema)}
            yield part
            target = resolve_ref(part.schema["$ref"], part.base) if "$ref" in part.schema else None
            combined = [option for word in ("allOf", "anyOf", "oneOf") for option in part.schema.get(word, ())]
            combined += [part.schema[word] for word in ("then", "else") if word in part.schema]
            yield from _unfold([_Part(*target)] if target else [], below)
            yield from _unfold((_Part(option, part.base) for option in combined), below)


def _of_key(key: str, parts: Iterable[_Part]) -> Iterator[_Part]:
    for schema, base in parts:
        patterns = [each for pattern, each in schema.get("patternProperties", {}).items() if re.search(pattern, key)]
        if key in schema.get("properties", ()):
            yield _Part(schema["properties"][key], base)
        elif patterns:
            yield from (_Part(each, base) for each in patterns)
        elif "additionalProperties" in schema:
            yield _Part(schema["additionalProperties"], base)
