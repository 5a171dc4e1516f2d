"""Checking body fields: names in camelCase or snake_case, JSON types, bounds; unknown names are refused (2:7.4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from catalog_probe.mockserver.pb.errors import OUT_OF_RANGE, UNKNOWN_FIELD, PbError, invalid

Check = Callable[[str, Any], None]
"""Raises what is wrong with the value at a place."""

Fields = Mapping[str, Check]
"""The fields of an object, in camelCase."""


def camel(name: str) -> str:
    """`max_output_tokens` as `maxOutputTokens`; clients mix both, and both mean the same."""
    head, *tail = name.split("_")
    return head + "".join(part[:1].upper() + part[1:] for part in tail)


def read(body: Mapping[str, Any], fields: Fields, at: str = "") -> dict[str, Any]:
    """The body with its names in camelCase and without nulls; raises the first thing wrong with it."""
    found: dict[str, Any] = {}
    for name, value in body.items():
        known = camel(name)
        if known not in fields:
            raise PbError(
                UNKNOWN_FIELD, f"Invalid JSON payload received. Unknown name \"{name}\" at '{at}': Cannot find field."
            )
        if known in found:
            raise invalid(f"{_place(at, name)}: given twice, in two spellings")
        if value is None:
            continue
        fields[known](_place(at, name), value)
        found[known] = value
    return found


def known_only(body: Mapping[str, Any], fields: Fields) -> dict[str, Any]:
    """As `read`, but names nobody knows are ignored (1:4.2, the compatibility layer)."""
    return read({name: value for name, value in body.items() if camel(name) in fields}, fields)


def require(body: Mapping[str, Any], name: str, at: str = "") -> Any:
    """The value of a field that must be there."""
    if name not in body:
        raise invalid(f"{_place(at, name)}: is required")
    return body[name]


def anything(at: str, value: Any) -> None:
    """No check: a field that the mock takes and does nothing with."""


def of_type(kind: type | tuple[type, ...], name: str) -> Check:
    """A JSON type. `true` is no number."""

    def check(at: str, value: Any) -> None:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise invalid(f"Invalid value at '{at}': should be {name}")

    return check


string = of_type(str, "a string")
boolean = of_type(bool, "true or false")
array = of_type(list, "an array")
mapping = of_type(dict, "an object")
integer = of_type(int, "an integer")
number = of_type((int, float), "a number")


def objects(at: str, value: Any) -> None:
    """An array of objects."""
    array(at, value)
    for index, item in enumerate(value):
        mapping(f"{at}[{index}]", item)


def strings(at: str, value: Any) -> None:
    """An array of strings."""
    array(at, value)
    for index, item in enumerate(value):
        string(f"{at}[{index}]", item)


def at_least(minimum: int) -> Check:
    """An integer with a lower bound whose breach is an invalid value."""

    def check(at: str, value: Any) -> None:
        integer(at, value)
        if value < minimum:
            raise invalid(f"{at}: must be at least {minimum}")

    return check


def within(check: Check, low: float, high: float) -> Check:
    """A bounded value whose breach is out of range (2:7.4, 416)."""

    def bounded(at: str, value: Any) -> None:
        check(at, value)
        if not low <= value <= high:
            raise PbError(OUT_OF_RANGE, f"{at}: {value} is outside the range [{low:g}, {high:g}]")

    return bounded


def one_of(*options: str) -> Check:
    """One of a few words, in either case."""

    def check(at: str, value: Any) -> None:
        string(at, value)
        if value.lower() not in options:
            raise invalid(f"Invalid value at '{at}': {value!r} is none of {', '.join(options)}")

    return check


def _place(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name
