"""The compatibility layer under v1beta/openai: chat completions that ignore what they do not know (1:4.2, 2:9)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse

from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.call import JsonAnswer, as_json, read_object
from catalog_probe.mockserver.pb.causes import mid_stream
from catalog_probe.mockserver.pb.endpoints.generate import run
from catalog_probe.mockserver.pb.errors import invalid
from catalog_probe.mockserver.pb.generation import settings
from catalog_probe.mockserver.pb.generation.prompt import MODEL, USER, Prompt, Tools, Turn
from catalog_probe.mockserver.pb.generation.tokens import count_turns
from catalog_probe.mockserver.pb.models import GENERATE, find_model, listed
from catalog_probe.mockserver.schema.wanted import NotOffered, last_words, of_chat

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.errors import PbError
    from catalog_probe.mockserver.pb.generation.generator import Candidate
    from catalog_probe.mockserver.pb.generation.prompt import FunctionCall
    from catalog_probe.mockserver.schema.wanted import Wanted

BODY: fields.Fields = {
    "model": fields.string,
    "messages": fields.objects,
    "maxTokens": fields.at_least(1),
    "maxCompletionTokens": fields.at_least(1),
    "temperature": fields.number,
    "topP": fields.number,
    "n": fields.integer,
    "stop": fields.anything,
    "stream": fields.boolean,
    "serviceTier": settings.service_tier,
}
"""The parameters it knows; unknown ones are ignored."""

ROLES = {"system": USER, "developer": USER, "user": USER, "assistant": MODEL, "tool": USER}
FINISH_REASONS = {"STOP": "stop", "MAX_TOKENS": "length"}
MADE = 1_767_225_600
"""When every model is said to have been made."""


async def chat_completions(call: Call) -> Response:
    """Generate, whole or streamed, in the shapes of that other style."""
    body = await read_object(call)
    given = fields.known_only(body, BODY)
    model = find_model(fields.require(given, "model"), call.version, call.project, GENERATE)
    turns = _turns(fields.require(given, "messages"))
    wanted = _wanted(body, given["messages"])
    prompt = Prompt(
        model=model,
        turns=turns,
        tokens=count_turns(turns),
        settings=replace(settings.of_generate_content(_config(given), model), schema=wanted.schema),
        tools=Tools(wanted.functions, forced=wanted.must, parallel=wanted.parallel, already=wanted.already),
        service_tier=given.get("serviceTier", "standard").lower(),
    )
    completion, _ = run(call, prompt)
    frame = {"id": call.session.new_id("chatcmpl-"), "created": int(call.now), "model": model.id}
    choices = [_choice(call, index, candidate) for index, candidate in enumerate(completion.candidates)]
    if given.get("stream"):
        return StreamingResponse(_sse(frame, choices, mid_stream(call)), media_type="text/event-stream")
    usage = {
        "prompt_tokens": prompt.tokens,
        "completion_tokens": completion.tokens,
        "total_tokens": prompt.tokens + completion.tokens + completion.thought_tokens,
    }
    return JsonAnswer({**frame, "object": "chat.completion", "choices": choices, "usage": usage})


async def list_models(call: Call) -> Response:
    """The models, in the shape of that other style."""
    data = [
        {"id": f"models/{model.id}", "object": "model", "created": MADE, "owned_by": "pb"}
        for model in listed(call.version)
    ]
    return JsonAnswer({"object": "list", "data": data})


def _config(given: Mapping[str, Any]) -> dict[str, Any]:
    stop = given.get("stop")
    found = {
        "maxOutputTokens": given.get("maxCompletionTokens", given.get("maxTokens")),
        "temperature": given.get("temperature"),
        "topP": given.get("topP"),
        "candidateCount": given.get("n"),
        "stopSequences": [stop] if isinstance(stop, str) else stop,
    }
    return {name: value for name, value in found.items() if value is not None}


def _turns(messages: Sequence[Mapping[str, Any]]) -> tuple[Turn, ...]:
    if not messages:
        raise invalid("messages: must not be empty")
    return tuple(_turn(f"messages[{index}]", message) for index, message in enumerate(messages))


def _turn(at: str, message: Mapping[str, Any]) -> Turn:
    role = fields.require(message, "role", at)
    if not isinstance(role, str) or role not in ROLES:
        raise invalid(f"{at}.role: {role!r} is none of {', '.join(ROLES)}")
    content = message.get("content")
    if content is None or isinstance(content, str):
        return Turn(ROLES[role], text=content or "")
    fields.objects(f"{at}.content", content)
    texts = [part["text"] for part in content if isinstance(part.get("text"), str)]
    return Turn(ROLES[role], text="\n".join(texts), media=sum("text" not in part for part in content))


def _wanted(body: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]) -> Wanted:
    """What the body wants of the functions that it offers, and of the text."""
    for name in ("tools", "messages"):
        fields.objects(name, body.get(name) or [])
    try:
        return of_chat(body, *last_words(messages, lambda message: _turn("", message).text))
    except NotOffered as name:
        raise invalid(f"tool_choice: {str(name)!r} is none of the tools") from None
    except AttributeError:
        raise invalid("tools: each has a function, response_format a type") from None


def _choice(call: Call, index: int, candidate: Candidate) -> dict[str, Any]:
    reason = FINISH_REASONS.get(candidate.ending.finish_reason, "content_filter")
    message: dict[str, Any] = {"role": "assistant", "content": candidate.text or None}
    if candidate.calls:
        reason = "tool_calls"
        message["tool_calls"] = [_tool_call(call, made) for made in candidate.calls]
    return {"index": index, "message": message, "finish_reason": reason, "logprobs": None}


def _tool_call(call: Call, made: FunctionCall) -> dict[str, Any]:
    function = {"name": made.name, "arguments": as_json(dict(made.args)).decode()}
    return {"id": call.session.new_id("function-call-"), "type": "function", "function": function}


async def _sse(
    frame: Mapping[str, Any], choices: list[dict[str, Any]], failure: PbError | None
) -> AsyncIterator[bytes]:
    for choice in choices:
        numbered = [{**made, "index": number} for number, made in enumerate(choice["message"].get("tool_calls", ()))]
        delta = {**choice["message"], **({"tool_calls": numbered} if numbered else {})}
        begun = {"index": choice["index"], "delta": delta, "finish_reason": None}
        yield _chunk(frame, begun)
        if failure is not None:
            yield b"data: " + as_json(failure.wrapped()) + b"\n\n"
            return
        yield _chunk(frame, {"index": choice["index"], "delta": {}, "finish_reason": choice["finish_reason"]})
    yield b"data: [DONE]\n\n"


def _chunk(frame: Mapping[str, Any], choice: Mapping[str, Any]) -> bytes:
    return b"data: " + as_json({**frame, "object": "chat.completion.chunk", "choices": [choice]}) + b"\n\n"
