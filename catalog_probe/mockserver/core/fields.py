"""Field tables: what each field of a body must be, and what violates that.

A provider writes one row for each field, and its error table has a row for each kind of breach.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum, auto
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.arrivals import note_ignored
from catalog_probe.mockserver.core.errors import CLIENTS

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow, Refusal

Path = tuple[str | int, ...]


class Breach(StrEnum):
    """The ways in which a value can violate its row."""

    MISSING = auto()  # a required field is not there
    UNKNOWN = auto()  # a field is in no row
    TYPE = auto()  # the JSON type is another
    OPTION = auto()  # the string is none of the options
    BELOW = auto()  # the number is too small
    ABOVE = auto()  # the number is too large
    TOO_LONG = auto()  # the string is too long
    TOO_FEW = auto()  # the array has too few items
    TOO_MANY = auto()  # the array has too many items


@dataclass(frozen=True)
class Value:
    """What a value must be; bounds are inclusive, and each is about one JSON type.

    Args:
        types: the allowed JSON types, any if empty; `integer` is one of its own.
        max_length: characters of a string.
        extra: whether an object may have members without a row.
    """

    types: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    max_length: int | None = None
    min_items: int = 0
    max_items: int | None = None
    items: Value | None = None
    members: Mapping[str, Field] = field(default_factory=dict)
    extra: bool = True

    def __or__(self, other: Value) -> Value:
        """Allow either of two values of different JSON types."""
        default = Value()
        bounds = {name: value for name, value in vars(other).items() if value != getattr(default, name)}
        return replace(self, **{**bounds, "types": (*self.types, *other.types)})

    def accepts_type(self, json_type: str) -> bool:
        """Whether a JSON type is allowed; an integer is a number as well."""
        return not self.types or json_type in self.types or (json_type == "integer" and "number" in self.types)


@dataclass(frozen=True)
class Field:
    """A row of a field table.

    Args:
        simulated: whether the field has an effect; one that has none is listed with the request that has it.
    """

    name: str
    value: Value
    section: str
    required: bool = False
    simulated: bool = True


ANY = Value()
STRING = Value(("string",))
BOOLEAN = Value(("boolean",))
OBJECT = Value(("object",))
NULL = Value(("null",))


def integer(minimum: int | None = None, maximum: int | None = None) -> Value:
    """Describe an integer; neither `true` nor `1.5` is one."""
    return Value(("integer",), minimum=minimum, maximum=maximum)


def number(minimum: float | None = None, maximum: float | None = None) -> Value:
    """Describe a number."""
    return Value(("number",), minimum=minimum, maximum=maximum)


def one_of(*options: str) -> Value:
    """Describe one of a few strings."""
    return Value(("string",), options=options)


def array(items: Value | None = None, *, at_least: int = 0, at_most: int | None = None) -> Value:
    """Describe an array."""
    return Value(("array",), items=items, min_items=at_least, max_items=at_most)


def object_of(*rows: Field, extra: bool = False) -> Value:
    """Describe an object with these members; `extra` allows others as well."""
    return Value(("object",), members={row.name: row for row in rows}, extra=extra)


def unread_rows(*names: str) -> tuple[Field, ...]:
    """Make rows of fields that clients send and the mock does not read."""
    return tuple(Field(name, ANY, CLIENTS, simulated=False) for name in names)


STRINGS = array(STRING)
OBJECTS = array(OBJECT)


TYPE_NAMES: Mapping[str, str] = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


@dataclass(frozen=True)
class Violation:
    """A value in a body that violates its row; `wanted` is what it should be."""

    breach: Breach
    path: Path
    value: Any
    wanted: Value

    @property
    def bound(self) -> float | None:
        """The bound that the value is beyond, if the breach is about one."""
        wanted = self.wanted
        bounds: dict[Breach, float | None] = {
            Breach.BELOW: wanted.minimum,
            Breach.ABOVE: wanted.maximum,
            Breach.TOO_LONG: wanted.max_length,
            Breach.TOO_FEW: wanted.min_items,
            Breach.TOO_MANY: wanted.max_items,
        }
        return bounds.get(self.breach)

    def make_refusal(
        self, rows: Mapping[Breach, ErrorRow], words: Mapping[str, str] | None = None, **more: object
    ) -> Refusal:
        """Make the refusal of the breach's row.

        `words` are the provider's names of the JSON types, if it does not use the usual ones.

        Its message may name {path}, {value}, {wanted}, {found}, {options}, {bound}, and the names in `more`.
        """
        path, bound = format_path(self.path), self.bound
        words = words or TYPE_NAMES
        values: dict[str, Any] = {
            "path": path,
            "value": self.value,
            "wanted": " or ".join(words[name] for name in self.wanted.types),
            "found": words[json_type(self.value)],
            "options": ", ".join(map(repr, self.wanted.options)),
            "bound": "" if bound is None else f"{bound:g}",
        }
        return rows[self.breach](param=path, **{**values, **more})


def find_violations(body: Any, table: Value, *, null_is_absent: bool = True, path: Path = ()) -> Iterator[Violation]:
    """Find the violations of a body, in the order of its table.

    Nothing is looked for inside a value of the wrong type.

    `null_is_absent` lets null stand for an optional field that is left out.
    """
    body_type = json_type(body)
    if not table.accepts_type(body_type):
        yield Violation(Breach.TYPE, path, body, table)
    elif body_type == "object":
        yield from _find_in_object(body, table, null_is_absent, path)
    elif body_type == "array":
        yield from _find_in_array(body, table, null_is_absent, path)
    else:
        breach = _find_breach(body, body_type, table)
        if breach is not None:
            yield Violation(breach, path, body, table)


def _find_in_object(body: Mapping[str, Any], table: Value, null_is_absent: bool, path: Path) -> Iterator[Violation]:
    for name, row in table.members.items():
        if name not in body:
            if row.required:
                yield Violation(Breach.MISSING, (*path, name), None, row.value)
        elif body[name] is not None or row.required or not null_is_absent:
            if not row.simulated:
                note_ignored(format_path((*path, name)))
            yield from find_violations(body[name], row.value, null_is_absent=null_is_absent, path=(*path, name))
    unknown = [name for name in body if name not in table.members]
    if not table.extra:
        yield from (Violation(Breach.UNKNOWN, (*path, name), body[name], ANY) for name in unknown)
    elif not path:  # below, a table names the members that the mock reads, and not all that it returns
        for name in unknown:
            note_ignored(name)


def _find_in_array(body: list[Any], table: Value, null_is_absent: bool, path: Path) -> Iterator[Violation]:
    if len(body) < table.min_items:
        yield Violation(Breach.TOO_FEW, path, body, table)
    if table.max_items is not None and len(body) > table.max_items:
        yield Violation(Breach.TOO_MANY, path, body, table)
    if table.items is not None:
        for index, item in enumerate(body):
            yield from find_violations(item, table.items, null_is_absent=null_is_absent, path=(*path, index))


def _find_breach(value: Any, value_type: str, table: Value) -> Breach | None:
    """Find how a string or a number violates its row."""
    if value_type == "string":
        if table.options and value not in table.options:
            return Breach.OPTION
        return Breach.TOO_LONG if table.max_length is not None and len(value) > table.max_length else None
    if value_type in ("integer", "number"):
        if table.minimum is not None and value < table.minimum:
            return Breach.BELOW
        return Breach.ABOVE if table.maximum is not None and value > table.maximum else None
    return None


def json_type(value: Any) -> str:
    """Return the JSON type of a value; `integer` is one of its own."""
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "object"


def format_path(path: Path) -> str:
    """Format a path as `messages[0].role`."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")
