"""A response as server-sent events, and how a stream fails after 200: an error event, response.failed (1:6)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mockserver.pc.errors import PcError

CHUNK = 24
"""Characters a delta."""

NO_RESPONSE_ERROR = frozenset({"cyber_policy"})
"""Codes that come as an error event alone: they are none of the stream error codes that a response can carry."""

FAULT = "server_error"
"""The code of a failure that has none over HTTP (2:7.5)."""

Event = dict[str, Any]


async def sse(response: Mapping[str, Any], failure: PcError | None) -> AsyncIterator[bytes]:
    """The events of a response, numbered; with a failure, only its beginning and then the failure."""
    events = _events(response) if failure is None else _failing(response, failure)
    for number, event in enumerate(events):
        yield encode({**event, "sequence_number": number})


def encode(event: Mapping[str, Any]) -> bytes:
    """One event, under the name that its data repeats."""
    return f"event: {event['type']}\ndata: {json.dumps(event, separators=(',', ':'))}\n\n".encode()


def _begun(response: Mapping[str, Any]) -> Iterator[Event]:
    begun = {**response, "status": "in_progress", "output": [], "usage": None, "incomplete_details": None}
    begun["completed_at"] = None
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}


def _events(response: Mapping[str, Any]) -> Iterator[Event]:
    yield from _begun(response)
    item = response["output"][0]
    part = item["content"][0]
    at = {"item_id": item["id"], "output_index": 0, "content_index": 0}
    yield {
        "type": "response.output_item.added",
        "output_index": 0,
        "item": {**item, "status": "in_progress", "content": []},
    }
    yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
    text = part["text"]
    for start in range(0, len(text), CHUNK):
        yield {"type": "response.output_text.delta", **at, "delta": text[start : start + CHUNK], "logprobs": []}
    yield {"type": "response.output_text.done", **at, "text": text, "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": part}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}


def _failing(response: Mapping[str, Any], failure: PcError) -> Iterator[Event]:
    yield from _begun(response)
    code = failure.code or FAULT
    yield {**failure.event(), "code": code}
    if code not in NO_RESPONSE_ERROR:
        error = {"code": code, "message": failure.message}
        failed = {**response, "status": "failed", "output": [], "usage": None, "error": error, "completed_at": None}
        yield {"type": "response.failed", "response": {**failed, "incomplete_details": None}}
