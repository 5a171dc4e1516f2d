"""The body of POST /v1/responses, checked as strictly as the documents say (1:4.3, 2:7.5)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pc.errors import (
    INVALID_VALUE,
    MUTUALLY_EXCLUSIVE_PARAMETERS,
    SERVICE_TIER_NOT_ALLOWED,
    UNSUPPORTED_PARAMETER,
    missing,
)
from catalog_probe.mockserver.pc.fields import (
    ANY,
    BOOLEAN,
    OBJECT,
    Field,
    array,
    check,
    check_value,
    integer,
    number,
    string,
)
from catalog_probe.mockserver.pc.models import find

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.models import Model

MIN_OUTPUT_TOKENS = 16
"""The documents give no minimum; this is what real clients know."""

SERVICE_TIERS = ("auto", "default", "flex", "priority", "fast")
SERVED_AS: Mapping[str, str] = {"auto": "default", "fast": "priority"}
"""What a tier resolves to, where that is another."""

FIELDS: Mapping[str, Field] = {
    "model": string(),
    "input": Field(("string", "array")),
    "instructions": string(),
    "max_output_tokens": integer(low=MIN_OUTPUT_TOKENS),
    "previous_response_id": string(),
    "conversation": Field(("string", "object")),
    "store": BOOLEAN,
    "truncation": string("auto", "disabled"),
    "service_tier": string(*SERVICE_TIERS),
    "temperature": number(0, 2),
    "top_p": number(0, 1),
    "top_logprobs": integer(0, 20),
    "tools": array(128),
    "tool_choice": Field(("string", "object")),
    "parallel_tool_calls": BOOLEAN,
    "max_tool_calls": integer(low=1),
    "metadata": OBJECT,
    "reasoning": OBJECT,
    "text": OBJECT,
    "include": array(32),
    "prompt": OBJECT,
    "prompt_cache_key": string(max_length=64),
    "safety_identifier": string(max_length=64),
    "user": string(),
    "background": BOOLEAN,
    "stream": BOOLEAN,
    "stream_options": OBJECT,
}
"""The fields named in 1:4.3, and those that real clients send."""

ELSEWHERE = ("messages", "max_tokens", "max_completion_tokens", "stop", "n")
"""Parameters of chat completions that are not valid here: 2:7.5 tells them from those that nobody knows."""

_PARTS: Mapping[str, Mapping[str, Field]] = {
    "input_text": {"type": string(), "text": string()},
    "output_text": {"type": string(), "text": string(), "annotations": array(), "logprobs": array()},
    "refusal": {"type": string(), "refusal": string()},
    "input_image": {"type": string(), "image_url": string(), "file_id": string(), "detail": string()},
    "input_file": {"type": string(), "file_id": string(), "file_url": string(), "file_data": string(), "filename": ANY},
}
_ROLES = ("user", "assistant", "system", "developer")
_ITEMS = ("message", "function_call", "function_call_output", "reasoning", "item_reference")

Parts = list[Mapping[str, Any]]


def check_response(call: Call, body: Mapping[str, Any]) -> Model:
    """Raise the first thing wrong with the body; the model that is to answer otherwise."""
    refuse_those_of_elsewhere(body, ELSEWHERE)
    check(body, FIELDS, required=("model",))
    if body.get("previous_response_id") is not None and body.get("conversation") is not None:
        raise MUTUALLY_EXCLUSIVE_PARAMETERS(
            "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Send only one of them.",
            "previous_response_id",
        )
    if not body.get("input") and body.get("previous_response_id") is None and body.get("prompt") is None:
        raise missing("input")
    _check_items(body.get("input"))
    model = find(body["model"], call.key, call.project, "text")
    check_sampling(body, model)
    check_service_tier(call, body)
    if (body.get("max_output_tokens") or 0) > model.max_output_tokens:
        message = f"Invalid 'max_output_tokens': this model gives at most {model.max_output_tokens} tokens."
        raise INVALID_VALUE(message, "max_output_tokens")
    return model


def refuse_those_of_elsewhere(body: Mapping[str, Any], elsewhere: Collection[str]) -> None:
    """Raise the first parameter that is valid on another endpoint alone (2:7.5)."""
    for name in body:
        if name in elsewhere:
            message = f"Unsupported parameter: '{name}' is not supported on this endpoint."
            raise UNSUPPORTED_PARAMETER(message, name)


def check_sampling(body: Mapping[str, Any], model: Model) -> None:
    """A reasoning model takes no temperature (1:4.3); nor does it take top_p."""
    for name in ("temperature", "top_p"):
        if model.reasoning and body.get(name) is not None:
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            raise UNSUPPORTED_PARAMETER(message, name)


def check_service_tier(call: Call, body: Mapping[str, Any]) -> str:
    """The tier that serves the request; 400 without a code where the project does not allow it (2:7.5)."""
    asked = body.get("service_tier") or "auto"
    tier = SERVED_AS.get(asked, asked)
    if tier not in call.project.service_tiers:
        raise SERVICE_TIER_NOT_ALLOWED(f"The service tier '{tier}' is not allowed for this project.", "service_tier")
    return tier


def images(body: Mapping[str, Any]) -> Parts:
    """The images of the input."""
    return [part for part in _parts(body.get("input")) if part.get("type") == "input_image"]


def text_of(value: Any) -> str:
    """The text of an input, whichever shape it has."""
    if isinstance(value, str):
        return value
    return " ".join(str(part.get("text", "")) for part in _parts(value)).strip()


def said_last(value: Any) -> tuple[str, list[str]]:
    """The user's last words in an input, and the functions that were called since."""
    if isinstance(value, str):
        return value, []
    already: list[str] = []
    for item in reversed(value or ()):
        kind = item.get("type") or "message"
        if kind == "message" and item.get("role") == "user":
            return text_of([item]), already
        if kind == "function_call":
            already.append(str(item.get("name")))
    return "", already


def searches_files(body: Mapping[str, Any]) -> bool:
    """Whether the model may look into vector stores."""
    return any(isinstance(tool, dict) and tool.get("type") == "file_search" for tool in body.get("tools") or ())


def _parts(value: Any) -> Iterator[Mapping[str, Any]]:
    for item in value if isinstance(value, list) else ():
        content = item.get("output") if item.get("type") == "function_call_output" else item.get("content")
        if isinstance(content, str):
            yield {"type": "input_text", "text": content}
        elif isinstance(content, list):
            yield from (part for part in content if isinstance(part, dict))  # what a tool gave is whatever it is


def _check_items(value: Any) -> None:
    for index, item in enumerate(value if isinstance(value, list) else ()):
        at = f"input[{index}]"
        check_value(at, item, OBJECT)
        kind = item.get("type") or "message"
        check_value(f"{at}.type", kind, string(*_ITEMS))
        if kind == "message":
            _check_message(at, item)


def _check_message(at: str, item: Mapping[str, Any]) -> None:
    fields = {
        "type": string("message"),
        "role": string(*_ROLES),
        "content": Field(("string", "array")),
        "id": string(),
        "status": string(),
        "phase": ANY,
    }
    check(item, fields, required=("role", "content"), at=f"{at}.")
    for index, part in enumerate(item["content"] if isinstance(item["content"], list) else ()):
        place = f"{at}.content[{index}]"
        check_value(place, part, OBJECT)
        check_value(f"{place}.type", part.get("type") or "", string(*_PARTS))
        check(part, _PARTS[part["type"]], at=f"{place}.")
