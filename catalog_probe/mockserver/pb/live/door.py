"""The way into the live API: its path, its credential (1:5.2), and the close of whoever may not come in."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.faults import RATE_LIMITED
from catalog_probe.mockserver.core.sockets import Disconnected, Socket
from catalog_probe.mockserver.pb import ephemeral
from catalog_probe.mockserver.pb.access import authenticate
from catalog_probe.mockserver.pb.bodies import JsonAnswer
from catalog_probe.mockserver.pb.causes import CONNECTION_AGE, CONNECTION_RESET, OF_ANY_CALL, SESSION_AGE
from catalog_probe.mockserver.pb.errors import BAD_EPHEMERAL_TOKEN, UNKNOWN_PATH, make_rpc
from catalog_probe.mockserver.pb.live.connection import Connection
from catalog_probe.mockserver.pb.names import Names

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.world import Context, World
    from catalog_probe.mockserver.pb.keys import Project

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
            await socket.refuse(JsonAnswer(make_rpc(UNKNOWN_PATH()), UNKNOWN_PATH.status))
            return
        scenario = socket.context.take(SESSION_AGE, CONNECTION_AGE, CONNECTION_RESET)
        socket.defer_scenario((*(cause.name for cause in OF_ANY_CALL), RATE_LIMITED.name))
        await socket.accept()
        try:
            setup = await socket.receive()  # clients listen for a refusal only once they have sent it
            project, token = admit(HTTPConnection(scope), self._names, socket.context)
            await Connection(socket, MODEL_VERSIONS[path[1]], project, token, scenario).serve(setup)
        except Refusal as refusal:
            await socket.close(find_close_code(refusal), refusal.message)
        except Disconnected:
            pass


def admit(connection: HTTPConnection, names: Names, context: Context) -> tuple[Project, str | None]:
    """The project that connects, and the ephemeral token it does so with, if any."""
    name = _find_ephemeral_token(connection, names)
    if name is None:
        return authenticate(connection, names, context), None
    token = ephemeral.find(context.session, name)
    state = ephemeral.find_state(context.session, name, context.now)
    if token is None or state is not ephemeral.TokenState.GOOD:
        raise BAD_EPHEMERAL_TOKEN(fault=state)
    return token.project, name


def _find_ephemeral_token(connection: HTTPConnection, names: Names) -> str | None:
    """The ephemeral token among the places where clients put one."""
    scheme, _, credential = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "token":
        return credential.strip()
    places = (
        credential.strip(),
        connection.query_params.get("access_token", ""),
        connection.headers.get(names.key_header, ""),
        connection.query_params.get("key", ""),
    )
    return next((text for text in places if text.startswith(ephemeral.NAME_PREFIX)), None)


def find_close_code(refusal: Refusal) -> int:
    """The close code of a refusal: the documents only say 1000 to 1011 (1:4.2).

    1007 for a message that is wrong in itself, 1008 for one that may not be, 1011 for what is the server's own.
    """
    if refusal.row.status in (400, 416, 501):
        return 1007
    return 1011 if refusal.row.status >= 429 else 1008
