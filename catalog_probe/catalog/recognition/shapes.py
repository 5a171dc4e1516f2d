"""How strictly a body keeps to an envelope: what it lacks, what it has besides. Needs no JSON Schema validator."""

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
    """How a body stands to an envelope."""

    wrong: bool = False
    """Whether a member is of another type or value than documented: this is not the envelope."""
    lacking: tuple[str, ...] = ()
    """Documented members that it has not, as JSON pointers."""
    besides: tuple[str, ...] = ()
    """Members that no document names, beside those of the envelope and of its error."""

    @property
    def strict(self) -> bool:
        return not (self.wrong or self.lacking or self.besides)


class Shape:
    """An envelope, to be held against bodies."""

    def __init__(self, surface: str) -> None:
        found = envelope(surface)
        self.name = surface
        self.body = found.body
        self.wire = found.wire
        self.unwrap = found.unwrap
        self._schema = found.schema

    def fit(self, body: Json) -> Fit:
        """What a body lacks of the envelope, and what it has besides."""
        lacking: list[str] = []
        besides: list[str] = []
        if any(_departs(self._schema, body, "", lacking, besides)):
            return Fit(wrong=True)
        return Fit(lacking=tuple(lacking), besides=tuple(besides))


@cached_per_folders
def load_shape(surface: str) -> Shape:
    """The shape of a surface.

    Raises:
        KeyError: no envelope has this name.
    """
    return Shape(surface)


def _departs(
    schema: Mapping[str, Json], value: Json, at: str, lacking: list[str], besides: list[str]
) -> Iterator[bool]:
    """True for each value that is another than documented; members that are missing or many are noted."""
    wanted = schema.get("type")
    if wanted is not None:
        names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
        yield not any(_is(value, name) for name in names)
    yield "const" in schema and value != schema["const"]
    yield "enum" in schema and value not in schema["enum"]
    if not isinstance(value, dict):
        return
    members: Mapping[str, Json] = schema.get("properties", {})
    lacking += [
        f"{at}/{name}" for name in schema.get("required", ()) if name not in value and not _may_be_empty(members, name)
    ]
    if members:
        besides += [f"{at}/{name}" for name in value if name not in members]
    for name, inner in members.items():
        if name in value:
            yield from _departs(inner, value[name], f"{at}/{name}", lacking, besides)
    for each in schema.get("allOf", ()):
        # what stands below allOf names only some of the members: others are no news
        yield from _departs(each, value, at, lacking, [])


def _is(value: Json, name: str) -> bool:
    if isinstance(value, bool):
        return name == "boolean"
    return isinstance(value, _TYPES[name])


def _may_be_empty(members: Mapping[str, Json], name: str) -> bool:
    """Whether the member is a list: one that is left out says the same as an empty one."""
    return bool(members.get(name, {}).get("type") == "array")
