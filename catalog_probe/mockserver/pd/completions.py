"""PD's chat completions, deferred ones, and responses (1:3, 1:4.4)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.generation import (
    DONE,
    count_tokens,
    echo_text,
    encode_event,
    encode_typed,
    make_chat_chunks,
    make_chat_usage,
    make_output,
    make_response_events,
    make_response_usage,
    make_tool_calls,
    number_events,
    truncate_text,
)
from catalog_probe.mockserver.pd.bodies import read_object
from catalog_probe.mockserver.pd.errors import (
    MULTI_AGENT,
    NO_SUCH_FEATURE,
    NO_SUCH_RESULT,
    NOT_OFFERED,
    NOTHING_RETAINED,
    UNSUPPORTED_EFFORT,
)
from catalog_probe.mockserver.pd.fields import CHAT, RESPONSE
from catalog_probe.mockserver.pd.gateway import admit_to_model
from catalog_probe.mockserver.pd.limits import admit_generation, settle_generation
from catalog_probe.mockserver.pd.scenarios import make_stream
from catalog_probe.mockserver.requested_output import find_user_text, read_chat_request, read_responses_request

if TYPE_CHECKING:
    from catalog_probe.mockserver.pd.gateway import Call
    from catalog_probe.mockserver.pd.models import Model
    from catalog_probe.mockserver.requested_output import RequestedOutput


Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Completion:
    """A generated answer and its token counts."""

    text: str
    is_truncated: bool
    prompt_tokens: int
    completion_tokens: int
    calls: tuple[tuple[str, str], ...] = ()  # name and JSON arguments of each called function; then `text` is empty


def refuse_effort(model: Model, effort: str | None) -> None:
    """Refuse `reasoning_effort` for a model that does not take it (1:4.4)."""
    if effort is not None and not model.reasoning_effort:
        raise UNSUPPORTED_EFFORT(model=model.id)


def refuse_multi_agent(model: Model) -> None:
    """Refuse a multi-agent model: only the responses endpoint accepts it (1:4.4)."""
    if model.multi_agent:
        raise MULTI_AGENT(model=model.id)


def text_of(message: Message) -> str:
    """Return the text of a message, whose content is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return " ".join(str(part["text"]) for part in content or () if part.get("text"))


def count_prompt_tokens(messages: Sequence[Message]) -> int:
    """Count the tokens of a conversation; a message has at least one."""
    return sum(max(1, count_tokens(text_of(message))) for message in messages)


def complete(messages: Sequence[Message], max_tokens: int | None, requested: RequestedOutput) -> Completion:
    """Answer with function calls if they fit, else with a truncated text."""
    calls = tuple((name, json.dumps(arguments)) for name, arguments in requested.make_calls())
    call_tokens = count_tokens("".join(map("".join, calls)))
    prompt_tokens = count_prompt_tokens(messages)
    if calls and (max_tokens is None or call_tokens <= max_tokens):
        return Completion("", False, prompt_tokens, call_tokens, calls)
    full_text = requested.make_text() or echo_text(_find_last_input(messages))
    text = truncate_text(full_text, max_tokens)
    return Completion(text, text != full_text, prompt_tokens, max(1, count_tokens(text)))


def _find_last_input(messages: Sequence[Message]) -> str:
    """Return the text of the last message of a user or a tool."""
    inputs = [text_of(message) for message in messages if message.get("role") in ("user", "tool")]
    return inputs[-1] if inputs else ""


COMPUTED_AFTER_S = 10.0  # the mock's choice
KEPT_FOR_S = 24 * 3600.0  # 2:8.1


@dataclass(frozen=True, slots=True)
class Deferred:
    """A completion that waits to be fetched."""

    requested_at: float
    result: Any


async def create_chat_completion(call: Call) -> Response:
    """Generate a completion, as one body, as a stream or deferred."""
    body = await read_object(call, CHAT)
    completion = describe_completion(call, body, generate_chat_completion(call, body))
    if body.get("deferred"):
        return JSONResponse({"request_id": defer(call, completion)})
    if not body.get("stream"):
        return JSONResponse(completion)
    with_usage = bool(body.get("stream_options", {}).get("include_usage"))
    chunks = map(encode_event, make_chat_chunks(completion, with_usage=with_usage, whole_calls=True))
    return make_stream(call, [*chunks, DONE])


async def fetch_deferred(call: Call) -> Response:
    """Answer 202 until the result is there, then the result once (1:3, 2:8.1)."""
    result = take_result(call, call.params["request_id"])
    return Response(status_code=202) if result is None else JSONResponse(result)


