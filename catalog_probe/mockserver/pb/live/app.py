"""The ASGI app of the live API: path, credential (1:5.2), close codes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.faults import RATE_LIMITED
from catalog_probe.mockserver.core.sockets import Disconnected, Socket
from catalog_probe.mockserver.pb import ephemeral
from catalog_probe.mockserver.pb.access import authenticate
from catalog_probe.mockserver.pb.bodies import AsciiJsonResponse
from catalog_probe.mockserver.pb.call import Names
from catalog_probe.mockserver.pb.errors import BAD_EPHEMERAL_TOKEN, UNKNOWN_PATH, make_rpc
from catalog_probe.mockserver.pb.live.connection import LiveConnection
from catalog_probe.mockserver.pb.scenarios import CALL_FAILURES, CONNECTION_AGE, CONNECTION_RESET, SESSION_AGE

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.world import Context, World
    from catalog_probe.mockserver.pb.keys import Project

PATH = re.compile(r"/ws/(?:[a-z0-9]+\.)*(v1alpha|v1beta|v1)\.GenerativeService\.BidiGenerateContent(?:Constrained)?")
"""The documents show no path; clients connect to the service's package, version and method."""

MODEL_VERSIONS = {"v1alpha": "v1beta", "v1beta": "v1beta", "v1": "v1"}
"""The API version whose models a version of the live API has."""


class LiveSocketApp:
    """The ASGI app of PB's WebSockets."""

    def __init__(self, world: World) -> None:
        self._names = Names.of(world.settings["pb"])

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection until it ends."""
        socket = Socket(scope, receive, send)
        path = PATH.fullmatch(scope["path"].removeprefix(scope.get("root_path", "")))
        if path is None:
            await socket.refuse(AsciiJsonResponse(make_rpc(UNKNOWN_PATH()), UNKNOWN_PATH.status))
            return
        scenario = socket.context.take(SESSION_AGE, CONNECTION_AGE, CONNECTION_RESET)
        socket.defer_scenario((*(failure.name for failure in CALL_FAILURES), RATE_LIMITED.name))
        await socket.accept()
        try:
            setup = await socket.receive()  # clients read a refusal only after sending it
            project, token = authenticate_live(HTTPConnection(scope), self._names, socket.context)
            await LiveConnection(socket, MODEL_VERSIONS[path[1]], project, token, scenario).serve(setup)
        except Refusal as refusal:
            await socket.close(find_close_code(refusal), refusal.message)
        except Disconnected:
            pass


def authenticate_live(connection: HTTPConnection, names: Names, context: Context) -> tuple[Project, str | None]:
    """Return the project of a connection, and its ephemeral token, if any."""
    name = _find_ephemeral_token(connection, names)
    if name is None:
        return authenticate(connection, names, context), None
    token = ephemeral.find(context.session, name)
    state = ephemeral.find_state(context.session, name, context.now)
    if token is None or state is not ephemeral.TokenState.GOOD:
        raise BAD_EPHEMERAL_TOKEN(fault=state)
    return token.project, name


def _find_ephemeral_token(connection: HTTPConnection, names: Names) -> str | None:
    """Return the ephemeral token from any of the places where clients put one."""
    scheme, _, credential = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "token":
        return credential.strip()
    candidates = (
        credential.strip(),
        connection.query_params.get("access_token", ""),
        connection.headers.get(names.key_header, ""),
        connection.query_params.get("key", ""),
    )
    return next((text for text in candidates if text.startswith(ephemeral.NAME_PREFIX)), None)


def find_close_code(refusal: Refusal) -> int:
    """Return the close code of a refusal; the documents only say 1000 to 1011 (1:4.2).

    As RFC 6455 defines them: 1007 for an invalid message, 1008 for a violated policy, 1011 for a server error.
    """
    if refusal.row.status in (400, 416, 501):
        return 1007
    return 1011 if refusal.row.status >= 429 else 1008
