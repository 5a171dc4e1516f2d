"""Reading a schema: its references, what its parts demand together, and which JSON types it allows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any] | bool

TYPES = ("string", "integer", "number", "boolean", "array", "object", "null")

_SPEAKS_OF: Mapping[str, str] = {
    **dict.fromkeys(("properties", "required", "additionalProperties", "minProperties", "patternProperties"), "object"),
    **dict.fromkeys(("items", "prefixItems", "minItems", "contains", "uniqueItems"), "array"),
    **dict.fromkeys(("pattern", "minLength", "maxLength", "format"), "string"),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), "number"),
}
"""Which type a schema has in mind that names none."""

_LARGER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
_SMALLER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties")


class Unreadable(ValueError):
    """The schema is none that can be read; the message says why."""


def resolve(reference: Any, root: Schema) -> Schema:
    """What a `$ref` within the same schema leads to.

    Raises:
        Unreadable: it leads nowhere, or elsewhere.
    """
    if not isinstance(reference, str) or not reference.startswith("#"):
        raise Unreadable(f"$ref {reference!r} leads out of the schema")
    found: Any = root
    for step in reference[1:].split("/")[1:]:
        step = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and step in found:
            found = found[step]
        elif isinstance(found, list) and step.isdecimal() and int(step) < len(found):
            found = found[int(step)]
        else:
            raise Unreadable(f"$ref {reference!r} leads nowhere")
    return checked(found)


def checked(schema: Any) -> Schema:
    """A schema is an object, or true or false."""
    if isinstance(schema, (Mapping, bool)):
        return schema
    raise Unreadable(f"{str(schema)[:40]!r} is no schema")


def flat(schema: Schema, root: Schema) -> Schema:
    """The schema with its references followed and its `allOf` taken together; false where they exclude each other."""
    followed = 0
    while isinstance(schema, Mapping) and ("$ref" in schema or schema.get("allOf")):
        followed += 1
        if followed > 100:
            raise Unreadable("the references of the schema lead in a circle")
        own = {name: value for name, value in schema.items() if name not in ("$ref", "allOf")}
        parts = [checked(part) for part in schema.get("allOf") or ()]
        if "$ref" in schema:
            parts.append(resolve(schema["$ref"], root))
        schema = own
        for part in parts:
            schema = together(schema, part)
    return schema


def together(one: Schema, other: Schema) -> Schema:
    """A schema that demands what both demand."""
    if isinstance(one, bool) or isinstance(other, bool):
        return False if one is False or other is False else other if one is True else one
    merged = dict(one)
    for name, value in other.items():
        merged[name] = _both(name, merged[name], value) if name in merged else value
    return False if merged.get("type") == [] or merged.get("enum") == [] else merged


def _both(name: str, one: Any, other: Any) -> Any:
    if one == other:
        return one
    if name in _LARGER:
        return max(one, other)
    if name in _SMALLER:
        return min(one, other)
    match name:
        case "type":
            return [kind for kind in _listed(one) if kind in _listed(other)]
        case "enum":
            return [value for value in one if value in other]
        case "required" | "allOf":
            return [*one, *other]
        case "properties" | "patternProperties" | "$defs" | "definitions":
            return {
                key: together(one[key], other[key]) if key in one and key in other else one.get(key, other.get(key))
                for key in {**one, **other}
            }
        case "items" | "additionalProperties":
            return together(one, other)
        case _:
            return other  # what is lost here, the check of the value finds


def types_of(schema: Mapping[str, Any]) -> list[str]:
    """The types that a schema allows or has in mind, the most telling first."""
    if "type" in schema:
        named = _listed(schema["type"])
        unknown = [kind for kind in named if kind not in TYPES]
        if unknown:
            raise Unreadable(f"{unknown[0]!r} is no type")
        return sorted(named, key=lambda kind: kind == "null")
    return list(dict.fromkeys(_SPEAKS_OF[name] for name in schema if name in _SPEAKS_OF)) or ["string"]


def _listed(kinds: Any) -> list[str]:
    return list(kinds) if isinstance(kinds, list) else [str(kinds)]
