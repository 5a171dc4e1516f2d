"""A message as server-sent events, and the `error` event after 200 (1:6)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.streams import encode_typed, split_text
from catalog_probe.mockserver.pa.errors import make_envelope

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.mockserver.core.errors import Refusal

Event = dict[str, Any]


def encode_message(message: Mapping[str, Any], failure: Refusal | None) -> Iterator[bytes]:
    """Write the events of a message; a failure ends them after the first delta."""
    for event in _make_events(message):
        yield encode_typed(event)
        if failure is not None and event["type"] == "content_block_delta":
            break
    if failure is not None:
        yield encode_typed(make_envelope(failure))


def _make_events(message: Mapping[str, Any]) -> Iterator[Event]:
    """Make the events: message start, each block with its deltas, message end."""
    started = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "stop_details": None}
    started["usage"] = {**message["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": started}
    for index, block in enumerate(message["content"]):
        empty, deltas = _split(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {name: message[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield {"type": "message_delta", "delta": stop, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _split(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the block as it starts, and the deltas that complete it."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": part} for part in split_text(block["text"])]
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": part} for part in split_text(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {**block, "thinking": "", "signature": ""}, deltas
        case "tool_use" | "server_tool_use":
            parts = split_text(json.dumps(block["input"]))
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in parts]
        case _:
            return dict(block), []
