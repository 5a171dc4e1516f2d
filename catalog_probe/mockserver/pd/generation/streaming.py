"""Completions and responses as server-sent events. The documents name no stream of PD."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse

from catalog_probe.mockserver.core.faults import CLOSE_EXTENSION
from catalog_probe.mockserver.pd.causes import BEFORE_THE_CUT, CUT_MID_STREAM
from catalog_probe.mockserver.pd.generation.generator import pieces

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

    from starlette.requests import Request

    from catalog_probe.mockserver.pd.call import Call

DONE = b"data: [DONE]\n\n"


def chat_stream(call: Call, request: Request, body: Mapping[str, Any], completion: dict[str, Any]) -> StreamingResponse:
    """Chunks of a chat completion, ended by `[DONE]`."""
    with_usage = bool(body.get("stream_options", {}).get("include_usage"))
    return _streamed(call, request, (_data(chunk) for chunk in chunks(completion, with_usage=with_usage)), DONE)


def response_stream(call: Call, request: Request, response: dict[str, Any]) -> StreamingResponse:
    """Events of a response, ended by response.completed or response.incomplete."""
    return _streamed(call, request, (_named(event) for event in _response_events(response)))


def chunks(completion: dict[str, Any], *, with_usage: bool) -> Iterator[dict[str, Any]]:
    """The first chunk says who speaks, the last one why it ended; usage has a chunk of its own."""
    head = {**completion, "object": "chat.completion.chunk"}
    usage = head.pop("usage")
    for choice in completion["choices"]:
        for delta in _deltas(choice["message"]):
            yield {**head, "choices": [{"index": choice["index"], "delta": delta, "finish_reason": None}]}
        yield {**head, "choices": [{"index": choice["index"], "delta": {}, "finish_reason": choice["finish_reason"]}]}
    if with_usage:
        yield {**head, "choices": [], "usage": usage}


def _deltas(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Who speaks, then the text piece by piece, then each call as a whole."""
    yield {"role": "assistant", "content": ""}
    for piece in pieces(message["content"]):
        yield {"content": piece}
    for index, made in enumerate(message.get("tool_calls", ())):
        yield {"tool_calls": [{**made, "index": index}]}


def _response_events(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**response, "status": "in_progress", "output": [], "usage": None, "completed_at": None}
    events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
    for index, item in enumerate(response["output"]):
        events += _of_call(item, index) if item["type"] == "function_call" else _of_message(item, index)
    events.append({"type": f"response.{response['status']}", "response": response})
    for number, event in enumerate(events):
        yield {**event, "sequence_number": number}


def _of_message(item: Mapping[str, Any], index: int) -> list[dict[str, Any]]:
    (part,) = item["content"]
    at = {"item_id": item["id"], "output_index": index, "content_index": 0}
    said = [{"type": "response.output_text.delta", **at, "delta": piece} for piece in pieces(part["text"])]
    return [
        {"type": "response.output_item.added", "output_index": index, "item": {**item, "content": []}},
        {"type": "response.content_part.added", **at, "part": {**part, "text": ""}},
        *({**delta, "logprobs": []} for delta in said),
        {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []},
        {"type": "response.content_part.done", **at, "part": part},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _of_call(item: Mapping[str, Any], index: int) -> list[dict[str, Any]]:
    at = {"item_id": item["id"], "output_index": index}
    empty = {**item, "status": "in_progress", "arguments": ""}
    said = {"name": item["name"], "arguments": item["arguments"]}
    return [
        {"type": "response.output_item.added", "output_index": index, "item": empty},
        {"type": "response.function_call_arguments.delta", **at, "delta": item["arguments"]},
        {"type": "response.function_call_arguments.done", **at, **said},
        {"type": "response.output_item.done", "output_index": index, "item": item},
    ]


def _streamed(call: Call, request: Request, events: Iterable[bytes], end: bytes = b"") -> StreamingResponse:
    cut = call.context.take(CUT_MID_STREAM) is not None

    async def body() -> AsyncIterator[bytes]:
        for number, event in enumerate(events):
            if cut and number == BEFORE_THE_CUT:
                request.scope["extensions"][CLOSE_EXTENSION]["close"]()
                return
            yield event
        yield end

    return StreamingResponse(body(), media_type="text/event-stream", headers={"cache-control": "no-cache"})


def _data(chunk: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(chunk, separators=(',', ':'))}\n\n".encode()


def _named(event: Mapping[str, Any]) -> bytes:
    return f"event: {event['type']}\n".encode() + _data(event)
