"""PC's responses: created, fetched and deleted (1:4.3, 2:7.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.completions import make_response_events, number_events
from catalog_probe.mockserver.core.streams import encode_typed, event_stream
from catalog_probe.mockserver.pc.errors import NO_RESPONSE
from catalog_probe.mockserver.pc.generation.failing import make_failing_events
from catalog_probe.mockserver.pc.generation.response import (
    BACKGROUND_S,
    Body,
    GeneratedResponse,
    generate_response,
    store,
    stored_responses,
)
from catalog_probe.mockserver.pc.limits import rates

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call


async def create_response(call: Call) -> Response:
    """Generate a response, as one body or as a stream."""
    raw_body = await rates.read_counted(call)
    streamed = isinstance(raw_body, dict) and raw_body.get("stream") is True
    generated = generate_response(call, raw_body, {}, streamed=streamed)
    store(call, raw_body, generated.response)
    if not streamed:
        return JSONResponse(_describe_at(generated.response, call.now))
    return event_stream(map(encode_typed, number_events(_make_events(generated))))


def _make_events(generated: GeneratedResponse) -> Iterator[Body]:
    if generated.failure is not None:
        return make_failing_events(generated.response, generated.failure)
    return make_response_events(generated.response)


async def retrieve_response(call: Call) -> Response:
    """Describe a stored response of the project."""
    return JSONResponse(_describe_at(_find(call), call.now))


async def delete_response(call: Call) -> Response:
    """Delete a stored response: 2:7.5 names deleted ones."""
    response_id = _find(call)["id"]
    del stored_responses(call)[response_id]
    return JSONResponse({"id": response_id, "object": "response", "deleted": True})


def _find(call: Call) -> Body:
    return stored_responses(call).find(call.params["response_id"], NO_RESPONSE)


def _describe_at(response: Body, now: float) -> Body:
    """Return the response at a moment; one in the background takes some time."""
    if response["background"] and now < response["created_at"] + BACKGROUND_S:
        return {**response, "status": "in_progress", "output": [], "usage": None, "completed_at": None}
    return response
