"""Make an example body from an envelope, for answers that the documents describe but do not show."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.text.json_pointer import build_document

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.envelopes.envelope import Envelope
    from catalog_probe.catalog.model import Json


def build_example(envelope: Envelope, aspects: Mapping[str, Json]) -> Json:
    """Return a body that has each aspect at its place in the envelope; aspects without a place are left out."""
    values = {pointer: aspects[aspect] for aspect, pointer in envelope.wire.items() if aspect in aspects and pointer}
    return _complete(build_document(values), envelope.schema)


def _complete(value: Json, schema: Json) -> Json:
    """Convert digits to integers as the schema demands, and add required members that are constant or may be null."""
    if not isinstance(schema, dict):
        return value
    if not isinstance(value, dict):
        is_number = schema.get("type") == "integer" and isinstance(value, str) and value.isdigit()
        return int(value) if is_number else value
    members: dict[str, Json] = {}
    required = schema.get("required") or ()
    for name, member_schema in (schema.get("properties") or {}).items():
        if name in value:
            members[name] = _complete(value[name], member_schema)
        elif name in required and isinstance(member_schema, dict) and _has_default(member_schema):
            members[name] = member_schema.get("const")
    return {**members, **{name: member for name, member in value.items() if name not in members}}


def _has_default(schema: Mapping[str, Json]) -> bool:
    return "const" in schema or "null" in schema.get("type", ())
