"""POST /v1/chat/completions (1:4.3); finish_reason says why it ended (2:7.5)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, StreamingResponse

from catalog_probe.mockserver.pc.causes import mid_stream, raise_generation_failure
from catalog_probe.mockserver.pc.errors import INVALID_VALUE, PcError
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
from catalog_probe.mockserver.pc.generation.asked import asked_of_chat
from catalog_probe.mockserver.pc.generation.generator import check_window, generate
from catalog_probe.mockserver.pc.generation.images import check_images
from catalog_probe.mockserver.pc.generation.response_request import (
    SERVICE_TIERS,
    check_sampling,
    check_service_tier,
    refuse_those_of_elsewhere,
)
from catalog_probe.mockserver.pc.limits import rates
from catalog_probe.mockserver.pc.models import find
from catalog_probe.mockserver.schema.wanted import last_words

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from starlette.responses import Response

    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.generation.generator import Generated
    from catalog_probe.mockserver.pc.models import Model

FIELDS: Mapping[str, Field] = {
    "model": string(),
    "messages": array(2_048),
    "max_tokens": integer(low=1),
    "max_completion_tokens": integer(low=1),
    "temperature": number(0, 2),
    "top_p": number(0, 1),
    "n": integer(1, 8),
    "stop": Field(("string", "array"), max_items=4),
    "stream": BOOLEAN,
    "stream_options": OBJECT,
    "presence_penalty": number(-2, 2),
    "frequency_penalty": number(-2, 2),
    "logit_bias": OBJECT,
    "logprobs": BOOLEAN,
    "top_logprobs": integer(0, 20),
    "response_format": OBJECT,
    "seed": integer(),
    "service_tier": string(*SERVICE_TIERS),
    "tools": array(128),
    "tool_choice": Field(("string", "object")),
    "parallel_tool_calls": BOOLEAN,
    "metadata": OBJECT,
    "store": BOOLEAN,
    "user": string(),
    "safety_identifier": string(max_length=64),
    "prompt_cache_key": string(max_length=64),
    "reasoning_effort": string("none", "minimal", "low", "medium", "high"),
    "verbosity": string("low", "medium", "high"),
}
"""The fields named in 1:4.3, and those that real clients send."""

ELSEWHERE = ("input", "max_output_tokens", "previous_response_id", "conversation", "truncation")
"""Parameters of responses that are not valid here."""

_MESSAGE: Mapping[str, Field] = {
    "role": string("developer", "system", "user", "assistant", "tool"),
    "content": Field(("string", "array")),
    "name": string(),
    "refusal": string(),
    "tool_calls": array(),
    "tool_call_id": string(),
}
FINISH: Mapping[str | None, str] = {
    None: "stop",
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "content_filter",
}

DONE = b"data: [DONE]\n\n"
CHUNK = 24


async def create(call: Call) -> Response:
    """Generate a completion, whole or streamed."""
    body = await rates.read_counted(call)
    completion = made(call, body)
    if not body.get("stream"):
        return JSONResponse(completion)
    failure = mid_stream(call.context)
    with_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    headers = {"cache-control": "no-cache"}
    return StreamingResponse(_sse(completion, failure, with_usage), media_type="text/event-stream", headers=headers)


def made(call: Call, body: dict[str, Any]) -> dict[str, Any]:
    """The completion that a body gets, once it is counted."""
    model = _check(call, body)
    asked = asked_of_chat(body, *last_words(body["messages"], _text))
    heard = _text(body["messages"][-1])
    limit = body.get("max_completion_tokens") or body.get("max_tokens")
    prompt = check_window(model, heard, limit, "messages")
    rates.admit_tokens(call, model, prompt, limit or 0)
    raise_generation_failure(call.context)
    check_images(_images(body["messages"]))
    return _completion(call, body, model, generate(call.context, model, heard, limit, asked))


def _check(call: Call, body: Mapping[str, Any]) -> Model:
    refuse_those_of_elsewhere(body, ELSEWHERE)
    check(body, FIELDS, required=("model", "messages"))
    if not body["messages"]:
        raise INVALID_VALUE("Invalid 'messages': empty array. Expected at least one message.", "messages")
    for index, message in enumerate(body["messages"]):
        at = f"messages[{index}]"
        check_value(at, message, OBJECT)
        check(message, _MESSAGE, required=("role",), at=f"{at}.")
        _check_parts(f"{at}.content", message.get("content"))
    model = find(body["model"], call.key, call.project, "text")
    check_sampling(body, model)
    check_service_tier(call, body)
    for name in ("max_tokens", "max_completion_tokens"):
        if (body.get(name) or 0) > model.max_output_tokens:
            message = f"max_tokens is too large: {body[name]}. This model supports at most {model.max_output_tokens}."
            raise INVALID_VALUE(message, name)
    return model


def _check_parts(at: str, content: Any) -> None:
    for index, part in enumerate(content if isinstance(content, list) else ()):
        check_value(f"{at}[{index}]", part, OBJECT)
        fields = {"type": string("text", "image_url", "refusal"), "text": string(), "image_url": OBJECT, "refusal": ANY}
        check(part, fields, required=("type",), at=f"{at}[{index}].")


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(part["text"] for part in content if part.get("text"))


def _images(messages: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    contents = (message.get("content") for message in messages)
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return [{"image_url": (part.get("image_url") or {}).get("url")} for part in parts if part["type"] == "image_url"]


def _completion(call: Call, body: Mapping[str, Any], model: Model, generated: Generated) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": generated.text, "refusal": None, "annotations": []}
    finish = FINISH[generated.stopped]
    if generated.calls:
        finish = "tool_calls"
        message |= {"content": None, "tool_calls": [_tool_call(call, *each) for each in generated.calls]}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    return {
        "id": call.session.new_id("chatcmpl-", 28),
        "object": "chat.completion",
        "created": int(call.now),
        "model": model.id,
        "choices": [{**choice, "index": index} for index in range(body.get("n") or 1)],
        "usage": {
            "prompt_tokens": generated.input_tokens,
            "completion_tokens": generated.output_tokens,
            "total_tokens": generated.input_tokens + generated.output_tokens,
            "completion_tokens_details": {"reasoning_tokens": generated.reasoning_tokens},
        },
        "service_tier": check_service_tier(call, body),
        "system_fingerprint": None,
    }


def _tool_call(call: Call, name: str, arguments: str) -> dict[str, Any]:
    made = call.session.new_id("call_", 24)
    return {"id": made, "type": "function", "function": {"name": name, "arguments": arguments}}


async def _sse(completion: dict[str, Any], failure: PcError | None, with_usage: bool) -> AsyncIterator[bytes]:
    for index, chunk in enumerate(_chunks(completion, with_usage)):
        if failure is not None and index == 1:
            yield _data(failure.envelope())
            return
        yield _data(chunk)
    yield DONE


def _chunks(completion: dict[str, Any], with_usage: bool) -> Iterator[dict[str, Any]]:
    """The first chunk says who speaks, the last one why it ended; usage has a chunk of its own."""
    head = {**completion, "object": "chat.completion.chunk"}
    usage = head.pop("usage")
    for choice in completion["choices"]:
        for delta in _deltas(choice["message"]):
            yield {**head, "choices": [{"index": choice["index"], "delta": delta, "finish_reason": None}]}
        yield {**head, "choices": [{"index": choice["index"], "delta": {}, "finish_reason": choice["finish_reason"]}]}
    if with_usage:
        yield {**head, "choices": [], "usage": usage}


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Who speaks, then the text, then each call: its name first, its arguments piece by piece."""
    text = message["content"]
    yield {"role": "assistant", "content": None if text is None else ""}
    for piece in _parts_of(text or ""):
        yield {"content": piece}
    for index, made in enumerate(message.get("tool_calls") or ()):
        yield {"tool_calls": [{**made, "index": index, "function": {**made["function"], "arguments": ""}}]}
        for piece in _parts_of(made["function"]["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _parts_of(text: str) -> list[str]:
    return [text[start : start + CHUNK] for start in range(0, len(text), CHUNK)]


def _data(chunk: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(chunk, separators=(',', ':'))}\n\n".encode()
