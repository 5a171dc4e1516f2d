"""The compatibility layer under v1beta/openai: chat completions that ignore what they do not know (1:4.2, 2:9)."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.completions import make_chat_chunks
from catalog_probe.mockserver.core.streams import DONE, encode_event, event_stream
from catalog_probe.mockserver.pb.bodies import JsonAnswer, as_json, read_object
from catalog_probe.mockserver.pb.causes import find_mid_stream_failure
from catalog_probe.mockserver.pb.endpoints.generate import run
from catalog_probe.mockserver.pb.errors import NOT_OFFERED, make_wrapped
from catalog_probe.mockserver.pb.fields import CHAT
from catalog_probe.mockserver.pb.generation.prompt import MODEL, USER, Prompt, Tools, Turn
from catalog_probe.mockserver.pb.generation.settings import read_settings
from catalog_probe.mockserver.pb.generation.tokens import count_turns
from catalog_probe.mockserver.pb.models import GENERATE, find_model, list_models_of
from catalog_probe.mockserver.schema.requested_output import FunctionNotOffered, find_user_text, read_chat_request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.generation.generator import Candidate
    from catalog_probe.mockserver.schema.requested_output import RequestedOutput

FINISH_REASONS = {"STOP": "stop", "MAX_TOKENS": "length"}
"""All others are `content_filter`."""

CREATED = 1_767_225_600
"""When every model is said to have been made."""

BEFORE_THE_FAILURE = 2
"""Chunks that still arrive where a stream fails: who speaks, and what is said first."""


async def create_completion(call: Call) -> Response:
    """Generate, whole or streamed, in the shapes of that other style."""
    body = await read_object(call, CHAT)
    prompt = _read_prompt(call, body)
    completion, _ = run(call, prompt)
    answer = {
        "id": call.session.new_id("chatcmpl-"),
        "object": "chat.completion",
        "created": int(call.now),
        "model": prompt.model.id,
        "choices": [_describe(call, index, candidate) for index, candidate in enumerate(completion.candidates)],
        "usage": {
            "prompt_tokens": prompt.tokens,
            "completion_tokens": completion.tokens,
            "total_tokens": prompt.tokens + completion.tokens + completion.thought_tokens,
        },
    }
    if not body.get("stream"):
        return JsonAnswer(answer)
    chunks = map(encode_event, make_chat_chunks(answer, whole_calls=True))
    failure = find_mid_stream_failure(call)
    if failure is not None:
        return event_stream([*islice(chunks, BEFORE_THE_FAILURE), encode_event(make_wrapped(failure))])
    return event_stream([*chunks, DONE])


async def list_models(call: Call) -> Response:
    """The models, in the shape of that other style."""
    data = [
        {"id": f"models/{model.id}", "object": "model", "created": CREATED, "owned_by": "pb"}
        for model in list_models_of(call.version)
    ]
    return JsonAnswer({"object": "list", "data": data})


def _read_prompt(call: Call, body: Mapping[str, Any]) -> Prompt:
    model = find_model(body["model"], call.version, call.project, GENERATE)
    turns = tuple(_read_turn(message) for message in body["messages"])
    wanted = _read_wanted(body)
    return Prompt(
        model=model,
        turns=turns,
        tokens=count_turns(turns),
        settings=replace(read_settings(_as_config(body), model), schema=wanted.text_schema),
        tools=Tools(wanted.functions, forced=wanted.required, parallel=wanted.parallel, already=wanted.called),
        service_tier=body.get("service_tier", "standard").lower(),
    )


def _as_config(body: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as a generation config spells them."""
    config = {
        "maxOutputTokens": body.get("max_completion_tokens", body.get("max_tokens")),
        "temperature": body.get("temperature"),
        "candidateCount": body.get("n"),
    }
    return {name: value for name, value in config.items() if value is not None}


def _read_turn(message: Mapping[str, Any]) -> Turn:
    role, content = MODEL if message["role"] == "assistant" else USER, message.get("content", "")
    if isinstance(content, str):
        return Turn(role, text=content)
    texts = [part["text"] for part in content if "text" in part]
    return Turn(role, text="\n".join(texts), media=len(content) - len(texts))


def _read_wanted(body: Mapping[str, Any]) -> RequestedOutput:
    """What the body wants of the functions that it offers, and of the text."""
    try:
        return read_chat_request(body, *find_user_text(body["messages"], lambda message: _read_turn(message).text))
    except FunctionNotOffered as name:
        raise NOT_OFFERED(name=str(name)) from None


def _describe(call: Call, index: int, candidate: Candidate) -> dict[str, Any]:
    reason = FINISH_REASONS.get(candidate.ending.finish_reason, "content_filter")
    message: dict[str, Any] = {"role": "assistant", "content": candidate.text or None}
    if candidate.calls:
        reason = "tool_calls"
        message["tool_calls"] = [
            {
                "id": call.session.new_id("function-call-"),
                "type": "function",
                "function": {"name": function_call.name, "arguments": as_json(dict(function_call.args)).decode()},
            }
            for function_call in candidate.calls
        ]
    return {"index": index, "message": message, "finish_reason": reason}
