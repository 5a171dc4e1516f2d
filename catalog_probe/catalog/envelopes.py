"""Envelopes: documented shapes of bodies, what is where in them, and which fit."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.files import provider_folders
from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.text.json_values import ABSENT, find_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Json


WIRE_ASPECTS = ("type", "code", "param")
"""Aspects that are compared as values, on surfaces whose envelope has a place for them (2:7.1)."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The shape of a body on one surface."""

    name: str
    schema: Mapping[str, Json]
    wire: Mapping[str, str]
    """Aspect -> JSON pointer."""
    body: str
    """`json`, `text`, `empty`, or `any` if the documents promise nothing about the body."""
    sources: tuple[str, ...] = ()
    """The rows that show the shape; none if the documents show no shape."""
    unwrap: bool = False
    """Whether the body may come in an array; then the pointers are relative to its first item (2:7.1)."""
    assumed: Mapping[str, str] = field(default_factory=dict)
    """JSON pointer of an undocumented member -> why we assume it; the empty pointer is for the whole shape."""
    relations: tuple[Mapping[str, Json], ...] = ()
    """Relations that hold in each answer of the surface, written as in a record."""


@provider_folders.cached_per_folders
def load_envelope(surface: str) -> Envelope:
    """Read the envelope of a surface.

    Raises:
        KeyError: there is no schema of that name.
    """
    path = provider_folders.find_file(lambda folder: folder.envelopes / f"{surface}.json")
    if path is None:
        raise KeyError(f"no envelope schema for surface {surface!r}; add schemas/envelopes/{surface}.json")
    schema = json.loads(path.read_text(encoding="utf-8"))
    return Envelope(
        name=surface,
        schema=schema,
        wire=schema.get("x-wire", {}),
        body=schema.get("x-body", "json"),
        sources=tuple(schema.get("x-source", ())),
        unwrap=schema.get("x-unwrap", False),
        assumed=schema.get("x-assumed", {}),
        relations=tuple(schema.get("x-relations", ())),
    )


def unwrap(envelope: Envelope, body: Json) -> Json:
    """Take a body out of the array that its surface may put around it."""
    return body[0] if envelope.unwrap and isinstance(body, list) and body else body


def wire_values(envelope: Envelope, body: Json) -> dict[str, Json]:
    """Return type, code and param of a body; those that the envelope or the body lacks are left out."""
    body = unwrap(envelope, body)
    values = {aspect: find_value(body, envelope.wire[aspect]) for aspect in WIRE_ASPECTS if aspect in envelope.wire}
    return {aspect: value for aspect, value in values.items() if value is not ABSENT}


def find_message(envelope: Envelope, body: Json) -> str | None:
    """Return the message, or None if the envelope has no place for one or the body has no text there."""
    return _find_text(envelope, body, "message")


def find_param(envelope: Envelope, body: Json) -> str | None:
    """Return the name of the field that is at fault, or None."""
    return _find_text(envelope, body, "param")


def _find_text(envelope: Envelope, body: Json, aspect: str) -> str | None:
    pointer = envelope.wire.get(aspect)
    if pointer is None:
        return None
    value = find_value(unwrap(envelope, body), pointer)
    return value if isinstance(value, str) else None


_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


@dataclass(frozen=True, slots=True)
class Fit:
    """How a body fits an envelope."""

    wrong: bool = False
    """Whether a member has another type or value than documented, so this is another envelope."""
    missing: tuple[str, ...] = ()
    """Documented members that are missing, as JSON pointers."""
    additional: tuple[str, ...] = ()
    """Members that no document names, as JSON pointers."""

    @property
    def strict(self) -> bool:
        return not (self.wrong or self.missing or self.additional)


class Shape:
    """An envelope that bodies are compared with."""

    def __init__(self, surface: str) -> None:
        source = load_envelope(surface)
        self.name = surface
        self.body = source.body
        self.wire = source.wire
        self.unwrap = source.unwrap
        self._schema = source.schema

    def fit(self, body: Json) -> Fit:
        """Compare a body with the envelope."""
        missing: list[str] = []
        additional: list[str] = []
        if any(_compare(self._schema, body, "", missing, additional)):
            return Fit(wrong=True)
        return Fit(missing=tuple(missing), additional=tuple(additional))


@cached_per_folders
def load_shape(surface: str) -> Shape:
    """Return the shape of a surface's envelope.

    Raises:
        KeyError: no envelope has this name.
    """
    return Shape(surface)


def _compare(
    schema: Mapping[str, Json], value: Json, pointer: str, missing: list[str], additional: list[str]
) -> Iterator[bool]:
    """Yield True for each value that differs from the documents; add missing and additional members to the lists."""
    documented_type = schema.get("type")
    if documented_type is not None:
        names = (documented_type,) if isinstance(documented_type, str) else tuple(documented_type)
        yield not any(_has_type(value, name) for name in names)
    yield "const" in schema and value != schema["const"]
    yield "enum" in schema and value not in schema["enum"]
    if not isinstance(value, dict):
        return
    members: Mapping[str, Json] = schema.get("properties", {})
    missing += [
        f"{pointer}/{name}"
        for name in schema.get("required", ())
        if name not in value and not _may_be_empty(members, name)
    ]
    if members:
        additional += [f"{pointer}/{name}" for name in value if name not in members]
    for name, inner in members.items():
        if name in value:
            yield from _compare(inner, value[name], f"{pointer}/{name}", missing, additional)
    for part in schema.get("allOf", ()):
        # Schemas below allOf name only some members, so others are not additional.
        yield from _compare(part, value, pointer, missing, [])


def _has_type(value: Json, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _may_be_empty(members: Mapping[str, Json], name: str) -> bool:
    """Whether the member is a list: leaving it out means the same as an empty one."""
    return bool(members.get(name, {}).get("type") == "array")
