"""The shapes of PC's errors over HTTP, in streams and on WebSockets (1:6, 2:7.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.pc.errors import EMPTY

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal


def envelope(refusal: Refusal) -> dict[str, Any]:
    """Return `{error: {message, type, param, code, …}}` (2:7.1)."""
    row = refusal.row
    error = {"message": refusal.message, "type": row.type, "param": refusal.param, "code": row.code}
    return {"error": {**error, **refusal.extra}}


def error_event(refusal: Refusal) -> dict[str, Any]:
    """Return the `error` event of a stream: flat, without the error's type (1:6)."""
    return {"type": "error", "code": refusal.row.code, "message": refusal.message, "param": refusal.param}


def error_message(refusal: Refusal) -> dict[str, Any]:
    """Return the error message of a WebSocket, as official clients read it."""
    return {"type": "error", "status": refusal.row.status, **envelope(refusal)}


def make_response(refusal: Refusal) -> Response:
    """Return the response of a refusal."""
    if refusal.row.shape == EMPTY:
        return Response(status_code=refusal.row.status)
    return JSONResponse(envelope(refusal), refusal.row.status, refusal.headers)
