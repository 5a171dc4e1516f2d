"""Example values for JSON Schemas, from the keywords that clients send.

The README says which, under "Tools and structured output". The documents name no schema that a provider refuses, so
other keywords are ignored, and every schema has an example.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

PLAIN: Mapping[str, Any] = {"integer": 1, "number": 1.5, "boolean": True, "null": None}

TEXT = "mock"
# the formats that PA's official client sends for pydantic types, into which it then reads the answer
FORMATS: Mapping[str, str] = {
    "date-time": "2026-01-31T12:00:00Z",
    "date": "2026-01-31",
    "time": "12:00:00Z",
    "duration": "PT1H",
    "email": "mock@example.com",
    "hostname": "mock.example",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/mock",
    "uuid": "00000000-0000-4000-8000-000000000001",
}

MAX_REFERENCES = 8  # nested; more than clients nest models, and a bound if models refer to each other


class _EndlessError(Exception):
    """References lead in a circle, or too deep."""


def make_example(schema: Any) -> Any:
    """Make a value for the schema, always the same; None if it has no end."""
    with suppress(_EndlessError, RecursionError):  # a body may nest schemas as deeply as its parser allows
        return _make(schema, schema, frozenset())
    return None


def _make(schema: Any, root: Any, followed: frozenset[str]) -> Any:
    """Make a value for a part of `root`; `followed` are the references that led here."""
    if not isinstance(schema, Mapping):
        return TEXT  # `true` allows any value
    if "const" in schema:
        return schema["const"]
    if isinstance(schema.get("enum"), list) and schema["enum"]:
        return schema["enum"][0]
    if "$ref" in schema:
        reference = str(schema["$ref"])
        if reference in followed or len(followed) == MAX_REFERENCES:
            raise _EndlessError
        return _make({**_without(schema, "$ref"), **_resolve(reference, root)}, root, followed | {reference})
    for keyword in ("anyOf", "oneOf"):
        if isinstance(schema.get(keyword), list) and schema[keyword]:
            return _make_first_branch(schema, keyword, root, followed)
    match _type_of(schema):
        case "object":
            return _make_object(schema, root, followed)
        case "array":
            return _make_array(schema, root, followed)
        case kind if kind in PLAIN:
            return PLAIN[kind]
        case _:
            return FORMATS.get(str(schema.get("format")), TEXT)


def _without(schema: Mapping[str, Any], keyword: str) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != keyword}


def _resolve(reference: str, root: Any) -> Mapping[str, Any]:
    """Return the part of `root` that `#/$defs/NAME` names, or an empty schema."""
    target = root
    for step in reference.split("/")[1:]:
        target = target.get(step) if isinstance(target, Mapping) else None
    return target if isinstance(target, Mapping) else {}


def _make_first_branch(schema: Mapping[str, Any], keyword: str, root: Any, followed: frozenset[str]) -> Any:
    """Make a value for the first branch of `anyOf` or `oneOf` that comes to an end."""
    shared = _without(schema, keyword)
    for branch in schema[keyword]:
        with suppress(_EndlessError):
            return _make({**shared, **branch} if isinstance(branch, Mapping) else shared, root, followed)
    raise _EndlessError


def _type_of(schema: Mapping[str, Any]) -> str:
    """Return the type in lower case, the first of several; PB writes capitals."""
    kind = schema.get("type")
    if isinstance(kind, list) and kind:
        kind = kind[0]
    if isinstance(kind, str):
        return kind.lower()
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def _make_object(schema: Mapping[str, Any], root: Any, followed: frozenset[str]) -> dict[str, Any]:
    """Make all properties, but for optional ones without an end."""
    properties, required = schema.get("properties"), schema.get("required")
    properties = properties if isinstance(properties, Mapping) else {}
    required = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    value = {}
    for name in dict.fromkeys((*properties, *required)):
        try:
            value[name] = _make(properties.get(name, True), root, followed)
        except _EndlessError:
            if name in required:
                raise
    return value


def _make_array(schema: Mapping[str, Any], root: Any, followed: frozenset[str]) -> list[Any]:
    """Make one item; none where no schema of items is given, or where it never ends."""
    with suppress(_EndlessError):
        return [_make(schema["items"], root, followed)] if "items" in schema else []
    return []
