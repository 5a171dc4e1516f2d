"""A response as server-sent events, and how a stream fails after 200: an error event, response.failed (1:6)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from catalog_probe.mockserver.pc.errors import PcError

CHUNK = 24
"""Characters a delta."""

NO_RESPONSE_ERROR = frozenset({"cyber_policy"})
"""Codes that come as an error event alone: they are none of the stream error codes that a response can carry."""

FAULT = "server_error"
"""The code of a failure that has none over HTTP (2:7.5)."""

Event = dict[str, Any]


async def sse(response: Mapping[str, Any], failure: PcError | None) -> AsyncIterator[bytes]:
    """The events of a response, numbered; with a failure, only its beginning and then the failure."""
    told = events(response) if failure is None else failing(response, failure)
    for number, event in enumerate(told):
        yield encode({**event, "sequence_number": number})


def encode(event: Mapping[str, Any]) -> bytes:
    """One event, under the name that its data repeats."""
    return f"event: {event['type']}\ndata: {json.dumps(event, separators=(',', ':'))}\n\n".encode()


def begun(response: Mapping[str, Any]) -> Iterator[Event]:
    """The events with which every response begins."""
    begun = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    begun["completed_at"] = None
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}


def events(response: Mapping[str, Any]) -> Iterator[Event]:
    """The events of a response that comes to its end."""
    yield from begun(response)
    for index, item in enumerate(response["output"]):
        if item["type"] == "function_call":
            yield from of_call(item, index)
        else:
            yield from opening(item, index)
            for piece in _pieces(item["content"][0]["text"]):
                yield delta(item, index, piece)
            yield from closing(item, index)
    yield end(response)


def opening(item: Mapping[str, Any], index: int) -> Iterator[Event]:
    """A message before its text."""
    empty = {**item, "status": "in_progress", "content": []}
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    yield {"type": "response.content_part.added", **_at(item, index), "part": {**item["content"][0], "text": ""}}


def delta(item: Mapping[str, Any], index: int, piece: str) -> Event:
    """A piece of a message's text."""
    return {"type": "response.output_text.delta", **_at(item, index), "delta": piece, "logprobs": []}


def closing(item: Mapping[str, Any], index: int) -> Iterator[Event]:
    """A message after its text."""
    (part,) = item["content"]
    yield {"type": "response.output_text.done", **_at(item, index), "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **_at(item, index), "part": part}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def end(response: Mapping[str, Any]) -> Event:
    """The last event of a response that was made."""
    return {"type": f"response.{response['status']}", "response": response}


def of_call(item: Mapping[str, Any], index: int) -> Iterator[Event]:
    """A function call, its arguments piece by piece."""
    at = {"item_id": item["id"], "output_index": index}
    empty = {**item, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": index, "item": empty}
    for piece in _pieces(item["arguments"]):
        yield {"type": "response.function_call_arguments.delta", **at, "delta": piece}
    done = {"name": item["name"], "arguments": item["arguments"]}
    yield {"type": "response.function_call_arguments.done", **at, **done}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _at(item: Mapping[str, Any], index: int) -> Event:
    return {"item_id": item["id"], "output_index": index, "content_index": 0}


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + CHUNK] for start in range(0, len(text), CHUNK))


def failing(response: Mapping[str, Any], failure: PcError) -> Iterator[Event]:
    """The events of a response that fails after it has begun."""
    yield from begun(response)
    code = failure.code or FAULT
    yield {**failure.event(), "code": code}
    if code not in NO_RESPONSE_ERROR:
        error = {"code": code, "message": failure.message}
        failed = {**response, "status": "failed", "output": [], "usage": None, "error": error, "completed_at": None}
        yield {"type": "response.failed", "response": {**failed, "incomplete_details": None}}
