"""PC's front door over HTTP: the models, which tell whether a key works (1:4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from mockserver.pc.websocket.admission import MODELS, admit
from mockserver.pc.websocket.failures import Failure

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from mockserver.world import World


def build(world: World) -> ASGIApp:
    """The ASGI app of PC over HTTP."""
    return answer


async def answer(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request; an unknown URL gets an empty body (2:7.1)."""
    request = Request(scope, receive)
    response: Response
    if (request.method, scope["path"].removeprefix(scope.get("root_path", ""))) != ("GET", "/v1/models"):
        response = Response(status_code=404)
    else:
        try:
            admit(request)
            models = [{"id": name, "object": "model", "created": 0, "owned_by": "mock"} for name in sorted(MODELS)]
            response = JSONResponse({"object": "list", "data": models})
        except Failure as failure:
            response = JSONResponse({"error": failure.error}, failure.status)
    await response(scope, receive, send)
