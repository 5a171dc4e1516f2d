"""POST /v1/responses and what becomes of a response: fetched while it is stored, deleted (1:4.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, StreamingResponse

from mockserver.pc import conversations, limits
from mockserver.pc.causes import STORE_TIMEOUT, mid_stream, raise_generation_failure
from mockserver.pc.errors import NO_RESPONSE, PREVIOUS_RESPONSE_NOT_FOUND, VECTOR_STORE_TIMEOUT, PcError
from mockserver.pc.generation import Generated, check_window, generate
from mockserver.pc.images import check_images
from mockserver.pc.response_request import check_response, check_service_tier, images, searches_files, text_of
from mockserver.pc.response_stream import sse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response

    from mockserver.pc.call import Call
    from mockserver.pc.catalogue import Model

BACKGROUND_S = 30
"""How long a response takes in the background."""

Body = dict[str, Any]


@dataclass
class Kept:
    """The responses of a session that are stored: id -> (project, response)."""

    responses: dict[str, tuple[str, Body]] = field(default_factory=dict)


async def create(call: Call) -> Response:
    """Generate a response, whole or streamed."""
    body = await limits.read_counted(call)
    model = check_response(call, body)
    previous = _previous(call, body.get("previous_response_id"))
    heard = " ".join(filter(None, (previous, text_of(body.get("input", "")))))
    limit = body.get("max_output_tokens")
    prompt = check_window(model, heard, limit, "input")
    limits.admit_tokens(call, model, prompt, limit or 0)
    raise_generation_failure(call.context)
    _join(call, body)
    return _streamed(call, body, model, heard) if body.get("stream") else _whole(call, body, model, heard)


async def retrieve(call: Call) -> Response:
    """A stored response; unknown, deleted, unstored and another project's are all 404."""
    return JSONResponse(_stored(call, call.params["response_id"]))


async def delete(call: Call) -> Response:
    """DELETE /v1/responses/{id}; the path is not in the documents, deleted responses are."""
    found = _stored(call, call.params["response_id"])
    del call.session.state(Kept).responses[found["id"]]
    return JSONResponse({"id": found["id"], "object": "response", "deleted": True})


def _whole(call: Call, body: Body, model: Model, heard: str) -> Response:
    check_images(images(body))
    return JSONResponse(_compose(call, body, model, heard))


def _streamed(call: Call, body: Body, model: Model, heard: str) -> Response:
    """The stream begins before the images are looked at, so what is wrong with them comes after the 200 (2:7.5)."""
    failure = mid_stream(call.context) or _failure(call, body)
    response = _compose(call, body, model, heard)
    return StreamingResponse(
        sse(response, failure), media_type="text/event-stream", headers={"cache-control": "no-cache"}
    )


def _failure(call: Call, body: Body) -> PcError | None:
    if searches_files(body) and call.context.take(STORE_TIMEOUT) is not None:
        return VECTOR_STORE_TIMEOUT("The vector store did not answer in time.")
    try:
        check_images(images(body))
    except PcError as error:
        return error
    return None


def _previous(call: Call, response_id: str | None) -> str:
    """What was said in the response that this one goes on from, or 400 (2:7.5)."""
    if response_id is None:
        return ""
    project, response = call.session.state(Kept).responses.get(response_id, ("", {}))
    if project != call.project.id:
        message = f"Previous response with id '{response_id}' not found."
        raise PREVIOUS_RESPONSE_NOT_FOUND(message, "previous_response_id")
    return "" if not response["output"] else str(response["output"][-1]["content"][0]["text"])


def _join(call: Call, body: Body) -> None:
    """Take part in a conversation; a response in the background keeps it busy."""
    named = body.get("conversation")
    if named is not None:
        conversation = str(named.get("id", "") if isinstance(named, dict) else named)
        conversations.hold(call, conversation, call.now + BACKGROUND_S if body.get("background") else 0.0)


def _stored(call: Call, response_id: str) -> Body:
    project, response = call.session.state(Kept).responses.get(response_id, ("", {}))
    if project != call.project.id:
        raise NO_RESPONSE(f"Response with id '{response_id}' not found.")
    return response


def _compose(call: Call, body: Body, model: Model, heard: str) -> Body:
    """The response, kept unless its client does not want it to be."""
    generated = generate(call.context, model, heard, body.get("max_output_tokens"))
    response = _response(call, body, model, generated)
    if body.get("store") is not False:
        call.session.state(Kept).responses[response["id"]] = (call.project.id, response)
    return response


def _response(call: Call, body: Mapping[str, Any], model: Model, generated: Generated) -> Body:
    status = "incomplete" if generated.stopped else "completed"
    part = {"type": "output_text", "text": generated.text, "annotations": [], "logprobs": []}
    item_id = call.session.new_id("msg_", 32)
    item = {"id": item_id, "type": "message", "role": "assistant", "status": status, "content": [part]}
    usage = {
        "input_tokens": generated.input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": generated.output_tokens,
        "output_tokens_details": {"reasoning_tokens": generated.reasoning_tokens},
        "total_tokens": generated.input_tokens + generated.output_tokens,
    }
    conversation = body.get("conversation")
    return {
        "id": call.session.new_id("resp_", 32),
        "object": "response",
        "created_at": int(call.now),
        "completed_at": int(call.now),
        "status": status,
        "background": body.get("background") or False,
        "conversation": {"id": conversation} if isinstance(conversation, str) else conversation,
        "error": None,
        "incomplete_details": {"reason": generated.stopped} if generated.stopped else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": body.get("metadata") or {},
        "model": model.id,
        "output": [item],
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
        "service_tier": check_service_tier(call, body),
        "store": body.get("store") is not False,
        "temperature": None if model.reasoning else body.get("temperature", 1.0),
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice") or "auto",
        "tools": body.get("tools") or [],
        "top_p": None if model.reasoning else body.get("top_p", 1.0),
        "truncation": body.get("truncation") or "disabled",
        "usage": usage,
    }
