"""Checking body fields as strictly as PC does: unknown, missing, of a wrong type, out of bounds (2:7.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pc.errors import (
    ARRAY_ABOVE_MAX_LENGTH,
    INTEGER_ABOVE_MAX_VALUE,
    INTEGER_BELOW_MIN_VALUE,
    INVALID_TYPE,
    INVALID_VALUE,
    STRING_ABOVE_MAX_LENGTH,
    UNKNOWN_PARAMETER,
    missing,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_WORDS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "a boolean",
    "array": "an array",
    "object": "an object",
    "null": "null",
}


@dataclass(frozen=True)
class Field:
    """What a value must be: its JSON types, then its bounds. `low` and `high` bound numbers, the rest its length."""

    types: tuple[str, ...]
    low: float | None = None
    high: float | None = None
    max_length: int | None = None
    max_items: int | None = None
    options: tuple[str, ...] = ()


def string(*options: str, max_length: int | None = None) -> Field:
    return Field(("string",), options=options, max_length=max_length)


def integer(low: int | None = None, high: int | None = None) -> Field:
    return Field(("integer",), low, high)


def number(low: float, high: float) -> Field:
    return Field(("number",), low, high)


def array(max_items: int | None = None) -> Field:
    return Field(("array",), max_items=max_items)


BOOLEAN = Field(("boolean",))
OBJECT = Field(("object",))
ANY = Field(tuple(_WORDS))


def check(body: Mapping[str, Any], fields: Mapping[str, Field], required: Collection[str] = (), at: str = "") -> None:
    """Raise the first thing that is wrong with an object; a field that need not be there may be null."""
    for name in body:
        if name not in fields:
            raise UNKNOWN_PARAMETER(f"Unknown parameter: '{at}{name}'.", at + name)
    for name in required:
        if body.get(name) is None:
            raise missing(at + name)
    for name, value in body.items():
        if value is not None:
            check_value(at + name, value, fields[name])


def check_value(name: str, value: Any, field: Field) -> None:
    """Raise what is wrong with one value."""
    kind = type_of(value)
    if kind not in field.types and not (kind == "integer" and "number" in field.types):
        wanted = " or ".join(_WORDS[each] for each in field.types)
        message = f"Invalid type for '{name}': expected {wanted}, but got {_WORDS[kind]} instead."
        raise INVALID_TYPE(message, name)
    if kind in ("integer", "number"):
        check_number(name, value, field)
    if kind == "string":
        check_string(name, value, field)
    if kind == "array":
        check_array(name, value, field)


def type_of(value: Any) -> str:
    """The JSON type of a value; an integer is told from other numbers."""
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "object"


def check_number(name: str, value: float, field: Field) -> None:
    """Raise what is wrong with the size of a number; that of an integer has codes of its own (2:7.5)."""
    below, above = field.low is not None and value < field.low, field.high is not None and value > field.high
    if not below and not above:
        return
    if "integer" in field.types:
        row, bound = (INTEGER_BELOW_MIN_VALUE, field.low) if below else (INTEGER_ABOVE_MAX_VALUE, field.high)
    else:
        row, bound = INVALID_VALUE, field.low if below else field.high
    sign = ">=" if below else "<="
    raise row(f"Invalid '{name}': expected a value {sign} {bound:g}, but got {value:g} instead.", name)


def check_string(name: str, value: str, field: Field) -> None:
    """Raise what is wrong with a string: none of its options, or too long."""
    if field.options and value not in field.options:
        listed = ", ".join(repr(option) for option in field.options)
        raise INVALID_VALUE(f"Invalid value: '{value[:64]}'. Supported values are: {listed}.", name)
    if field.max_length is not None and len(value) > field.max_length:
        message = f"Invalid '{name}': string too long. Expected at most {field.max_length} characters."
        raise STRING_ABOVE_MAX_LENGTH(message, name)


def check_array(name: str, value: Collection[Any], field: Field) -> None:
    """Raise that an array is too long."""
    if field.max_items is not None and len(value) > field.max_items:
        message = f"Invalid '{name}': array too long. Expected at most {field.max_items} items, but got {len(value)}."
        raise ARRAY_ABOVE_MAX_LENGTH(message, name)
