"""The way into the live API: its path, its credential, and what becomes of a connection that may not come in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from catalog_probe.mockserver.core.faults import RATE_LIMITED
from catalog_probe.mockserver.core.sockets import Gone, Socket
from catalog_probe.mockserver.pb.call import JsonAnswer
from catalog_probe.mockserver.pb.causes import FAILURES
from catalog_probe.mockserver.pb.errors import NOT_FOUND, PbError
from catalog_probe.mockserver.pb.live.admission import admit
from catalog_probe.mockserver.pb.live.causes import CONNECTION_AGE, CONNECTION_RESET, SESSION_AGE
from catalog_probe.mockserver.pb.live.connection import Connection
from catalog_probe.mockserver.pb.names import Names

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.world import World

PATH = re.compile(r"/ws/(?:[a-z0-9]+\.)*(v1alpha|v1beta|v1)\.GenerativeService\.BidiGenerateContent(?:Constrained)?")
"""The documents show no path; clients dial the service's package, version and method."""

MODEL_VERSIONS = {"v1alpha": "v1beta", "v1beta": "v1beta", "v1": "v1"}
"""Whose models a version of the live API has."""


class LiveDoor:
    """The ASGI app of PB's WebSockets."""

    def __init__(self, world: World) -> None:
        self._names = Names.of(world.settings["pb"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection until it ends."""
        socket = Socket(scope, receive, send)
        path = PATH.fullmatch(scope["path"].removeprefix(scope.get("root_path", "")))
        if path is None:
            error = PbError(NOT_FOUND, "The requested URL was not found on this server.")
            await socket.refuse(JsonAnswer(error.rpc(), error.kind.http))
            return
        scenario = socket.context.take(SESSION_AGE, CONNECTION_AGE, CONNECTION_RESET)
        socket.put_off((*FAILURES, RATE_LIMITED.name))
        await socket.accept()
        try:
            setup = await socket.hear()  # clients listen for a refusal only once they have sent it
            project, token = admit(HTTPConnection(scope), self._names, socket.context)
            await Connection(socket, MODEL_VERSIONS[path[1]], project, token, scenario).serve(setup)
        except PbError as error:
            await socket.close(close_code(error), error.message)
        except Gone:
            pass


def close_code(error: PbError) -> int:
    """The close code of a refusal: the documents only say 1000 to 1011 (1:4.2).

    1007 for a message that is wrong in itself, 1008 for one that may not be, 1011 for what is the server's own.
    """
    if error.kind.http in (400, 416, 501):
        return 1007
    return 1011 if error.kind.http >= 429 else 1008
