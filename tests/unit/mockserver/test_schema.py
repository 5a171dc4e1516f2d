"""Values made from a JSON Schema: allowed by it, the same for the same seed, refused where there can be none."""

from __future__ import annotations

import re
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from mockserver.schema import Unsatisfiable, called, example
from mockserver.schema.patterns import matching

NAMES = st.sampled_from(["city", "unit", "days", "note", "list", "a/b", "x~y"])


@st.composite
def numbers(draw: st.DrawFn) -> dict[str, Any]:
    low = draw(st.integers(-1000, 1000))
    found: dict[str, Any] = {"type": draw(st.sampled_from(["integer", "number"]))}
    if draw(st.booleans()):
        found[draw(st.sampled_from(["minimum", "exclusiveMinimum"]))] = low
    if draw(st.booleans()):
        found[draw(st.sampled_from(["maximum", "exclusiveMaximum"]))] = low + draw(st.integers(12, 500))
    if draw(st.booleans()):
        found["multipleOf"] = draw(st.sampled_from([1, 2, 5, 3]))
    return found


@st.composite
def texts(draw: st.DrawFn) -> dict[str, Any]:
    least = draw(st.integers(0, 30))
    sized = {"type": "string", "minLength": least, "maxLength": least + draw(st.integers(0, 20))}
    patterned = {
        "type": "string",
        "pattern": draw(st.sampled_from([r"^[A-Z]{3}-\d{2,4}$", r"^(a|bc)+\.x?$", r"\w+@\w+"])),
    }
    return draw(st.sampled_from([sized, patterned, {"type": "string", "format": "date-time"}, {"type": "string"}]))


@st.composite
def objects(draw: st.DrawFn, members: st.SearchStrategy[Any]) -> dict[str, Any]:
    properties = draw(st.dictionaries(NAMES, members, max_size=4))
    found: dict[str, Any] = {"type": "object", "properties": properties}
    if properties:
        found["required"] = draw(st.lists(st.sampled_from(sorted(properties)), unique=True))
    if draw(st.booleans()):
        found["additionalProperties"] = draw(st.one_of(st.just(False), members))
    elif draw(st.booleans()):
        found["minProperties"] = draw(st.integers(0, 6))
    return found


@st.composite
def arrays(draw: st.DrawFn, items: st.SearchStrategy[Any]) -> dict[str, Any]:
    least = draw(st.integers(0, 4))
    found: dict[str, Any] = {"type": "array", "items": draw(items), "minItems": least}
    if draw(st.booleans()):
        found["maxItems"] = least + draw(st.integers(0, 3))
    if draw(st.booleans()):
        found["prefixItems"] = draw(st.lists(items, max_size=2))
    return found


def _combined(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(inner, min_size=1, max_size=3)
    return st.one_of(
        objects(inner),
        arrays(inner),
        some.map(lambda options: {"anyOf": [*options, {"type": "null"}]}),
        inner.map(lambda one: {"allOf": [one, {"description": "also"}]}),
        inner.map(lambda one: {"$ref": "#/$defs/one", "$defs": {"one": one}} if "$defs" not in str(one) else one),
        st.tuples(numbers(), texts()).map(lambda both: {"oneOf": list(both)}),
    )


LEAVES = st.one_of(
    numbers(),
    texts(),
    st.sampled_from([True, {}, {"type": "boolean"}, {"type": ["string", "null"]}, {"const": 7}, {"enum": ["a", 1]}]),
)
SCHEMAS = st.recursive(LEAVES, _combined, max_leaves=8).filter(lambda schema: "$ref" not in str(schema)[8:])
"""References are from the root, so that those of an inner schema would lead elsewhere."""


@given(SCHEMAS, st.text(max_size=5))
def test_what_is_made_is_allowed_and_the_same_again(schema: Any, seed: str) -> None:
    made = example(schema, seed)
    Draft202012Validator(schema).validate(made)
    assert example(schema, seed) == made


TREE = {
    "$ref": "#/$defs/tree",
    "$defs": {
        "tree": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
                "parent": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]},
            },
            "required": ["name", "children", "parent"],
            "additionalProperties": False,
        }
    },
}


