"""Functions and formats in a request, checked as strictly as the rest of it.

The documents show no field of either; these are what clients send, to chat completions and to responses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pc.errors import INVALID_VALUE, missing
from catalog_probe.mockserver.pc.fields import OBJECT, check_value, string
from catalog_probe.mockserver.schema.wanted import FUNCTION, NotOffered, of_chat, of_response

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from catalog_probe.mockserver.schema.wanted import Wanted

MODES = ("none", "auto", "required")
FORMATS = ("text", "json_object", "json_schema")


def asked_of_chat(body: Mapping[str, Any], said: str, already: Collection[str]) -> Wanted:
    """What a body of chat completions wants; functions and formats are in objects of their own."""
    for index, tool in enumerate(body.get("tools") or ()):
        at = f"tools[{index}]"
        _check_kind(tool, at, FUNCTION, "custom")
        if tool["type"] == FUNCTION:
            _check_function(tool.get(FUNCTION), f"{at}.{FUNCTION}")
    given = body.get("response_format")
    _check_format(given, "response_format", (given or {}).get("json_schema"), "response_format.json_schema")
    return _read(of_chat, body, said, already)


def asked_of_response(body: Mapping[str, Any], said: str, already: Collection[str]) -> Wanted:
    """What a body of responses wants; functions and formats are beside their type."""
    for index, tool in enumerate(body.get("tools") or ()):
        at = f"tools[{index}]"
        _check_kind(tool, at)
        if tool["type"] == FUNCTION:
            _check_function(tool, at)
    given = (body.get("text") or {}).get("format")
    _check_format(given, "text.format", given, "text.format")
    return _read(of_response, body, said, already)


def _read(read: Callable[..., Wanted], body: Mapping[str, Any], said: str, already: Collection[str]) -> Wanted:
    if isinstance(body.get("tool_choice"), str):
        check_value("tool_choice", body["tool_choice"], string(*MODES))
    try:
        return read(body, said, already)
    except NotOffered as name:
        raise INVALID_VALUE(f"Tool choice '{name}' not found in 'tools' parameter.", "tool_choice") from None


def _check_kind(tool: Any, at: str, *kinds: str) -> None:
    check_value(at, tool, OBJECT)
    if tool.get("type") is None:
        raise missing(f"{at}.type")
    check_value(f"{at}.type", tool["type"], string(*kinds))


def _check_function(function: Any, at: str) -> None:
    if function is None:
        raise missing(at)
    check_value(at, function, OBJECT)
    if function.get("name") is None:
        raise missing(f"{at}.name")
    check_value(f"{at}.name", function["name"], string(max_length=64))
    if function.get("parameters") is not None:
        check_value(f"{at}.parameters", function["parameters"], OBJECT)


def _check_format(given: Any, at: str, described: Any, schema_at: str) -> None:
    if given is None:
        return
    check_value(at, given, OBJECT)
    check_value(f"{at}.type", given.get("type") or "", string(*FORMATS))
    if given["type"] != "json_schema":
        return
    if described is None:
        raise missing(schema_at)
    check_value(schema_at, described, OBJECT)
    for name in ("name", "schema"):
        if described.get(name) is None:
            raise missing(f"{schema_at}.{name}")
    check_value(f"{schema_at}.schema", described["schema"], OBJECT)  # 2:7.5 row invalid_type
