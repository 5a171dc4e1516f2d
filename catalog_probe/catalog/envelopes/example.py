"""A body in an envelope, made: what an answer looks like of which the documents tell the values and show no example."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.text.json_pointer import build_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.envelopes.envelope import Envelope
    from catalog_probe.catalog.model import Json


def build_example(shape: Envelope, said: Mapping[str, Json]) -> Json:
    """A body with these values where the envelope has them: what an error looks like that has no documented example."""
    carried = {pointer: said[aspect] for aspect, pointer in shape.wire.items() if aspect in said and pointer}
    return _completed(build_document(carried), shape.schema)


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