@pytest.mark.parametrize(
    "schema",
    [
        TREE,
        {"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True, "minItems": 3},
        {"type": "array", "contains": {"const": 7}, "items": {"type": "integer"}, "minContains": 2},
        {"type": "string", "not": {"enum": ["mock", "amber"]}},
        {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.25},
        {"type": "number", "multipleOf": 0.5, "minimum": 3.2},
        {"oneOf": [{"type": "integer"}, {"type": "integer", "minimum": 5}]},
        {"if": {"required": ["a"]}, "then": {"required": ["b"]}, "properties": {"a": {"const": 1}}},
        {"type": "object", "patternProperties": {"^x-": {"type": "integer"}}, "minProperties": 2},
        {"enum": [1, 2, 3], "minimum": 3},
        {"required": ["what", "ever"]},
    ],
)
def test_schemas_with_a_twist(schema: Any) -> None:
    for seed in "abcdefgh":
        Draft202012Validator(schema).validate(example(schema, seed))


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (False, "no value"),
        ({"type": "integer", "minimum": 2, "maximum": 1}, "no value"),
        ({"enum": []}, "no value"),
        ({"$ref": "#/nowhere"}, "leads nowhere"),
        ({"$ref": "https://example.com/schema"}, "out of the schema"),
        ({"$ref": "#"}, "circle"),
        ({"type": "texts"}, "no type"),
        ({"type": "object", "properties": 3}, "cannot be read"),
        ({"type": "string", "pattern": "(?=ahead)"}, "not understood"),
        ([], "no schema"),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "no value"),
    ],
)
def test_what_cannot_be_made_is_told(schema: Any, reason: str) -> None:
    with pytest.raises(Unsatisfiable, match=reason):
        example(schema, "")


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\d{4}-\d{2}-\d{2}$",
        r"^(?:https?)://[a-z]+\.example(/[^/\s]*)*$",
        r"^[^a-z]{2,}$",
        r"[\w.+-]+@[\w-]+\.[a-z]{2,3}",
        r"^\x41\u0042\t?$",
        r"^\S+\D*?\W$",
        r"^[]a-]+$",
    ],
)
def test_texts_that_a_pattern_matches(pattern: str) -> None:
    for seed in range(50):
        assert re.search(pattern, matching(pattern, Random(seed)))


TOOLS = ("get_weather", "get_time", "answer")


@pytest.mark.parametrize(
    ("said", "options", "expected"),
    [
        ("Hello", {}, []),
        ("Use get_weather, please", {}, ["get_weather"]),
        ("forget_weather is none of them", {}, []),
        ("get_time and get_weather", {}, ["get_weather", "get_time"]),
        ("get_time and get_weather", {"parallel": False}, ["get_weather"]),
        ("get_weather", {"already": ["get_weather"]}, []),
        ("Hello", {"must": ["answer"]}, ["answer"]),
        ("get_time", {"must": TOOLS}, ["get_time"]),
        ("get_time", {"must": TOOLS, "already": ["get_time"]}, ["get_weather"]),
        ("get_weather", {"must": ["get_weather"], "already": ["get_weather"]}, ["get_weather"]),
    ],
)
def test_a_tool_is_called_that_must_be_or_that_the_user_names(
    said: str, options: dict[str, Any], expected: list[str]
) -> None:
    assert called(TOOLS, said, **options) == expected


def test_what_is_always_so_adds_nothing() -> None:
    assert isinstance(example({"allOf": [True, {"type": "string"}]}, ""), str)
    assert example({"allOf": [True, {"description": "anything"}]}, "") == example({"allOf": [True]}, "")
    with pytest.raises(Unsatisfiable):
        example({"allOf": [True, False]}, "")


@pytest.mark.parametrize(
    "schema",
    [
        {"patternProperties": {"^x-": {"type": "integer"}}, "required": ["x-a"]},
        {"patternProperties": {"^S_": {"type": "string"}}, "additionalProperties": False, "required": ["S_1"]},
        {"properties": {"a": {"minimum": 3}}, "patternProperties": {"^a": {"type": "integer"}}, "required": ["a"]},
        {"dependentRequired": {"a": ["b"], "b": ["c"]}, "required": ["a"]},
        {"propertyNames": {"pattern": "^z[0-9]{3}$"}, "minProperties": 2},
        {"propertyNames": {"enum": ["one"]}, "minProperties": 1},
    ],
)
def test_names_of_properties_are_as_their_object_wants_them(schema: dict[str, Any]) -> None:
    made = example({"type": "object", **schema}, "seed")
    assert made
    Draft202012Validator(schema).validate(made)


def test_a_pattern_of_names_that_is_none_allows_nothing() -> None:
    with pytest.raises(Unsatisfiable):
        example({"type": "object", "patternProperties": {"(": True}, "required": ["a"]}, "seed")


@pytest.mark.parametrize(
    "items",
    [
        *({"type": "string", **more} for more in ({}, {"maxLength": 3}, {"minLength": 40}, {"pattern": "^[a-f]{3}$"})),
        *(
            {"type": "string", "format": name}
            for name in ("date", "date-time", "time", "email", "uuid", "ipv4", "ipv6")
        ),
        {"type": "integer"},
        {"type": "integer", "minimum": 1, "maximum": 50},
        {"type": "number", "maximum": -3},
        {"enum": list(range(50))},
        {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"], "additionalProperties": False},
    ],
)
def test_as_many_items_as_are_wanted_are_unlike_each_other(items: dict[str, Any]) -> None:
    schema = {"type": "array", "items": items, "minItems": 50, "uniqueItems": True}
    made = example(schema, "seed")
    Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(made)
    assert len(made) >= 50
    assert example(schema, "seed") == made


@pytest.mark.parametrize("pattern", ["^x_", "^[a-z]{4}$", "id"])
def test_properties_are_named_as_a_pattern_wants_where_no_others_may_be(pattern: str) -> None:
    named = {"patternProperties": {pattern: {"type": "integer"}}, "additionalProperties": False}
    schema = {"type": "object", "minProperties": 5, **named}
    made = example(schema, "seed")
    Draft202012Validator(schema).validate(made)
    assert len(made) == 5
