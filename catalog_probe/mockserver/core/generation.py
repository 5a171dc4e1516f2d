"""The model behind every provider: its text, event streams and shared completions.

The documents show neither; official clients read them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from starlette.responses import StreamingResponse

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.sessions import Session


BYTES_PER_TOKEN = 4
MAX_REPEATED = 200  # characters


def count_tokens(text: str) -> int:
    """Count the tokens of a text, in proportion to its bytes; an empty text has none."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def echo_text(prompt: str) -> str:
    """Return the model's answer to a prompt."""
    return f"The mock heard: {prompt[:MAX_REPEATED]}"


def truncate_text(text: str, tokens: int | None) -> str:
    """Cut a text at a number of tokens; None leaves it whole."""
    if tokens is None or count_tokens(text) <= tokens:
        return text
    return text.encode("utf-8", "replace")[: tokens * BYTES_PER_TOKEN].decode("utf-8", "ignore")


PIECE = 24  # characters of a delta; small enough that a short answer comes in several

DONE = b"data: [DONE]\n\n"
"""The end of a stream of chat completions."""


def encode_event(data: Any, name: str | None = None) -> bytes:
    """Write one event; the streams of some providers name each."""
    name_line = f"event: {name}\n" if name is not None else ""
    return f"{name_line}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


def encode_typed(event: Mapping[str, Any]) -> bytes:
    """Write one event whose name is the `type` of its data."""
    return encode_event(event, event["type"])


def split_text(text: str, size: int = PIECE) -> list[str]:
    """Cut a text into pieces of `size` characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def event_stream(events: Iterable[bytes], break_off: Callable[[], None] | None = None) -> StreamingResponse:
    """Make the response of these events.

    `break_off` then breaks the connection, before the stream has ended.
    """

    async def body() -> AsyncIterator[bytes]:
        for event in events:
            yield event
        if break_off is not None:
            break_off()

    return StreamingResponse(body(), media_type="text/event-stream", headers={"cache-control": "no-cache"})


Event = dict[str, Any]


def make_chat_chunks(
    completion: Mapping[str, Any], *, with_usage: bool = False, whole_calls: bool = False
) -> Iterator[Event]:
    """Make the chunks of a completion, with usage in the last one if asked for.

    A function call comes piece by piece, unless `whole_calls`.
    """
    head = {name: value for name, value in completion.items() if name != "usage"}
    head["object"] = "chat.completion.chunk"
    for choice in completion["choices"]:
        for delta in _make_deltas(choice["message"], whole_calls):
            yield {**head, "choices": [{"index": choice["index"], "delta": delta, "finish_reason": None}]}
        yield {**head, "choices": [{"index": choice["index"], "delta": {}, "finish_reason": choice["finish_reason"]}]}
    if with_usage:
        yield {**head, "choices": [], "usage": completion["usage"]}


def _make_deltas(message: Mapping[str, Any], whole_calls: bool) -> Iterator[Event]:
    text = message["content"]
    yield {"role": "assistant", "content": None if text is None else ""}
    for piece in split_text(text or ""):
        yield {"content": piece}
    for index, tool_call in enumerate(message.get("tool_calls") or ()):
        if whole_calls:
            yield {"tool_calls": [{**tool_call, "index": index}]}
            continue
        function = tool_call["function"]
        yield {"tool_calls": [{**tool_call, "index": index, "function": {**function, "arguments": ""}}]}
        for piece in split_text(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def number_events(events: Iterator[Event]) -> Iterator[Event]:
    """Add its sequence number to each event of a stream."""
    for number, event in enumerate(events):
        yield {**event, "sequence_number": number}


def make_response_events(response: Mapping[str, Any]) -> Iterator[Event]:
    """Make all events of a response."""
    yield from make_response_start(response)
    for index, item in enumerate(response["output"]):
        if item["type"] == "function_call":
            yield from make_call_events(item, index)
        else:
            yield from make_message_start(item, index)
            for piece in split_text(item["content"][0]["text"]):
                yield make_text_delta(item, index, piece)
            yield from make_message_end(item, index)
    yield make_response_end(response)


def make_response_start(response: Mapping[str, Any]) -> Iterator[Event]:
    """Make the events with which every response begins."""
    started = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    started["completed_at"] = None
    yield {"type": "response.created", "response": started}
    yield {"type": "response.in_progress", "response": started}


def make_response_end(response: Mapping[str, Any]) -> Event:
    """Make the last event of a response, by its status."""
    return {"type": f"response.{response['status']}", "response": response}


def make_message_start(item: Mapping[str, Any], index: int) -> Iterator[Event]:
    """Make the events before the text of a message."""
    empty = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    yield {"type": "response.content_part.added", **_locate(item, index), "part": {**item["content"][0], "text": ""}}


def make_text_delta(item: Mapping[str, Any], index: int, piece: str) -> Event:
    """Make the event of a piece of a message's text."""
    return {"type": "response.output_text.delta", **_locate(item, index), "delta": piece, "logprobs": []}


def make_message_end(item: Mapping[str, Any], index: int) -> Iterator[Event]:
    """Make the events after the text of a message."""
    (part,) = item["content"]
    yield {"type": "response.output_text.done", **_locate(item, index), "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **_locate(item, index), "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def make_call_events(item: Mapping[str, Any], index: int) -> Iterator[Event]:
    """Make the events of a function call, its arguments piece by piece."""
    location = {"item_id": item["id"], "output_index": index}
    empty = {**item, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    for piece in split_text(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **location, "delta": piece}
    function = {"name": item["name"], "arguments": item["arguments"]}
    yield {"type": "response.function_call_arguments.done", **location, **function}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _locate(item: Mapping[str, Any], index: int) -> Event:
    return {"item_id": item["id"], "output_index": index, "content_index": 0}


def make_tool_calls(session: Session, calls: Iterable[tuple[str, str]]) -> list[Event]:
    """Make the tool calls of a chat message from the name and the JSON arguments of each."""
    return [
        {"id": session.new_id("call_"), "type": "function", "function": {"name": name, "arguments": arguments}}
        for name, arguments in calls
    ]


def make_chat_usage(prompt_tokens: int, completion_tokens: int) -> Event:
    """Make the usage of a chat completion."""
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
    }


def make_output(session: Session, text: str, calls: Iterable[tuple[str, str]], status: str) -> list[Event]:
    """Make the output of a response: an item for each call, or one message."""
    items = [
        {
            "type": "function_call",
            "id": session.new_id("fc_", 32),
            "call_id": session.new_id("call_"),
            "name": name,
            "arguments": arguments,
            "status": "completed",
        }
        for name, arguments in calls
    ]
    if items:
        return items
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    message = {"id": session.new_id("msg_", 32), "type": "message", "role": "assistant", "status": status}
    return [{**message, "content": [part]}]


def make_response_usage(input_tokens: int, output_tokens: int, reasoning_tokens: int = 0) -> Event:
    """Make the usage of a response."""
    return {
        "input_tokens": input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": output_tokens,
        "output_tokens_details": {"reasoning_tokens": reasoning_tokens},
        "total_tokens": input_tokens + output_tokens,
    }
