"""The client's messages on a socket: their types and fields, checked as strictly as a body over HTTP (1:4.3, 2:7.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mockserver import strict_json
from mockserver.pc.errors import invalid, missing

CREATE = "response.create"
STEER = "response.steer"
INJECT = "response.inject"

Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _items(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _input(value: Any) -> bool:
    return _text(value) or _items(value)


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _anything(value: Any) -> bool:
    return True


FIELDS: Mapping[str, Mapping[str, Check]] = {
    CREATE: {
        "model": _text,
        "input": _input,
        "instructions": _text,
        "previous_response_id": _text,
        "conversation": _anything,
        "store": _flag,
        "max_output_tokens": _whole,
        "max_tool_calls": _whole,
        "temperature": _number,
        "top_p": _number,
        "top_logprobs": _whole,
        "truncation": _text,
        "service_tier": _text,
        "metadata": _object,
        "tools": _items,
        "tool_choice": _anything,
        "parallel_tool_calls": _flag,
        "reasoning": _object,
        "text": _object,
        "include": _anything,
        "prompt": _object,
        "prompt_cache_key": _text,
        "safety_identifier": _text,
        "user": _text,
        "stream": _flag,
        "stream_id": _text,
        "generate": _flag,
    },
    STEER: {"previous_response_id": _text, "input": _input},
    INJECT: {"response_id": _text, "input": _items},
}
"""Type -> the fields it may have; the documents name the types and the fields of POST /v1/responses."""

REQUIRED: Mapping[str, tuple[str, ...]] = {
    CREATE: ("model",),
    STEER: ("previous_response_id", "input"),
    INJECT: ("response_id", "input"),
}


def read(raw: str | bytes) -> dict[str, Any]:
    """A message, its type among its fields and without nulls.

    Raises:
        PcError: it is not one that the socket takes.
    """
    try:
        message = strict_json.loads(raw)
    except ValueError as error:
        raise invalid("invalid_json", f"The message is not valid JSON: {error}") from None
    if not isinstance(message, dict):
        raise invalid("invalid_type", "The message is not a JSON object.")
    name = message.get("type")
    if not isinstance(name, str) or name not in FIELDS:
        raise invalid("invalid_value", f"type: {name!r} is none of {', '.join(FIELDS)}.", "type")
    given = {field: value for field, value in message.items() if value is not None}
    for field, value in given.items():
        _check(FIELDS[name], field, value)
    for field in REQUIRED[name]:
        if field not in given:
            raise missing(field)
    if {"previous_response_id", "conversation"} <= given.keys():
        message = "previous_response_id and conversation cannot be combined."
        raise invalid("mutually_exclusive_parameters", message, "previous_response_id")
    return given


def text_of(given: Any) -> str:
    """The text of an input, whichever shape it has."""
    if isinstance(given, str):
        return given
    return " ".join(_text_of_item(item) for item in given)


def _text_of_item(item: Mapping[str, Any]) -> str:
    content = item.get("content", item.get("output", ""))
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return " ".join(str(part.get("text", "")) for part in parts if isinstance(part, dict))


def _check(fields: Mapping[str, Check], field: str, value: Any) -> None:
    if field == "type":
        return
    if field not in fields:
        raise invalid("unknown_parameter", f"Unknown parameter: '{field}'.", field)
    if not fields[field](value):
        raise invalid("invalid_type", f"Invalid type for '{field}'.", field)
    if field == "max_output_tokens" and value < MIN_OUTPUT_TOKENS:
        raise invalid("integer_below_min_value", f"'{field}' must be at least {MIN_OUTPUT_TOKENS}.", field)


MIN_OUTPUT_TOKENS = 1
"""The documents give no minimum; this is the smallest that means anything."""
