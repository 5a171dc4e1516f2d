"""PC's responses and conversations, and streams that fail after 200 (1:4.3, 2:7.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.generation import (
    encode_typed,
    event_stream,
    make_output,
    make_response_events,
    make_response_start,
    make_response_usage,
    number_events,
)
from catalog_probe.mockserver.pc import limits
from catalog_probe.mockserver.pc.call import check_object, read_object
from catalog_probe.mockserver.pc.errors import (
    CONFLICT,
    MUTUALLY_EXCLUSIVE_PARAMETERS,
    NO_CONVERSATION,
    NO_INPUT,
    NO_RESPONSE,
    NOT_OFFERED,
    PREVIOUS_RESPONSE_NOT_FOUND,
    error_event,
)
from catalog_probe.mockserver.pc.fields import CHAT_ONLY, CONVERSATION, RESPONSE
from catalog_probe.mockserver.pc.generation import (
    Generated,
    check_images,
    check_window,
    find_service_tier,
    find_text_model,
    find_user_text,
    generate,
    images_of,
    refuse_other_fields,
    searches_files,
    text_of,
)
from catalog_probe.mockserver.pc.scenarios import find_search_failure, find_stream_failure, raise_generation_failure
from catalog_probe.mockserver.requested_output import read_responses_request

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.sessions import BoundedStore
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.models import Model


@dataclass
class Conversation:
    """A conversation. The mock keeps no items, because nothing reads them."""

    id: str
    created_at: int
    metadata: dict[str, Any]
    busy_until: float = 0.0  # the moment until which a response in the background holds it


async def create_conversation(call: Call) -> Response:
    """Create a conversation."""
    body = await read_object(call, CONVERSATION)
    conversation = Conversation(call.session.new_id("conv_", 32), int(call.now), body.get("metadata", {}))
    call.session.store(Conversation)[conversation.id] = conversation
    return _respond(conversation)


async def retrieve_conversation(call: Call) -> Response:
    """Describe a conversation."""
    return _respond(_find_conversation(call, call.params["conversation_id"]))


async def delete_conversation(call: Call) -> Response:
    """Delete a conversation, unless a response holds it."""
    conversation = _find_conversation(call, call.params["conversation_id"])
    refuse_while_busy(call, conversation)
    del call.session.store(Conversation)[conversation.id]
    return JSONResponse({"id": conversation.id, "object": "conversation.deleted", "deleted": True})


def hold(call: Call, conversation_id: str, until: float) -> None:
    """Let a response hold the conversation until a moment, unless another one does."""
    conversation = _find_conversation(call, conversation_id)
    refuse_while_busy(call, conversation)
    conversation.busy_until = until


def refuse_while_busy(call: Call, conversation: Conversation) -> None:
    """Refuse with 409 while a response holds the conversation."""
    if call.now < conversation.busy_until:
        raise CONFLICT()


def _find_conversation(call: Call, conversation_id: str) -> Conversation:
    return call.session.store(Conversation).find(conversation_id, NO_CONVERSATION)


def _respond(conversation: Conversation) -> Response:
    return JSONResponse(
        {
            "id": conversation.id,
            "object": "conversation",
            "created_at": conversation.created_at,
            "metadata": conversation.metadata,
        }
    )


ERROR_EVENT_ONLY = frozenset({"cyber_policy"})
"""Codes of `error` events (1:6) that no response.failed carries: they are no stream error codes (2:7.5)."""

SERVER_ERROR_CODE = "server_error"  # the stream error code of a failure that has no code over HTTP (2:7.5)


def make_failing_events(response: Mapping[str, Any], failure: Refusal) -> Iterator[dict[str, Any]]:
    """Yield the events of a response that fails after it has begun."""
    yield from make_response_start(response)
    code = failure.row.code or SERVER_ERROR_CODE
    yield {**error_event(failure), "code": code}
    if code not in ERROR_EVENT_ONLY:
        error = {"code": code, "message": failure.message}
        failed_fields: dict[str, Any] = {
            "status": "failed",
            "output": [],
            "usage": None,
            "incomplete_details": None,
            "completed_at": None,
        }
        yield {"type": "response.failed", "response": {**response, **failed_fields, "error": error}}


Body = dict[str, Any]

BACKGROUND_S = 30  # seconds that a response in the background takes; the mock's choice


class StoredResponse(dict[str, Any]):
    """A response object that can be fetched and continued."""


@dataclass(frozen=True)
class GeneratedResponse:
    """A response object, and the failure that ends its stream, if any."""

    response: Body
    failure: Refusal | None = None


def generate_response(
    call: Call, raw_body: Any, socket_responses: Mapping[str, Body], *, streamed: bool
) -> GeneratedResponse:
    """Generate the response to a request that has been counted.

    A stream begins before its images are checked, so their errors come after the 200 (2:7.5).

    Args:
        socket_responses: unstored responses of the same WebSocket, which this one may continue; by id.

    Raises:
        Refusal: the body is refused.
    """
    body = check_response(raw_body)
    model = find_text_model(call, body, "max_output_tokens")
    previous = _find_previous(call, body.get("previous_response_id"), socket_responses)
    user_text, called = find_user_text(body.get("input"))
    called += _list_called_functions(previous)
    requested = read_responses_request(body, user_text, called, NOT_OFFERED)
    prompt_text = " ".join(filter(None, (output_text(previous), text_of(body.get("input")))))
    limit = body.get("max_output_tokens")
    prompt_tokens = check_window(model, prompt_text, limit, "input")
    limits.admit_tokens(call, model, prompt_tokens, limit or 0)
    raise_generation_failure(call.context)
    _hold_conversation(call, body)
    failure = _find_stream_failure(call, body) if streamed else None
    if not streamed:
        check_images(images_of(body.get("input")))
    response = describe_response(call, body, model, generate(call.context, model, prompt_text, limit, requested))
    return GeneratedResponse(response, failure)


def check_response(raw_body: Any) -> Body:
    """Return the checked body of a request for a response."""
    refuse_other_fields(raw_body, CHAT_ONLY)
    body = check_object(raw_body, RESPONSE)
    if "previous_response_id" in body and "conversation" in body:
        raise MUTUALLY_EXCLUSIVE_PARAMETERS()
    if not body.get("input") and "previous_response_id" not in body and "prompt" not in body:
        raise NO_INPUT()
    return body


def stored_responses(call: Call) -> BoundedStore[str, StoredResponse]:
    """Return the stored responses of the project."""
    return call.session.store(StoredResponse, call.project.id)


def store(call: Call, raw_body: Mapping[str, Any], response: Body) -> None:
    """Store a response, unless the request says `store: false`."""
    if raw_body.get("store") is not False:
        stored_responses(call)[response["id"]] = StoredResponse(response)


def output_text(response: Mapping[str, Any]) -> str:
    """Return the text of a response's last message."""
    messages = [item for item in response.get("output", ()) if item["type"] == "message"]
    return str(messages[-1]["content"][0]["text"]) if messages else ""


