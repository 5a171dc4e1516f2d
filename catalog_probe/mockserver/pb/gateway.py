"""PB's front door: finds the endpoint, authenticates, and gives every refusal the envelope of its surface."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request

from catalog_probe.mockserver.core.routing import Route, Router
from catalog_probe.mockserver.core.world import context_of
from catalog_probe.mockserver.pb.auth.authentication import authenticate, authenticate_bearer
from catalog_probe.mockserver.pb.auth.keys import Project
from catalog_probe.mockserver.pb.call import Call, JsonAnswer
from catalog_probe.mockserver.pb.causes import raise_failure
from catalog_probe.mockserver.pb.endpoints.files import uploader
from catalog_probe.mockserver.pb.errors import METHOD_NOT_ALLOWED, NOT_FOUND, PbError
from catalog_probe.mockserver.pb.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.world import Context, World

Handler = Callable[[Call], Awaitable["Response"]]
Authenticate = Callable[[Request, Names, "Context"], Project]


@dataclass(frozen=True)
class Surface:
    """How one part of the API authenticates and refuses (2:7.1)."""

    authenticate: Authenticate
    envelope: Callable[[PbError], object]
    tells_wrong_methods: bool = False
    """Whether a wrong method on a known path gets 405; the documents name it for no surface but interactions."""


RPC = Surface(authenticate, PbError.rpc)
INTERACTIONS = Surface(authenticate, PbError.interactions, tells_wrong_methods=True)
COMPATIBILITY = Surface(authenticate_bearer, PbError.wrapped)
UPLOADS = Surface(uploader, PbError.rpc)

_BY_SEGMENT = {"interactions": INTERACTIONS, "openai": COMPATIBILITY}
"""The second segment of a path tells its surface."""

NOBODY = Project("")


class Gateway:
    """The ASGI app of PB over HTTP."""

    def __init__(self, world: World, routes: Iterable[Route[Handler]]) -> None:
        self._names = Names.of(world.settings["pb"])
        self._router = Router(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        call = Call(Request(scope, receive), context_of(scope), self._names, NOBODY, {})
        surface = _surface(scope)
        try:
            response = await self._answer(call, surface)
        except PbError as error:
            response = JsonAnswer(surface.envelope(error), error.kind.http)
        response.headers.update(call.headers)
        await response(scope, receive, send)

    async def _answer(self, call: Call, surface: Surface) -> Response:
        found = self._router.find(call.request.scope)
        if found.row is None:
            if found.known_path and surface.tells_wrong_methods:
                raise PbError(METHOD_NOT_ALLOWED, f"{call.request.method} is not allowed here.")
            raise PbError(NOT_FOUND, "The requested URL was not found on this server.")
        call.params = found.params
        call.project = surface.authenticate(call.request, self._names, call.context)
        raise_failure(call)
        return await found.row.endpoint(call)


def _surface(scope: Scope) -> Surface:
    segments = scope["path"].removeprefix(scope.get("root_path", "")).split("/")
    if segments[1] == "upload":
        return UPLOADS
    return _BY_SEGMENT.get(segments[2], RPC) if len(segments) > 2 else RPC
