"""The JSON types of body fields, and the 422 that a field of the wrong type gets: a bare string (2:7.6)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pd.errors import UNPROCESSABLE, PdError
from catalog_probe.mockserver.pd.positions import end_of, line_and_column

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class Shape:
    """What a value must be: one of some JSON types, and what its items or members must be in turn."""

    name: str
    types: tuple[type, ...]
    items: Shape | None = None
    members: Mapping[str, Shape] = field(default_factory=dict)
    needed: bool = False
    """Whether a member of this shape must be there, so that null is a value of the wrong type and not one left out."""

    def accepts(self, value: Any) -> bool:
        """Whether the value itself is of one of the types; a boolean is no number."""
        return isinstance(value, self.types) and (not isinstance(value, bool) or bool in self.types)


STRING = Shape("a string", (str,))
BOOLEAN = Shape("a boolean", (bool,))
INTEGER = Shape("an integer", (int,))
NUMBER = Shape("a number", (int, float))
OBJECT = Shape("a map", (dict,))
STRINGS = Shape("a sequence", (list,), items=STRING)
TEXT_OR_PARTS = Shape("a string or a sequence", (str, list), items=OBJECT)
STRING_OR_STRINGS = Shape("a string or a sequence", (str, list), items=STRING)
STRING_OR_OBJECT = Shape("a string or a map", (str, dict))
OBJECTS = Shape("a sequence", (list,), items=OBJECT)


def array(items: Shape) -> Shape:
    """An array of such items."""
    return Shape("a sequence", (list,), items=items)


def struct(**members: Shape) -> Shape:
    """An object of which some members are known; others are let pass, the documents do not say otherwise."""
    return Shape("a map", (dict,), members=members)


def needed(shape: Shape) -> Shape:
    """The shape of a member that may not be null."""
    return replace(shape, needed=True)


def check(raw: str, value: Any, shape: Shape) -> None:
    """Refuse a body of which some field has another type; null is as good as absent where the field may be absent."""
    for path, wrong, wanted in mismatches(value, shape, ()):
        line, column = line_and_column(raw, end_of(raw, path))
        raise PdError(UNPROCESSABLE, told(path, wrong, wanted, line, column))


def told(path: Path, wrong: Any, wanted: Shape, line: int, column: int) -> str:
    """What is said of a field of the wrong type: which, and where it stands."""
    found = f"{_type_name(wrong)} `{json.dumps(wrong)[:40]}`"
    at = f"{_dotted(path)}: " if path else ""
    return (
        f"Failed to deserialize the JSON body into the target type: {at}invalid type: {found}, "
        f"expected {wanted.name} at line {line} column {column}"
    )


def mismatches(value: Any, shape: Shape, path: Path) -> Iterator[tuple[Path, Any, Shape]]:
    if not shape.accepts(value):
        yield path, value, shape
    elif isinstance(value, list) and shape.items is not None:
        for index, item in enumerate(value):
            yield from mismatches(item, shape.items, (*path, index))
    elif isinstance(value, dict):
        for name, member in shape.members.items():
            if name in value and (value[name] is not None or member.needed):
                yield from mismatches(value[name], member, (*path, name))


def _dotted(path: Path) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.removeprefix(".")


def _type_name(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "floating point"
        case str():
            return "string"
        case list():
            return "sequence"
        case _:
            return "map"
