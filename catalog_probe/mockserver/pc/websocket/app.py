"""The ASGI app of PC's WebSockets, which checks path and key (1:5.3)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

from starlette.requests import HTTPConnection

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.sockets import Disconnected, Socket
from catalog_probe.mockserver.pc.access import authenticate
from catalog_probe.mockserver.pc.call import Call
from catalog_probe.mockserver.pc.envelopes import make_response
from catalog_probe.mockserver.pc.errors import UNKNOWN_URL
from catalog_probe.mockserver.pc.scenarios import SESSION_AGE, refuse_region
from catalog_probe.mockserver.pc.websocket.connection import ResponsesConnection

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.world import World

PATH = "/v1/responses"  # the documents show no path; clients connect to the one that creates responses over HTTP


class ResponsesSocketApp:
    """The ASGI app of PC's WebSockets."""

    def __init__(self, world: World) -> None:
        self._world = world

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket until it ends."""
        socket = Socket(scope, receive, send)
        # A call reads headers and context of its request; a handshake has both.
        request = cast("Request", HTTPConnection(scope))
        call = Call(request=request, header_prefix=self._world.settings["pc"]["header_prefix"])
        try:
            if scope["path"].removeprefix(scope.get("root_path", "")) != PATH:
                raise UNKNOWN_URL()
            authenticate(call)
            refuse_region(call.context)
        except Refusal as refusal:
            await socket.refuse(make_response(refusal))
            return
        scenario = socket.context.take(SESSION_AGE)
        socket.defer_scenario()
        await socket.accept()
        with suppress(Disconnected):
            await ResponsesConnection(
                socket, call, self._world, float(scenario.params["age"]) if scenario else 0.0
            ).serve()
