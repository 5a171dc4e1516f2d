"""The way into the WebSocket mode: its path, and the key, refused over HTTP before the socket is open (1:5.3)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.sockets import Gone, Socket
from catalog_probe.mockserver.pc.auth.authentication import authenticate
from catalog_probe.mockserver.pc.call import Call
from catalog_probe.mockserver.pc.causes import refuse_region
from catalog_probe.mockserver.pc.errors import PcError
from catalog_probe.mockserver.pc.names import Names
from catalog_probe.mockserver.pc.websocket.causes import SESSION_AGE
from catalog_probe.mockserver.pc.websocket.connection import Connection

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.world import World

PATH = "/v1/responses"
"""The documents show no path; clients dial the one that creates responses over HTTP."""


class ResponsesDoor:
    """The ASGI app of PC's WebSockets."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._names = Names.of(world.settings["pc"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket until it ends."""
        socket = Socket(scope, receive, send)
        if scope["path"].removeprefix(scope.get("root_path", "")) != PATH:
            await socket.refuse(Response(status_code=404))  # 2:7.1: an unknown URL gets an empty body
            return
        try:
            call = self._call(HTTPConnection(scope), socket)
        except PcError as error:
            await socket.refuse(JSONResponse(error.envelope(), error.status, error.headers))
            return
        scenario = socket.context.take(SESSION_AGE)
        socket.put_off()
        await socket.accept()
        with suppress(Gone):
            await Connection(socket, call, self._world, float(scenario.params["age"]) if scenario else 0.0).serve()

    def _call(self, connection: HTTPConnection, socket: Socket) -> Call:
        """The handshake as a call, for all that responses over HTTP ask of one: who makes it, and when."""
        key, project = authenticate(connection, socket.context, self._names)
        refuse_region(socket.context)
        return Call(cast("Request", connection), socket.context, self._names, key, project, {})
