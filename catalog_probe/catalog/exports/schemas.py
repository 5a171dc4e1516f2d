"""Envelopes and fields at JSON pointers, as schemas that stand by themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.envelopes.envelope import Envelope
    from catalog_probe.catalog.model import Json

ANY_ITEM = "*"
"""In a pointer, each item of an array."""

COMPONENTS = "#/components/schemas"
"""Where a document keeps its schemas."""

_OF_A_FILE = frozenset({"$schema", "$id"})


def envelope_schema(shape: Envelope) -> Json:
    """The schema of a body on one surface as a component of a document, without what only its own file needs."""
    kept = {key: value for key, value in shape.schema.items() if key not in _OF_A_FILE}
    return _refers_to(kept, f"{COMPONENTS}/{shape.name}/")


def _refers_to(value: Json, place: str) -> Json:
    """The value with references inside its own file made into such to where it stands now."""
    if isinstance(value, dict):
        return {
            key: _referring(each, place) if key == "$ref" else _refers_to(each, place) for key, each in value.items()
        }
    return [_refers_to(each, place) for each in value] if isinstance(value, list) else value


def _referring(reference: str, place: str) -> str:
    return f"{place}{reference.removeprefix('#/')}" if reference.startswith("#/") else reference


def fields_schema(fields: Mapping[str, Json]) -> dict[str, Json]:
    """One schema for the values at JSON pointers; `false` at a pointer says that nothing may stand there."""
    whole: dict[str, Json] = {}
    for pointer, schema in fields.items():
        _put(whole, [_unescaped(each) for each in pointer.split("/")[1:]], schema)
    return whole


def _put(into: dict[str, Json], steps: list[str], schema: Json) -> None:
    """Put a schema below another, making objects and arrays on the way.

    A field that is documented must be there: what stands on the way to it is required, but for the items of an array.
    """
    if not steps:
        if isinstance(schema, dict):
            into.update(schema)
        return
    first, *rest = steps
    if first == ANY_ITEM:
        into.setdefault("type", "array")
        # Some item has it: the others may be of another kind.
        inner = into.setdefault("contains" if rest else "items", {})
        _put(inner, rest, schema)
        return
    into.setdefault("type", "object")
    properties = into.setdefault("properties", {})
    if schema is False and not rest:
        properties[first] = False
        return
    required = into.setdefault("required", [])
    if first not in required:
        required.append(first)
    _put(properties.setdefault(first, {}), rest, schema)


def _unescaped(step: str) -> str:
    return step.replace("~1", "/").replace("~0", "~")
