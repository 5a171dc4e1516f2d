"""A body in an envelope, made: what an answer looks like of which the documents tell the values and show no example."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from catalog.envelopes.pointer import rebuilt

if TYPE_CHECKING:
    from catalog.envelopes.envelope import Envelope
    from catalog.model import Json


def example(shape: Envelope, said: Mapping[str, Json]) -> Json:
    """A body with these values where the envelope has them: what an error looks like that has no documented example."""
    carried = {pointer: said[aspect] for aspect, pointer in shape.wire.items() if aspect in said and pointer}
    return _completed(rebuilt(carried), shape.schema)


def _completed(value: Json, schema: Json) -> Json:
    """The value in the types of the schema, with what it requires beside it: constants, and null where it may be."""
    if not isinstance(schema, dict):
        return value
    if not isinstance(value, dict):
        return int(value) if schema.get("type") == "integer" and isinstance(value, str) and value.isdigit() else value
    found: dict[str, Json] = {}
    required = schema.get("required") or ()
    for name, inner in (schema.get("properties") or {}).items():
        if name in value:
            found[name] = _completed(value[name], inner)
        elif name in required and isinstance(inner, dict) and ("const" in inner or "null" in inner.get("type", ())):
            found[name] = inner.get("const")
    return {**found, **{name: each for name, each in value.items() if name not in found}}


def least(schema: Json, text: str = "example") -> Json:
    """A small value that fits a schema, as far as its type, constants, members and items tell; `text` for any text."""
    if not isinstance(schema, dict):
        return text
    parts = [schema, *schema.get("allOf", ()), *schema.get("anyOf", ())[:1]]
    for part in parts:
        if "const" in part or part.get("enum"):
            return part["const"] if "const" in part else part["enum"][0]
    required = {name: None for part in parts for name in part.get("required", ())}
    kinds = [part["type"] for part in parts if "type" in part]
    kind = kinds[0] if kinds else "object" if required else "array" if "contains" in schema else "string"
    kind = kind if isinstance(kind, str) else next(each for each in kind if each != "null")
    if kind == "object":
        members = {name: inner for part in parts for name, inner in part.get("properties", {}).items()}
        return {name: least(members.get(name), text) for name in required}
    if kind == "array":
        found = [least(part["contains"], text) for part in parts if "contains" in part]
        return [*found, *(least(schema.get("items"), text) for _ in range(schema.get("minItems", 0) - len(found)))]
    number = schema.get("minimum", 0)
    return {"integer": number, "number": number, "boolean": False, "null": None}.get(kind, text)


def with_value(document: Json, pointer: str, value: Json) -> Json:
    """The document with a value at a JSON pointer; of an array's items, in the first that has such a member."""
    return _with(document, pointer.split("/")[1:], value)


def _with(document: Json, names: list[str], value: Json) -> Json:
    if not names:
        return value
    name, rest = names[0].replace("~1", "/").replace("~0", "~"), names[1:]
    if name != "*":
        members = document if isinstance(document, dict) else {}
        return {**members, name: _with(members.get(name), rest, value)}
    items = list(document) if isinstance(document, list) and document else [None]
    named = (number for number, item in enumerate(items) if rest and isinstance(item, dict) and rest[0] in item)
    at = next(named, 0)
    items[at] = _with(items[at], rest, value)
    return items
