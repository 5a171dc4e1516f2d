"""Checking body fields: JSON types and bounds, worded as such APIs word them (`top_k: Input should be ...`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from catalog_probe.mockserver.pa.errors import invalid

Check = Callable[[Any], str | None]
"""Says what is wrong with a value; None when nothing is."""


def integer(minimum: int | None = None, maximum: int | None = None) -> Check:
    """An integer, bounds included. `true` and `1.5` are none."""

    def check(value: Any) -> str | None:
        if not isinstance(value, int) or isinstance(value, bool):
            return "Input should be a valid integer"
        if minimum is not None and value < minimum:
            return f"Input should be greater than or equal to {minimum}"
        if maximum is not None and value > maximum:
            return f"Input should be less than or equal to {maximum}"
        return None

    return check


def number(minimum: float, maximum: float) -> Check:
    """A number, bounds included."""

    def check(value: Any) -> str | None:
        if not isinstance(value, (int, float)) or isinstance(value, bool):
            return "Input should be a valid number"
        return None if minimum <= value <= maximum else f"range: {minimum:g}..{maximum:g}"

    return check


def one_of(*options: str) -> Check:
    """One of a few strings."""
    listed = " or ".join(repr(option) for option in options)
    return lambda value: None if value in options else f"Input should be {listed}"


def of_type(kind: type, name: str) -> Check:
    """A JSON type."""
    return lambda value: None if isinstance(value, kind) else f"Input should be a valid {name}"


def either(*checks: Check) -> Check:
    """What any of the checks accepts; otherwise what the last one says."""

    def check(value: Any) -> str | None:
        failures = [failure(value) for failure in checks]
        return None if None in failures else failures[-1]

    return check


def tagged(*tags: str) -> Check:
    """An object whose `type` is one of `tags`."""

    def check(value: Any) -> str | None:
        if not isinstance(value, dict):
            return "Input should be a valid dictionary"
        if value.get("type") in tags:
            return None
        return f"Input tag {value.get('type')!r} found using 'type' does not match any of the expected tags: {tags}"

    return check


string = of_type(str, "string")
boolean = of_type(bool, "boolean")
array = of_type(list, "list")
dictionary = of_type(dict, "dictionary")
null: Check = of_type(type(None), "null")
strings: Check = lambda value: (  # noqa: E731
    None
    if isinstance(value, list) and all(isinstance(item, str) for item in value)
    else "Input should be valid strings"
)


def check_fields(
    body: Mapping[str, Any],
    checks: Mapping[str, Check],
    required: Collection[str],
    *,
    at: str = "",
    extra: bool = False,
) -> None:
    """Raise the first thing wrong: a field missing, of the wrong type or range, or (if not `extra`) unknown."""
    for name in required:
        if name not in body:
            raise invalid(f"{at}{name}: Field required")
    for name, value in body.items():
        check = checks.get(name)
        failure = check(value) if check else None
        if failure:
            raise invalid(f"{at}{name}: {failure}")
    for name in body:
        if name not in checks and not extra:
            raise invalid(f"{at}{name}: Extra inputs are not permitted")
