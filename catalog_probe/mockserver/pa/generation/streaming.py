"""A message as server-sent events, and the `error` event that can end it after 200 (1:6)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping

    from catalog_probe.mockserver.pa.errors import PaError

CHUNK = 24
"""Characters a delta; small enough that a short answer comes in several."""

Event = tuple[str, dict[str, Any]]


async def sse(message: Mapping[str, Any], failure: PaError | None) -> AsyncIterator[bytes]:
    """The events of `message`; with a failure, only up to the first delta, and then an `error` event."""
    for name, data in events(message):
        yield _encode(name, data)
        if failure is not None and name == "content_block_delta":
            break
    if failure is not None:
        yield _encode("error", failure.envelope())


def events(message: Mapping[str, Any]) -> Iterator[Event]:
    """message_start, then each block as start, deltas and stop, then message_delta and message_stop."""
    begun = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "stop_details": None}
    begun["usage"] = {**message["usage"], "output_tokens": 1}
    yield _event("message_start", message=begun)
    for index, block in enumerate(message["content"]):
        empty, deltas = _split(block)
        yield _event("content_block_start", index=index, content_block=empty)
        if index == 0:
            yield _event("ping")
        for delta in deltas:
            yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    stop = {name: message[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield _event("message_delta", delta=stop, usage=message["usage"])
    yield _event("message_stop")


def _event(name: str, **data: Any) -> Event:
    return name, {"type": name, **data}


def _split(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The block as it starts, and the deltas that complete it."""
    match block["type"]:
        case "text":
            deltas = [{"type": "text_delta", "text": part} for part in _parts(block["text"])]
            return {**block, "text": ""}, deltas
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": part} for part in _parts(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {**block, "thinking": "", "signature": ""}, deltas
        case "tool_use" | "server_tool_use":
            text = json.dumps(block["input"])
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in _parts(text)]
        case _:
            return dict(block), []


def _parts(text: str) -> list[str]:
    return [text[start : start + CHUNK] for start in range(0, len(text), CHUNK)]


def _encode(name: str, data: Mapping[str, Any]) -> bytes:
    return f"event: {name}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
