"""POST /v1/chat/completions and the deferred completion that is fetched later (1:3, 1:4.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pd.auth.access import admit_to_model
from catalog_probe.mockserver.pd.errors import NOT_FOUND, PdError, denied
from catalog_probe.mockserver.pd.generation import rules
from catalog_probe.mockserver.pd.generation.generator import Completion, complete, prompt_tokens, said_last
from catalog_probe.mockserver.pd.generation.shape import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    OBJECTS,
    STRING,
    STRING_OR_OBJECT,
    STRING_OR_STRINGS,
    TEXT_OR_PARTS,
    array,
    needed,
    struct,
)
from catalog_probe.mockserver.pd.generation.streaming import chat_stream
from catalog_probe.mockserver.pd.limits.rates import admit_generation, settle_generation
from catalog_probe.mockserver.pd.reading import read_object
from catalog_probe.mockserver.schema.wanted import of_chat

if TYPE_CHECKING:
    from starlette.requests import Request

    from catalog_probe.mockserver.pd.call import Call

SHAPE = struct(
    model=needed(STRING),
    messages=needed(
        array(struct(role=needed(STRING), content=TEXT_OR_PARTS, name=STRING, tool_call_id=STRING, tool_calls=OBJECTS))
    ),
    deferred=BOOLEAN,
    frequency_penalty=NUMBER,
    logprobs=BOOLEAN,
    max_completion_tokens=INTEGER,
    max_tokens=INTEGER,
    n=INTEGER,
    parallel_tool_calls=BOOLEAN,
    presence_penalty=NUMBER,
    reasoning_effort=STRING,
    response_format=OBJECT,
    seed=INTEGER,
    stop=STRING_OR_STRINGS,
    stream=BOOLEAN,
    stream_options=struct(include_usage=BOOLEAN),
    temperature=NUMBER,
    tool_choice=STRING_OR_OBJECT,
    tools=OBJECTS,
    top_logprobs=INTEGER,
    top_p=NUMBER,
    user=STRING,
)

COMPUTED_AFTER_S = 10.0
KEPT_FOR_S = 24 * 3600.0


@dataclass(slots=True)
class Deferred:
    """Completions that wait to be fetched, by request id: when each was asked for, by which team, and the result."""

    waiting: BoundedStore[str, tuple[float, str, dict[str, Any]]] = field(default_factory=BoundedStore)


async def create(call: Call, request: Request) -> Response:
    """Generate a completion: whole, streamed, or deferred."""
    body = await read_object(request, SHAPE)
    completion = generate(call, body)
    if body.get("deferred"):
        return JSONResponse({"request_id": defer(call, described(call, body, completion))})
    if body.get("stream"):
        return chat_stream(call, request, body, described(call, body, completion))
    return JSONResponse(described(call, body, completion))


async def fetch_deferred(call: Call, request: Request) -> Response:
    """202 with an empty body until the result is computed; then the result, exactly once, within 24 h."""
    result = fetch(call, call.params["request_id"])
    return Response(status_code=202) if result is None else JSONResponse(result)


def generate(call: Call, body: dict[str, Any]) -> Completion:
    """Check what the types leave open, then generate within the team's money and limits."""
    rules.require(body, "model", "messages")
    model = call.host.find(body["model"], call.key.team)
    admit_to_model(call.key, model)
    rules.refuse_multi_agent(model)
    rules.check_conversation(body["messages"])
    rules.check_effort(model, body.get("reasoning_effort"))
    rules.within(body, "temperature", 0, 2)
    rules.within(body, "top_p", 0, 1)
    rules.within(body, "n", 1, 8)
    rules.within(body, "top_logprobs", 0, 8)
    for name in ("max_tokens", "max_completion_tokens"):
        rules.within(body, name, 1)
    if body.get("deferred"):
        refuse_to_retain(call)
    wanted = rules.wanted(of_chat, body, *said_last(body["messages"]))
    admit_generation(call, model, prompt_tokens(body["messages"]))
    completion = complete(body["messages"], body.get("max_completion_tokens", body.get("max_tokens")), wanted)
    settle_generation(call, model, completion.completion_tokens)
    return completion


def refuse_to_retain(call: Call) -> None:
    """A team with zero data retention may not leave a result with the provider (2:7.6 row 403)."""
    if call.key.team.zero_data_retention:
        raise denied("Deferred completions are kept for 24 hours; your team has zero data retention.")


def defer(call: Call, result: Any) -> str:
    """Put a result aside and say under which id."""
    request_id = call.session.new_id("", 32)
    call.session.state(Deferred).waiting[request_id] = (call.now, call.key.team.id, result)
    return request_id


def fetch(call: Call, request_id: str) -> Any:
    """The deferred result, taken away; None while it is not computed. What is gone was never there: 404."""
    waiting = call.session.state(Deferred).waiting
    asked_at, team, result = waiting.get(request_id, (0.0, "", None))
    if team != call.key.team.id or call.now - asked_at > KEPT_FOR_S:
        raise PdError(NOT_FOUND, "No deferred completion is found under this request id.")
    if call.now - asked_at < COMPUTED_AFTER_S:
        return None
    del waiting[request_id]
    return result


def described(call: Call, body: dict[str, Any], completion: Completion) -> dict[str, Any]:
    """The completion with the fields that clients validate."""
    message: dict[str, Any] = {"role": "assistant", "content": completion.text, "refusal": None}
    finish = "length" if completion.cut else "stop"
    if completion.calls:
        finish = "tool_calls"
        message["tool_calls"] = [_tool_call(call, *each) for each in completion.calls]
    choice = {"message": message, "finish_reason": finish, "logprobs": None}
    return {
        "id": call.session.new_id("chatcmpl_"),
        "object": "chat.completion",
        "created": int(call.now),
        "model": body["model"],
        "choices": [{"index": index, **choice} for index in range(body.get("n", 1))],
        "usage": usage(completion),
        "system_fingerprint": "fp_mock",
    }


def _tool_call(call: Call, name: str, arguments: str) -> dict[str, Any]:
    return {"id": call.session.new_id("call_"), "type": "function", "function": {"name": name, "arguments": arguments}}


def usage(completion: Completion) -> dict[str, Any]:
    """What a chat completion used."""
    return {
        "prompt_tokens": completion.prompt_tokens,
        "completion_tokens": completion.completion_tokens,
        "total_tokens": completion.prompt_tokens + completion.completion_tokens,
        "prompt_tokens_details": {"cached_tokens": 0, "text_tokens": completion.prompt_tokens},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