def _list_called_functions(response: Mapping[str, Any]) -> list[str]:
    return [item["name"] for item in response.get("output", ()) if item["type"] == "function_call"]


def _find_previous(call: Call, response_id: str | None, socket_responses: Mapping[str, Body]) -> Body:
    """Return the response that this one continues, or an empty one (2:7.5)."""
    if response_id is None:
        return {}
    if response_id in socket_responses:
        return socket_responses[response_id]
    return stored_responses(call).find(response_id, PREVIOUS_RESPONSE_NOT_FOUND)


def _find_stream_failure(call: Call, body: Body) -> Refusal | None:
    failure = find_stream_failure(call.context)
    if failure is None and searches_files(body):
        failure = find_search_failure(call.context)
    if failure is None:
        try:
            check_images(images_of(body.get("input")))
        except Refusal as refusal:
            return refusal
    return failure


def _hold_conversation(call: Call, body: Body) -> None:
    """Hold the conversation of a response, for longer if it is made in the background."""
    conversation = body.get("conversation")
    if conversation is not None:
        until = call.now + BACKGROUND_S if body.get("background") else 0.0
        hold(call, conversation if isinstance(conversation, str) else conversation["id"], until)


def describe_response(call: Call, body: Mapping[str, Any], model: Model, generated: Generated) -> Body:
    """Return the response object (1:2.6), with all fields that clients validate."""
    status = "incomplete" if generated.incomplete_reason else "completed"
    conversation = body.get("conversation")
    return {
        "id": call.session.new_id("resp_", 32),
        "object": "response",
        "created_at": int(call.now),
        "completed_at": int(call.now),
        "status": status,
        "background": body.get("background", False),
        "conversation": {"id": conversation} if isinstance(conversation, str) else conversation,
        "error": None,
        "incomplete_details": {"reason": generated.incomplete_reason} if generated.incomplete_reason else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": body.get("metadata", {}),
        "model": model.id,
        "output": make_output(call.session, generated.text, generated.calls, status),
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": body.get("reasoning", {"effort": None, "summary": None}),
        "service_tier": find_service_tier(call, body),
        "store": body.get("store", True),
        "temperature": None if model.reasoning else body.get("temperature", 1.0),
        "text": body.get("text", {"format": {"type": "text"}}),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "top_p": None if model.reasoning else body.get("top_p", 1.0),
        "truncation": body.get("truncation", "disabled"),
        "usage": make_response_usage(generated.input_tokens, generated.output_tokens, generated.reasoning_tokens),
    }


async def create_response(call: Call) -> Response:
    """Generate a response, as one body or as a stream."""
    raw_body = await limits.read_counted(call)
    streamed = isinstance(raw_body, dict) and raw_body.get("stream") is True
    generated = generate_response(call, raw_body, {}, streamed=streamed)
    store(call, raw_body, generated.response)
    if not streamed:
        return JSONResponse(_describe_at(generated.response, call.now))
    return event_stream(map(encode_typed, number_events(_make_events(generated))))


def _make_events(generated: GeneratedResponse) -> Iterator[Body]:
    if generated.failure is not None:
        return make_failing_events(generated.response, generated.failure)
    return make_response_events(generated.response)


async def retrieve_response(call: Call) -> Response:
    """Describe a stored response of the project."""
    return JSONResponse(_describe_at(_find_response(call), call.now))


async def delete_response(call: Call) -> Response:
    """Delete a stored response: 2:7.5 names deleted ones."""
    response_id = _find_response(call)["id"]
    del stored_responses(call)[response_id]
    return JSONResponse({"id": response_id, "object": "response", "deleted": True})


def _find_response(call: Call) -> Body:
    return stored_responses(call).find(call.params["response_id"], NO_RESPONSE)


def _describe_at(response: Body, now: float) -> Body:
    """Return the response at a moment; one in the background takes some time."""
    if response["background"] and now < response["created_at"] + BACKGROUND_S:
        return {**response, "status": "in_progress", "output": [], "usage": None, "completed_at": None}
    return response
