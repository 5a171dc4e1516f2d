"""Schemas as PB's clients write them, as JSON Schemas: types in capitals, `nullable`, counts as texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")
_INSIDE = ("items", "anyOf", "additionalProperties", "prefixItems")


def as_json_schema(schema: Any) -> Any:
    """The JSON Schema that such a schema means; one that is none yet is left as it is."""
    if isinstance(schema, list):
        return [as_json_schema(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    found = {name: value for name, value in schema.items() if name not in ("nullable", "propertyOrdering", "title")}
    kind = found.get("type")
    if isinstance(kind, str):
        found["type"] = [kind.lower(), "null"] if schema.get("nullable") is True else kind.lower()
    if found.get("type") == "type_unspecified":
        del found["type"]
    for name in _COUNTS:
        if isinstance(found.get(name), str) and found[name].isdecimal():
            found[name] = int(found[name])
    for name in _INSIDE:
        if name in found:
            found[name] = as_json_schema(found[name])
    if isinstance(found.get("properties"), Mapping):
        found["properties"] = {name: as_json_schema(each) for name, each in found["properties"].items()}
    return found
