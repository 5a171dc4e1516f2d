"""A response to what was asked, whichever transport it came by: checked, counted, refused or made, and kept (1:4.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.shelves import Shelf
from catalog_probe.mockserver.pc.causes import STORE_TIMEOUT, mid_stream, raise_generation_failure
from catalog_probe.mockserver.pc.endpoints import conversations
from catalog_probe.mockserver.pc.errors import PREVIOUS_RESPONSE_NOT_FOUND, VECTOR_STORE_TIMEOUT, PcError
from catalog_probe.mockserver.pc.generation.asked import asked_of_response
from catalog_probe.mockserver.pc.generation.generator import Generated, check_window, generate
from catalog_probe.mockserver.pc.generation.images import check_images
from catalog_probe.mockserver.pc.generation.response_request import (
    check_response,
    check_service_tier,
    images,
    said_last,
    searches_files,
    text_of,
)
from catalog_probe.mockserver.pc.limits import rates

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.models import Model

BACKGROUND_S = 30
"""How long a response takes in the background."""

Body = dict[str, Any]


@dataclass
class Kept:
    """The responses of a session that are stored: id -> (project, response, its input)."""

    responses: Shelf[str, tuple[str, Body, Any]] = field(default_factory=Shelf)

    def find(self, response_id: Any, project: str) -> Body | None:
        """A stored response; another project's is none."""
        owner, response, _ = self.responses.get(response_id, ("", {}, None))
        return response if owner == project else None

    def input_items(self, response_id: str) -> list[Body]:
        """The items of the input of a stored response, each under an id."""
        own_id = f"msg_{response_id.removeprefix('resp_')}"
        given = _items(self.responses[response_id][2])
        return [conversations.item_of(item, f"{own_id}_{index}") for index, item in enumerate(given)]


@dataclass(frozen=True)
class Answer:
    """A response that was made, and what ends its stream instead of it, if anything does."""

    response: Body
    failure: PcError | None = None


def answer(call: Call, body: Body, own: Mapping[str, Body], *, streamed: bool) -> Answer:
    """Respond to a body that was counted; `own` are earlier responses that only this caller can go on from.

    A stream begins before the images are looked at, so what is wrong with them comes after the 200 (2:7.5).

    Raises:
        PcError: the body is refused.
    """
    model = check_response(call, body)
    previous = _previous(call, body.get("previous_response_id"), own)
    said, already = said_last(body.get("input"))
    asked = asked_of_response(body, said, {*already, *_called_in(previous)})
    heard = " ".join(filter(None, (said_in(previous), text_of(body.get("input", "")))))
    limit = body.get("max_output_tokens")
    prompt = check_window(model, heard, limit, "input")
    rates.admit_tokens(call, model, prompt, limit or 0)
    raise_generation_failure(call.context)
    _join(call, body)
    if streamed:
        failure = mid_stream(call.context) or _failure(call, body)
    else:
        failure = None
        check_images(images(body))
    generated = generate(call.context, model, heard, limit, asked)
    response = described(call, body, model, generated)
    if failure is None and response["conversation"] is not None:
        said_now = [*_items(body.get("input")), *response["output"]]
        conversations.take_in(call, str(response["conversation"].get("id", "")), said_now)
    return Answer(response, failure)


def keep(call: Call, body: Body, response: Body) -> None:
    """Store a response, unless its client does not want it to be."""
    if body.get("store") is not False:
        call.session.state(Kept).responses[response["id"]] = (call.project.id, response, body.get("input"))


def said_in(response: Mapping[str, Any]) -> str:
    """What was said in a response."""
    messages = [item for item in response.get("output", ()) if item["type"] == "message"]
    return str(messages[-1]["content"][0]["text"]) if messages else ""


def _items(given: Any) -> list[Body]:
    """An input as items: a text is what a user says."""
    return [{"role": "user", "content": given}] if isinstance(given, str) else given or []


def _called_in(response: Mapping[str, Any]) -> list[str]:
    return [item["name"] for item in response.get("output", ()) if item["type"] == "function_call"]


def _previous(call: Call, response_id: str | None, own: Mapping[str, Body]) -> Body:
    """The response that this one goes on from, or 400 (2:7.5)."""
    if response_id is None:
        return {}
    found = own.get(response_id) or call.session.state(Kept).find(response_id, call.project.id)
    if found is None:
        message = f"Previous response with id '{response_id}' not found."
        raise PREVIOUS_RESPONSE_NOT_FOUND(message, "previous_response_id")
    return found


def _failure(call: Call, body: Body) -> PcError | None:
    if searches_files(body) and call.context.take(STORE_TIMEOUT) is not None:
        return VECTOR_STORE_TIMEOUT("The vector store did not answer in time.")
    try:
        check_images(images(body))
    except PcError as error:
        return error
    return None


def _join(call: Call, body: Body) -> None:
    """Take part in a conversation; a response in the background keeps it busy."""
    named = body.get("conversation")
    if named is not None:
        conversation = str(named.get("id", "") if isinstance(named, dict) else named)
        conversations.hold(call, conversation, call.now + BACKGROUND_S if body.get("background") else 0.0)


def described(call: Call, body: Mapping[str, Any], model: Model, generated: Generated) -> Body:
    """The response object (1:2.6), with all that clients validate."""
    status = "incomplete" if generated.stopped else "completed"
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
        "output": _output(call, generated, status),
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


def _output(call: Call, generated: Generated, status: str) -> list[Body]:
    if generated.calls:
        return [_function_call(call, *each) for each in generated.calls]
    part = {"type": "output_text", "text": generated.text, "annotations": [], "logprobs": []}
    item_id = call.session.new_id("msg_", 32)
    return [{"id": item_id, "type": "message", "role": "assistant", "status": status, "content": [part]}]


def _function_call(call: Call, name: str, arguments: str) -> Body:
    ids = {"id": call.session.new_id("fc_", 32), "call_id": call.session.new_id("call_", 24)}
    return {"type": "function_call", **ids, "name": name, "arguments": arguments, "status": "completed"}
