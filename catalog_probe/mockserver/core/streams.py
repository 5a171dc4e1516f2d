"""Server-sent events: how an event is written, and texts cut into pieces."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

from starlette.responses import StreamingResponse

PIECE = 24
"""Characters a delta; small enough that a short answer comes in several."""

DONE = b"data: [DONE]\n\n"
"""What ends a stream of chat completions."""


def encode_event(data: Any, name: str | None = None) -> bytes:
    """One event; a stream of some providers names each."""
    named = f"event: {name}\n" if name is not None else ""
    return f"{named}data: {json.dumps(data, separators=(',', ':'))}\n\n".encode()


def encode_typed(event: Mapping[str, Any]) -> bytes:
    """One event under the name that its data repeats as `type`."""
    return encode_event(event, event["type"])


def cut_into(text: str, size: int = PIECE) -> list[str]:
    """The text in pieces of so many characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def event_stream(events: Iterable[bytes], break_off: Callable[[], None] | None = None) -> StreamingResponse:
    """The answer that is these events; `break_off` breaks the connection after them, before the stream has ended."""

    async def body() -> AsyncIterator[bytes]:
        for event in events:
            yield event
        if break_off is not None:
            break_off()

    return StreamingResponse(body(), media_type="text/event-stream", headers={"cache-control": "no-cache"})
