"""PD's chat completions, and deferred ones that are fetched later (1:3, 1:4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.completions import make_chat_chunks, make_chat_usage, make_tool_calls
from catalog_probe.mockserver.core.streams import DONE, encode_event
from catalog_probe.mockserver.pd.access import admit_to_model
from catalog_probe.mockserver.pd.bodies import read_object
from catalog_probe.mockserver.pd.errors import NO_SUCH_RESULT, NOT_OFFERED, NOTHING_RETAINED
from catalog_probe.mockserver.pd.fields import CHAT
from catalog_probe.mockserver.pd.generation import (
    Completion,
    complete,
    count_prompt_tokens,
    refuse_effort,
    refuse_multi_agent,
    text_of,
)
from catalog_probe.mockserver.pd.limits import admit_generation, settle_generation
from catalog_probe.mockserver.pd.scenarios import make_stream
from catalog_probe.mockserver.schema.requested_output import find_user_text, read_chat_request

if TYPE_CHECKING:
    from catalog_probe.mockserver.pd.gateway import Call

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
    completion = describe_completion(call, body, generate(call, body))
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


def generate(call: Call, body: dict[str, Any]) -> Completion:
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
