"""PC's chat completions (1:4.3); `finish_reason` says why one ended (2:7.5)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.generation import (
    DONE,
    encode_event,
    event_stream,
    make_chat_chunks,
    make_chat_usage,
    make_tool_calls,
)
from catalog_probe.mockserver.pc import limits
from catalog_probe.mockserver.pc.call import check_object
from catalog_probe.mockserver.pc.errors import NOT_OFFERED, envelope
from catalog_probe.mockserver.pc.fields import CHAT, RESPONSE_ONLY
from catalog_probe.mockserver.pc.generation import (
    check_images,
    check_window,
    find_service_tier,
    find_text_model,
    generate,
    refuse_other_fields,
)
from catalog_probe.mockserver.pc.scenarios import find_stream_failure, raise_generation_failure
from catalog_probe.mockserver.requested_output import find_user_text, read_chat_request

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.generation import Generated
    from catalog_probe.mockserver.pc.models import Model


Body = dict[str, Any]
Message = Mapping[str, Any]

FINISH_REASONS: Mapping[str | None, str] = {
    None: "stop",
    "max_output_tokens": "length",
    "max_messages": "length",
    "content_filter": "content_filter",
}
"""The `finish_reason` for each reason of an incomplete response."""


async def create_chat_completion(call: Call) -> Response:
    """Generate a completion, as one body or as a stream."""
    raw_body = await limits.read_counted(call)
    completion = _complete(call, raw_body)
    if not raw_body.get("stream"):
        return JSONResponse(completion)
    with_usage = bool((raw_body.get("stream_options") or {}).get("include_usage"))
    return event_stream(_make_events(completion, find_stream_failure(call.context), with_usage))


def _complete(call: Call, raw_body: Any) -> Body:
    """Return the completion for a request that has been counted."""
    refuse_other_fields(raw_body, RESPONSE_ONLY)
    body = check_object(raw_body, CHAT)
    model = find_text_model(call, body, "max_tokens", "max_completion_tokens")
    messages = body["messages"]
    requested = read_chat_request(body, *find_user_text(messages, _text), NOT_OFFERED)
    prompt_text = _text(messages[-1])
    limit = body.get("max_completion_tokens", body.get("max_tokens"))
    prompt_tokens = check_window(model, prompt_text, limit, "messages")
    limits.admit_tokens(call, model, prompt_tokens, limit or 0)
    raise_generation_failure(call.context)
    check_images(_iterate_images(messages))
    return _describe(call, body, model, generate(call.context, model, prompt_text, limit, requested))


def _text(message: Message) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(part["text"] for part in content if part.get("text"))


def _iterate_images(messages: list[Message]) -> Iterator[Message]:
    for message in messages:
        content = message.get("content")
        for part in content if isinstance(content, list) else ():
            if part.get("type") == "image_url":
                yield {"image_url": (part.get("image_url") or {}).get("url")}


def _describe(call: Call, body: Body, model: Model, generated: Generated) -> Body:
    """Return the completion with all fields that clients validate."""
    message: Body = {"role": "assistant", "content": generated.text, "refusal": None, "annotations": []}
    finish_reason = FINISH_REASONS[generated.incomplete_reason]
    if generated.calls:
        finish_reason = "tool_calls"
        message["content"] = None
        message["tool_calls"] = make_tool_calls(call.session, generated.calls)
    choice = {"message": message, "logprobs": None, "finish_reason": finish_reason}
    return {
        "id": call.session.new_id("chatcmpl-", 28),
        "object": "chat.completion",
        "created": int(call.now),
        "model": model.id,
        "choices": [{"index": index, **choice} for index in range(body.get("n", 1))],
        "usage": {
            **make_chat_usage(generated.input_tokens, generated.output_tokens),
            "completion_tokens_details": {"reasoning_tokens": generated.reasoning_tokens},
        },
        "service_tier": find_service_tier(call, body),
    }


def _make_events(completion: Body, failure: Refusal | None, with_usage: bool) -> Iterator[bytes]:
    """Yield the chunks; with a failure, the first chunk and then the error."""
    chunks = map(encode_event, make_chat_chunks(completion, with_usage=with_usage))
    if failure is not None:
        yield next(chunks)
        yield encode_event(envelope(failure))
        return
    yield from chunks
    yield DONE
