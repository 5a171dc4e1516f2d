"""The way into the WebSocket mode: its path, and the key, refused over HTTP before the socket is open (1:5.3)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response

from mockserver.pc.websocket.admission import admit
from mockserver.pc.websocket.causes import SESSION_AGE
from mockserver.pc.websocket.connection import Connection
from mockserver.pc.websocket.failures import Failure
from mockserver.sockets import Gone, Socket

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from mockserver.world import World

PATH = "/v1/responses"
"""The documents show no path; clients dial the one that creates responses over HTTP."""


class ResponsesDoor:
    """The ASGI app of PC's WebSockets."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket until it ends."""
        socket = Socket(scope, receive, send)
        if scope["path"].removeprefix(scope.get("root_path", "")) != PATH:
            await socket.refuse(Response(status_code=404))  # 2:7.1: an unknown URL gets an empty body
            return
        try:
            admit(HTTPConnection(scope))
        except Failure as failure:
            await socket.refuse(JSONResponse({"error": failure.error}, failure.status))
            return
        scenario = socket.context.take(SESSION_AGE)
        await socket.accept()
        with suppress(Gone):
            await Connection(socket, float(scenario.params["age"]) if scenario else 0.0).serve()
