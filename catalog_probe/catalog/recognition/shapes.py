"""Fit of a body to an envelope: missing and additional members. Needs no JSON Schema validator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.files.provider_folders import cached_per_folders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Json

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
        source = envelope(surface)
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
