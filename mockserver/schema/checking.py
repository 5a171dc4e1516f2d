"""Whether a schema allows a value: as much of JSON Schema 2020-12 as tools and structured output use."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mockserver.schema.resolving import Schema, resolve


def is_number(value: Any) -> bool:
    """Whether it is a number; true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


_IS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: is_number(value) and value == int(value),
    "number": is_number,
    "boolean": lambda value: isinstance(value, bool),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
    "null": lambda value: value is None,
}


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, and true is not 1."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    return bool(one == other)


def allows(schema: Schema, value: Any, root: Schema) -> bool:
    """Whether the schema allows the value."""
    if isinstance(schema, bool):
        return schema
    if "$ref" in schema and not allows(resolve(schema["$ref"], root), value, root):
        return False
    kinds = schema.get("type")
    if kinds is not None and not any(_IS[kind](value) for kind in (kinds if isinstance(kinds, list) else [kinds])):
        return False
    if "const" in schema and not same(schema["const"], value):
        return False
    if "enum" in schema and not any(same(each, value) for each in schema["enum"]):
        return False
    return _combined(schema, value, root) and _own(schema, value, root)


def distinct(values: Sequence[Any]) -> bool:
    """Whether no two values are equal."""
    return not any(same(one, other) for index, one in enumerate(values) for other in values[:index])


def _combined(schema: Mapping[str, Any], value: Any, root: Schema) -> bool:
    def matching(name: str) -> int:
        return sum(allows(each, value, root) for each in schema[name])

    if "allOf" in schema and matching("allOf") < len(schema["allOf"]):
        return False
    if "anyOf" in schema and not matching("anyOf"):
        return False
    if "oneOf" in schema and matching("oneOf") != 1:
        return False
    if "not" in schema and allows(schema["not"], value, root):
        return False
    if "if" not in schema:
        return True
    return allows(schema.get("then" if allows(schema["if"], value, root) else "else", True), value, root)


def _own(schema: Mapping[str, Any], value: Any, root: Schema) -> bool:
    if isinstance(value, str):
        return _text(schema, value)
    if is_number(value):
        return _number(schema, value)
    if isinstance(value, list):
        return _array(schema, value, root)
    return _object(schema, value, root) if isinstance(value, dict) else True


def _within(schema: Mapping[str, Any], what: str, size: int) -> bool:
    return bool(schema.get(f"min{what}", 0) <= size <= schema.get(f"max{what}", size))


def _text(schema: Mapping[str, Any], value: str) -> bool:
    pattern = schema.get("pattern")
    return _within(schema, "Length", len(value)) and (pattern is None or re.search(pattern, value) is not None)


def _number(schema: Mapping[str, Any], value: float) -> bool:
    if value < schema.get("minimum", value) or value > schema.get("maximum", value):
        return False
    if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
        return False
    if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
        return False
    step = schema.get("multipleOf")
    return step is None or (value % step == 0 if isinstance(step, int) else (value / step).is_integer())


def _array(schema: Mapping[str, Any], value: list[Any], root: Schema) -> bool:
    first = schema.get("prefixItems", ())
    if not all(allows(each, item, root) for each, item in zip(first, value, strict=False)):
        return False
    if not all(allows(schema.get("items", True), item, root) for item in value[len(first) :]):
        return False
    if "contains" in schema:
        found = sum(allows(schema["contains"], item, root) for item in value)
        if not schema.get("minContains", 1) <= found <= schema.get("maxContains", found):
            return False
    return _within(schema, "Items", len(value)) and not (schema.get("uniqueItems") and not distinct(value))


def _object(schema: Mapping[str, Any], value: dict[str, Any], root: Schema) -> bool:
    if not all(name in value for name in schema.get("required", ())):
        return False
    if not all(allows(each, value[name], root) for name, each in schema.get("properties", {}).items() if name in value):
        return False
    patterns = schema.get("patternProperties", {})
    for name, member in value.items():
        matched = [each for pattern, each in patterns.items() if re.search(pattern, name)]
        if name not in schema.get("properties", {}) and not matched:
            matched = [schema.get("additionalProperties", True)]
        if not all(allows(each, member, root) for each in matched):
            return False
    if not all(allows(schema.get("propertyNames", True), name, root) for name in value):
        return False
    needed = schema.get("dependentRequired", {})
    if not all(other in value for name, others in needed.items() if name in value for other in others):
        return False
    return _within(schema, "Properties", len(value))
