"""Example values for a schema, keyword by keyword, and the tools that the model calls."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from ipaddress import IPv4Address, IPv6Address
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from jsonschema import Draft202012Validator

from catalog_probe.mockserver.requested_output import FORMATS, RequestedOutput, choose_tools, make_example

if TYPE_CHECKING:
    from collections.abc import Callable

POINT = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"type": "string"}, "mock", id="string"),
        pytest.param({"type": "integer"}, 1, id="integer"),
        pytest.param({"type": "number"}, 1.5, id="number"),
        pytest.param({"type": "boolean"}, True, id="boolean"),
        pytest.param({"type": "null"}, None, id="null"),
        pytest.param({"type": ["integer", "null"]}, 1, id="first of several types"),
        pytest.param({"type": "INTEGER", "nullable": True}, 1, id="type in capitals"),
        pytest.param({"type": "object"}, {}, id="object"),
        pytest.param({"type": "array"}, [], id="array"),
        pytest.param({"type": "array", "items": {"type": "integer"}}, [1], id="items"),
        pytest.param({"items": {"type": "integer"}}, [1], id="items without a type"),
        pytest.param({"properties": {"a": POINT, "b": {"type": "null"}}}, {"a": {"x": 1}, "b": None}, id="properties"),
        pytest.param({"type": "object", "required": ["a"]}, {"a": "mock"}, id="required"),
        pytest.param({"type": "string", "const": "a"}, "a", id="const"),
        pytest.param({"type": "string", "enum": ["b", "a"]}, "b", id="enum"),
        pytest.param({"anyOf": [{"type": "integer"}, {"type": "null"}]}, 1, id="anyOf"),
        pytest.param({"oneOf": [{"type": "null"}, {"type": "integer"}]}, None, id="oneOf"),
        pytest.param({"type": "object", "anyOf": [{"required": ["a"]}]}, {"a": "mock"}, id="anyOf beside a type"),
        pytest.param({"$ref": "#/$defs/point", "$defs": {"point": POINT}}, {"x": 1}, id="$ref"),
        pytest.param({"$ref": "#/definitions/a", "definitions": {"a": {"const": 2}}}, 2, id="$ref to definitions"),
        pytest.param({"type": "string", "format": "date"}, "2026-01-31", id="format"),
    ],
)
def test_a_keyword_of_the_subset_is_followed(schema: dict[str, Any], expected: Any) -> None:
    assert make_example(schema) == expected
    in_json_schema = {**schema, "type": "integer"} if "nullable" in schema else schema
    Draft202012Validator(in_json_schema).validate(make_example(schema))


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        pytest.param({"type": "integer", "minimum": 5}, 1, id="minimum"),
        pytest.param({"type": "string", "pattern": "^[A-Z]$", "minLength": 9}, "mock", id="pattern"),
        pytest.param({"type": "string", "format": "isbn"}, "mock", id="unknown format"),
        pytest.param({"type": "array", "minItems": 3, "prefixItems": [{}]}, [], id="minItems"),
        pytest.param({"allOf": [{"type": "integer"}]}, "mock", id="allOf"),
        pytest.param({"type": "text"}, "mock", id="unknown type"),
        pytest.param({"type": [], "enum": [], "anyOf": []}, "mock", id="empty lists"),
        pytest.param({"type": "object", "properties": 3, "required": 3}, {}, id="no properties"),
        pytest.param({"anyOf": [3]}, "mock", id="a branch that is no schema"),
        pytest.param({"$ref": "#/nowhere"}, "mock", id="dangling $ref"),
        pytest.param({"$ref": "https://example.com/schema"}, "mock", id="remote $ref"),
        pytest.param({}, "mock", id="nothing"),
        pytest.param(True, "mock", id="true"),
        pytest.param([], "mock", id="a list"),
    ],
)
def test_anything_else_gets_the_plain_example_of_its_type(schema: Any, expected: Any) -> None:
    assert make_example(schema) == expected


READERS: dict[str, Callable[[str], Any]] = {
    "date-time": datetime.fromisoformat,
    "date": date.fromisoformat,
    "time": time.fromisoformat,
    "duration": {"PT1H": timedelta(hours=1)}.__getitem__,
    "email": str,
    "hostname": str,
    "ipv4": IPv4Address,
    "ipv6": IPv6Address,
    "uri": str,
    "uuid": UUID,
}


@pytest.mark.parametrize("name", FORMATS)
def test_the_example_of_a_format_can_be_read_as_such(name: str) -> None:
    example = make_example({"type": "string", "format": name})
    assert READERS[name](example)
    Draft202012Validator({"format": name}, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(example)


TREE = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "children": {"type": "array", "items": {"$ref": "#/$defs/tree"}},
        "parent": {"anyOf": [{"$ref": "#/$defs/tree"}, {"type": "null"}]},
        "twin": {"$ref": "#/$defs/tree"},
    },
    "required": ["name", "children", "parent"],
    "additionalProperties": False,
}


def test_a_schema_that_refers_to_itself_ends_where_it_can() -> None:
    schema = {"$ref": "#/$defs/tree", "$defs": {"tree": TREE}}
    assert make_example(schema) == {"name": "mock", "children": [], "parent": None}
    Draft202012Validator(schema).validate(make_example(schema))


def test_a_schema_without_an_end_gets_null() -> None:
    assert make_example({"$ref": "#"}) is None
    assert make_example({"properties": {"a": {"$ref": "#"}}, "required": ["a"]}) is None


def test_a_schema_nested_too_deeply_gets_null() -> None:
    schema: dict[str, Any] = {}
    for _ in range(10_000):
        schema = {"items": schema}
    assert make_example(schema) is None


@pytest.mark.parametrize("parameters", [None, True, {"const": 3}, {"$ref": "#"}])
def test_arguments_of_a_call_are_always_an_object(parameters: Any) -> None:
    output = RequestedOutput(functions={"look": parameters}, required=("look",))
    assert list(output.make_calls()) == [("look", {})]


TOOLS = ("get_weather", "get_time", "answer")


@pytest.mark.parametrize(
    ("user_text", "options", "expected"),
    [
        ("Hello", {}, []),
        ("Use get_weather, please", {}, ["get_weather"]),
        ("forget_weather is none of them", {}, []),
        ("get_time and get_weather", {}, ["get_weather", "get_time"]),
        ("get_time and get_weather", {"parallel": False}, ["get_weather"]),
        ("get_weather", {"called": ["get_weather"]}, []),
        ("Hello", {"required": ["answer"]}, ["answer"]),
        ("get_time", {"required": TOOLS}, ["get_time"]),
        ("get_time", {"required": TOOLS, "called": ["get_time"]}, ["get_weather"]),
        ("get_weather", {"required": ["get_weather"], "called": ["get_weather"]}, ["get_weather"]),
    ],
)
def test_a_tool_is_called_that_must_be_or_that_the_user_names(
    user_text: str, options: dict[str, Any], expected: list[str]
) -> None:
    assert choose_tools(TOOLS, user_text, **options) == expected