def generate_chat_completion(call: Call, body: dict[str, Any]) -> Completion:
    """Generate the answer to a checked body, within rights and limits."""
    model = call.host.find(body["model"], call.key.team)
    admit_to_model(call.key, model)
    refuse_multi_agent(model)
    refuse_effort(model, body.get("reasoning_effort"))
    if body.get("deferred"):
        refuse_to_retain(call)
    requested = read_chat_request(body, *find_user_text(body["messages"], text_of), NOT_OFFERED)
    admit_generation(call, model, count_prompt_tokens(body["messages"]))
    max_tokens = body.get("max_completion_tokens", body.get("max_tokens"))
    completion = complete(body["messages"], max_tokens, requested)
    settle_generation(call, model, completion.completion_tokens)
    return completion


def refuse_to_retain(call: Call) -> None:
    """Refuse to defer for a team with zero data retention (2:7.6 row 403)."""
    if call.key.team.zero_data_retention:
        raise NOTHING_RETAINED()


def defer(call: Call, result: Any) -> str:
    """Keep a result and return its request id."""
    request_id = call.session.new_id("", 32)
    call.session.store(Deferred, call.key.team.id)[request_id] = Deferred(call.now, result)
    return request_id


def take_result(call: Call, request_id: str) -> Any:
    """Remove and return a deferred result; None before it is computed."""
    deferred_results = call.session.store(Deferred, call.key.team.id)
    deferred = deferred_results.find(request_id, NO_SUCH_RESULT)
    age_s = call.now - deferred.requested_at
    if age_s > KEPT_FOR_S:
        raise NO_SUCH_RESULT()
    if age_s < COMPUTED_AFTER_S:
        return None
    del deferred_results[request_id]
    return deferred.result


def describe_completion(call: Call, body: dict[str, Any], completion: Completion) -> dict[str, Any]:
    """Return the completion with the fields that clients need."""
    message: dict[str, Any] = {"role": "assistant", "content": completion.text}
    finish_reason = "length" if completion.is_truncated else "stop"
    if completion.calls:
        finish_reason = "tool_calls"
        message["tool_calls"] = make_tool_calls(call.session, completion.calls)
    return {
        "id": call.session.new_id("chatcmpl_"),
        "object": "chat.completion",
        "created": int(call.now),
        "model": body["model"],
        "choices": [
            {"index": index, "message": message, "finish_reason": finish_reason} for index in range(body.get("n", 1))
        ],
        "usage": make_chat_usage(completion.prompt_tokens, completion.completion_tokens),
    }


SERVER_TOOLS = ("web_search", "x_search", "code_interpreter")
"""Tools that run at the provider. A team may lack them: the documents do not say which features are restricted
(2:7.6 row 403)."""


async def create_response(call: Call) -> Response:
    """Generate a response, as one body or as a stream."""
    body = await read_object(call, RESPONSE)
    response = describe_response(call, body, generate_response(call, body))
    if not body.get("stream"):
        return JSONResponse(response)
    return make_stream(call, map(encode_typed, number_events(make_response_events(response))))


def generate_response(call: Call, body: dict[str, Any]) -> Completion:
    """Generate the answer to a checked body, within rights and limits."""
    model = call.host.find(body["model"], call.key.team)
    admit_to_model(call.key, model)
    refuse_effort(model, body.get("reasoning", {}).get("effort"))
    for tool in body.get("tools", ()):
        if tool.get("type") in SERVER_TOOLS and not call.key.team.server_tools:
            raise NO_SUCH_FEATURE(tool=tool["type"])
    messages = _read_messages(body["input"])
    requested = read_responses_request(body, *find_user_text(messages, text_of), NOT_OFFERED)
    admit_generation(call, model, count_prompt_tokens(messages))
    completion = complete(messages, body.get("max_output_tokens"), requested)
    settle_generation(call, model, completion.completion_tokens)
    return completion


def _read_messages(value: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return [message for item in value if (message := _read_message(item)) is not None]


def _read_message(item: dict[str, Any]) -> dict[str, Any] | None:
    """Convert an item to a chat message; None if it has no text and no call."""
    match item.get("type", "message"):
        case "message":
            return item
        case "function_call":
            return {"role": "assistant", "tool_calls": [{"function": {"name": item.get("name")}}]}
        case "function_call_output":
            output = item.get("output")
            return {"role": "tool", "content": output if isinstance(output, str) else json.dumps(output)}
        case _:
            return None


def describe_response(call: Call, body: dict[str, Any], completion: Completion) -> dict[str, Any]:
    """Return the response with the fields that clients need."""
    status = "incomplete" if completion.is_truncated else "completed"
    return {
        "id": call.session.new_id("resp_"),
        "object": "response",
        "created_at": int(call.now),
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if completion.is_truncated else None,
        "model": body["model"],
        "output": make_output(call.session, completion.text, completion.calls, status),
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "usage": make_response_usage(completion.prompt_tokens, completion.completion_tokens),
    }
