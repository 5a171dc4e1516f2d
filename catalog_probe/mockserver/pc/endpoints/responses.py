"""POST /v1/responses and what becomes of a response: fetched while it is stored, cancelled, deleted (1:4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.completions import make_response_events, number_events
from catalog_probe.mockserver.core.streams import encode_typed, event_stream
from catalog_probe.mockserver.pc.endpoints.conversations import describe_item
from catalog_probe.mockserver.pc.errors import NO_RESPONSE, SYNCHRONOUS
from catalog_probe.mockserver.pc.generation.failing import failing_events
from catalog_probe.mockserver.pc.generation.inputs import items_of
from catalog_probe.mockserver.pc.generation.response import (
    BACKGROUND_S,
    Answer,
    Body,
    StoredResponse,
    answer,
    store,
    stored_responses,
)
from catalog_probe.mockserver.pc.limits import rates
from catalog_probe.mockserver.pc.pages import list_page

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call


async def create(call: Call) -> Response:
    """Generate a response, whole or streamed."""
    raw_body = await rates.read_counted(call)
    streamed = isinstance(raw_body, dict) and raw_body.get("stream") is True
    answered = answer(call, raw_body, {}, streamed=streamed)
    store(call, raw_body, answered.response)
    if not streamed:
        return JSONResponse(_describe_now(answered.response, call.now))
    return event_stream(map(encode_typed, number_events(events_of(answered))))


def events_of(answered: Answer) -> Iterator[Body]:
    """The events of a response; with a failure, only its beginning and then the failure."""
    return (
        make_response_events(answered.response)
        if answered.failure is None
        else failing_events(answered.response, answered.failure)
    )


async def retrieve(call: Call) -> Response:
    """A stored response; unknown, deleted, unstored and another project's are all 404."""
    return JSONResponse(_describe_now(_find(call).response, call.now))


async def delete(call: Call) -> Response:
    """Forget a stored response: 2:7.5 names deleted ones."""
    response_id = _find(call).response["id"]
    del stored_responses(call)[response_id]
    return JSONResponse({"id": response_id, "object": "response", "deleted": True})


async def cancel(call: Call) -> Response:
    """Cancel a response in the background while it is being made."""
    response = _find(call).response
    if not response["background"]:
        raise SYNCHRONOUS()
    if call.now < response["created_at"] + BACKGROUND_S:
        response |= {"status": "cancelled", "output": [], "usage": None, "completed_at": None}
    return JSONResponse(response)


async def list_input_items(call: Call) -> Response:
    """The items of the input of a stored response, each under an id."""
    stored = _find(call)
    own_id = f"msg_{stored.response['id'].removeprefix('resp_')}"
    items = items_of(stored.input)
    return list_page([describe_item(item, f"{own_id}_{index}") for index, item in enumerate(items)])


def _find(call: Call) -> StoredResponse:
    return stored_responses(call).find(call.params["response_id"], NO_RESPONSE)


def _describe_now(response: Body, now: float) -> Body:
    """The response as it is now: one in the background is not done at once."""
    running = response["background"] and now < response["created_at"] + BACKGROUND_S
    if not running or response["status"] == "cancelled":
        return response
    return {**response, "status": "in_progress", "output": [], "usage": None, "completed_at": None}
