"""Make self-contained JSON Schemas from envelopes, and from fields at JSON pointers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.envelopes.envelope import Envelope
    from catalog_probe.catalog.model import Json

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
