"""Chat completions as chunks, and responses as events: the streams that clients of both shapes read.

The documents show neither; two providers speak them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from catalog_probe.mockserver.core.streams import cut_into

Event = dict[str, Any]


def chat_chunks(
    completion: Mapping[str, Any], *, with_usage: bool = False, whole_calls: bool = False
) -> Iterator[Event]:
    """The first chunk says who speaks, the last one why it ended; usage has a chunk of its own.

    A function call comes piece by piece, unless `whole_calls`.
    """
    head = {name: value for name, value in completion.items() if name != "usage"}
    head["object"] = "chat.completion.chunk"
    for choice in completion["choices"]:
        for delta in _deltas(choice["message"], whole_calls):
            yield {**head, "choices": [{"index": choice["index"], "delta": delta, "finish_reason": None}]}
        yield {**head, "choices": [{"index": choice["index"], "delta": {}, "finish_reason": choice["finish_reason"]}]}
    if with_usage:
        yield {**head, "choices": [], "usage": completion["usage"]}


def _deltas(message: Mapping[str, Any], whole_calls: bool) -> Iterator[Event]:
    """Who speaks, then the text, then each call: whole, or its name first and then its arguments."""
    text = message["content"]
    yield {"role": "assistant", "content": None if text is None else ""}
    for piece in cut_into(text or ""):
        yield {"content": piece}
    for index, tool_call in enumerate(message.get("tool_calls") or ()):
        if whole_calls:
            yield {"tool_calls": [{**tool_call, "index": index}]}
            continue
        function = tool_call["function"]
        yield {"tool_calls": [{**tool_call, "index": index, "function": {**function, "arguments": ""}}]}
        for piece in cut_into(function["arguments"]):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def numbered(events: Iterator[Event]) -> Iterator[Event]:
    """The events of a response with their places in the stream."""
    for number, event in enumerate(events):
        yield {**event, "sequence_number": number}


def response_events(response: Mapping[str, Any]) -> Iterator[Event]:
    """The events of a response that comes to its end."""
    yield from beginning_of(response)
    for index, item in enumerate(response["output"]):
        if item["type"] == "function_call":
            yield from call_events(item, index)
        else:
            yield from opening_of(item, index)
            for piece in cut_into(item["content"][0]["text"]):
                yield text_delta(item, index, piece)
            yield from closing_of(item, index)
    yield end_of(response)


def beginning_of(response: Mapping[str, Any]) -> Iterator[Event]:
    """The events with which every response begins."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    begun["completed_at"] = None
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}


def end_of(response: Mapping[str, Any]) -> Event:
    """The last event of a response that was made."""
    return {"type": f"response.{response['status']}", "response": response}


def opening_of(item: Mapping[str, Any], index: int) -> Iterator[Event]:
    """A message before its text."""
    empty = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    yield {"type": "response.content_part.added", **_at(item, index), "part": {**item["content"][0], "text": ""}}


def text_delta(item: Mapping[str, Any], index: int, piece: str) -> Event:
    """A piece of a message's text."""
    return {"type": "response.output_text.delta", **_at(item, index), "delta": piece, "logprobs": []}


def closing_of(item: Mapping[str, Any], index: int) -> Iterator[Event]:
    """A message after its text."""
    (part,) = item["content"]
    yield {"type": "response.output_text.done", **_at(item, index), "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **_at(item, index), "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def call_events(item: Mapping[str, Any], index: int) -> Iterator[Event]:
    """A function call, its arguments piece by piece."""
    at = {"item_id": item["id"], "output_index": index}
    empty = {**item, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    for piece in cut_into(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
    done = {"name": item["name"], "arguments": item["arguments"]}
    yield {"type": "response.function_call_arguments.done", **at, **done}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _at(item: Mapping[str, Any], index: int) -> Event:
    return {"item_id": item["id"], "output_index": index, "content_index": 0}
