"""POST /v1/chat/completions and the deferred completion that is fetched later (1:3, 1:4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.completions import make_chat_chunks
from catalog_probe.mockserver.core.streams import DONE, encode_event
from catalog_probe.mockserver.pd.access import admit_to_model
from catalog_probe.mockserver.pd.bodies import read_object
from catalog_probe.mockserver.pd.causes import stream
from catalog_probe.mockserver.pd.errors import NO_SUCH_RESULT, NOTHING_RETAINED
from catalog_probe.mockserver.pd.fields import CHAT
from catalog_probe.mockserver.pd.generation import (
    Completion,
    complete,
    prompt_tokens,
    read_wanted,
    refuse_effort,
    refuse_multi_agent,
)
from catalog_probe.mockserver.pd.limits import admit_generation, settle_generation
from catalog_probe.mockserver.schema.requested_output import read_chat_request

if TYPE_CHECKING:
    from catalog_probe.mockserver.pd.gateway import Call

COMPUTED_AFTER_S = 10.0
KEPT_FOR_S = 24 * 3600.0
"""2:8.1"""


@dataclass(frozen=True, slots=True)
class Deferred:
    """A completion that waits to be fetched: when it was asked for, and the result."""

    asked_at: float
    result: Any


async def create(call: Call) -> Response:
    """Generate a completion: whole, streamed, or deferred."""
    body = await read_object(call, CHAT)
    completion = describe(call, body, generate(call, body))
    if body.get("deferred"):
        return JSONResponse({"request_id": defer(call, completion)})
    if not body.get("stream"):
        return JSONResponse(completion)
    with_usage = bool(body.get("stream_options", {}).get("include_usage"))
    chunks = map(encode_event, make_chat_chunks(completion, with_usage=with_usage, whole_calls=True))
    return stream(call, [*chunks, DONE])


async def fetch_deferred(call: Call) -> Response:
    """202 with an empty body until the result is computed; then the result, exactly once, within 24 h."""
    result = fetch(call, call.params["request_id"])
    return Response(status_code=202) if result is None else JSONResponse(result)


def generate(call: Call, body: dict[str, Any]) -> Completion:
    """Answer a body that keeps to its table, within the team's rights, money and limits."""
    model = call.host.find(body["model"], call.key.team)
    admit_to_model(call.key, model)
    refuse_multi_agent(model)
    refuse_effort(model, body.get("reasoning_effort"))
    if body.get("deferred"):
        refuse_to_retain(call)
    wanted = read_wanted(read_chat_request, body, body["messages"])
    admit_generation(call, model, prompt_tokens(body["messages"]))
    completion = complete(body["messages"], body.get("max_completion_tokens", body.get("max_tokens")), wanted)
    settle_generation(call, model, completion.completion_tokens)
    return completion


def refuse_to_retain(call: Call) -> None:
    """A team with zero data retention may not leave a result with the provider (2:7.6 row 403)."""
    if call.key.team.zero_data_retention:
        raise NOTHING_RETAINED()


def defer(call: Call, result: Any) -> str:
    """Put a result aside and say under which id."""
    request_id = call.session.new_id("", 32)
    call.session.store(Deferred, call.key.team.id)[request_id] = Deferred(call.now, result)
    return request_id


def fetch(call: Call, request_id: str) -> Any:
    """The deferred result, taken away; None while it is not computed. What is gone was never there: 404."""
    waiting = call.session.store(Deferred, call.key.team.id)
    deferred = waiting.find(request_id, NO_SUCH_RESULT)
    age_s = call.now - deferred.asked_at
    if age_s > KEPT_FOR_S:
        raise NO_SUCH_RESULT()
    if age_s < COMPUTED_AFTER_S:
        return None
    del waiting[request_id]
    return deferred.result


def describe(call: Call, body: dict[str, Any], completion: Completion) -> dict[str, Any]:
    """The completion with the fields that clients need."""
    message: dict[str, Any] = {"role": "assistant", "content": completion.text}
    finish = "length" if completion.cut else "stop"
    if completion.calls:
        finish = "tool_calls"
        message["tool_calls"] = [
            {"id": call.session.new_id("call_"), "type": "function", "function": {"name": name, "arguments": arguments}}
            for name, arguments in completion.calls
        ]
    return {
        "id": call.session.new_id("chatcmpl_"),
        "object": "chat.completion",
        "created": int(call.now),
        "model": body["model"],
        "choices": [{"index": index, "message": message, "finish_reason": finish} for index in range(body.get("n", 1))],
        "usage": {
            "prompt_tokens": completion.prompt_tokens,
            "completion_tokens": completion.completion_tokens,
            "total_tokens": completion.prompt_tokens + completion.completion_tokens,
        },
    }
