"""Server-sent events, and texts cut into the pieces of a stream."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

from starlette.responses import StreamingResponse

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
