"""POST /v1/responses and what becomes of a response: fetched while it is stored, cancelled, deleted (1:4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse, StreamingResponse

from catalog_probe.mockserver.pc.errors import INVALID_VALUE, NO_RESPONSE
from catalog_probe.mockserver.pc.generation.answering import BACKGROUND_S, Body, Kept, answer, keep
from catalog_probe.mockserver.pc.generation.response_stream import sse
from catalog_probe.mockserver.pc.limits import rates

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pc.call import Call


async def create(call: Call) -> Response:
    """Generate a response, whole or streamed."""
    body = await rates.read_counted(call)
    streamed = bool(body.get("stream"))
    made = answer(call, body, {}, streamed=streamed)
    keep(call, body, made.response)
    if not streamed:
        return JSONResponse(_at(made.response, call.now))
    headers = {"cache-control": "no-cache"}
    return StreamingResponse(sse(made.response, made.failure), media_type="text/event-stream", headers=headers)


async def retrieve(call: Call) -> Response:
    """A stored response; unknown, deleted, unstored and another project's are all 404."""
    return JSONResponse(_at(_stored(call), call.now))


async def delete(call: Call) -> Response:
    """DELETE /v1/responses/{id}; the path is not in the documents, deleted responses are."""
    found = _stored(call)
    del call.session.state(Kept).responses[found["id"]]
    return JSONResponse({"id": found["id"], "object": "response", "deleted": True})


async def cancel(call: Call) -> Response:
    """POST /v1/responses/{id}/cancel, of one in the background; neither path nor rule is in the documents."""
    found = _stored(call)
    if not found["background"]:
        raise INVALID_VALUE("Cannot cancel a synchronous response.", "response_id")
    if call.now < found["created_at"] + BACKGROUND_S:
        found |= {"status": "cancelled", "output": [], "usage": None, "completed_at": None}
    return JSONResponse(found)


async def list_input_items(call: Call) -> Response:
    """GET /v1/responses/{id}/input_items; the path is not in the documents."""
    items = call.session.state(Kept).input_items(_stored(call)["id"])
    ends = {"first_id": items[0]["id"] if items else None, "last_id": items[-1]["id"] if items else None}
    return JSONResponse({"object": "list", "data": items, **ends, "has_more": False})


def _stored(call: Call) -> Body:
    response_id = call.params["response_id"]
    found = call.session.state(Kept).find(response_id, call.project.id)
    if found is None:
        raise NO_RESPONSE(f"Response with id '{response_id}' not found.")
    return found


def _at(response: Body, now: float) -> Body:
    """The response as it is now: one in the background is not done at once."""
    running = response["background"] and now < response["created_at"] + BACKGROUND_S
    if not running or response["status"] == "cancelled":
        return response
    return {**response, "status": "in_progress", "output": [], "usage": None, "completed_at": None}
