"""PB's front door on HTTP: finds the endpoint, authenticates, and gives every refusal the envelope of its surface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request

from catalog_probe.mockserver.core import gateway
from catalog_probe.mockserver.core.routing import Endpoint, RouteMatch
from catalog_probe.mockserver.pb.access import authenticate, authenticate_bearer
from catalog_probe.mockserver.pb.bodies import JsonAnswer
from catalog_probe.mockserver.pb.call import Call
from catalog_probe.mockserver.pb.causes import raise_failure
from catalog_probe.mockserver.pb.endpoints.files import authenticate_upload
from catalog_probe.mockserver.pb.errors import (
    METHOD_NOT_ALLOWED,
    UNKNOWN_PATH,
    make_interactions,
    make_rpc,
    make_wrapped,
)
from catalog_probe.mockserver.pb.keys import Project
from catalog_probe.mockserver.pb.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response
    from starlette.types import Scope

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.world import Context, World

Authenticate = Callable[[Request, Names, "Context"], Project]

ALL_MODELS = "all models"
"""What a quota of requests is of where the path names no model."""


@dataclass(frozen=True)
class Surface:
    """How one part of the API authenticates and refuses (2:7.1)."""

    authenticate: Authenticate
    envelope: Callable[[Refusal], object]
    names_wrong_methods: bool = False
    """Whether a wrong method on a known path gets 405; the documents name it for no surface but interactions."""


RPC = Surface(authenticate, make_rpc)
INTERACTIONS = Surface(authenticate, make_interactions, names_wrong_methods=True)
COMPATIBILITY = Surface(authenticate_bearer, make_wrapped)
UPLOADS = Surface(authenticate_upload, make_rpc)

_BY_SEGMENT = {"interactions": INTERACTIONS, "openai": COMPATIBILITY, "v1": UPLOADS, "v1beta": UPLOADS}
"""The second segment of a path tells its surface; that of an upload is its version."""


class Gateway(gateway.Gateway[Call, Endpoint]):
    """The ASGI app of PB over HTTP."""

    def __init__(self, world: World, rows: Iterable[Endpoint]) -> None:
        super().__init__(rows)
        self._names = Names.of(world.settings["pb"])

    def open_call(self, request: Request) -> Call:
        """The call that a request is."""
        return Call(request=request, names=self._names)

    async def answer(self, call: Call, match: RouteMatch[Endpoint]) -> Response:
        """Let whoever authenticates as the surface wants it in."""
        surface = _surface_of(call.request.scope)
        if match.row is None:
            if match.is_known_path and surface.names_wrong_methods:
                raise METHOD_NOT_ALLOWED(method=call.request.method)
            raise UNKNOWN_PATH()
        call.params = match.params
        call.project = surface.authenticate(call.request, self._names, call.context)
        raise_failure(call.context, call.params.get("model", ALL_MODELS))
        response: Response = await match.row.handler(call)
        return response

    def refuse(self, call: Call, refusal: Refusal) -> Response:
        """The answer that a refusal is on the surface that was asked."""
        return JsonAnswer(_surface_of(call.request.scope).envelope(refusal), refusal.row.status)


def _surface_of(scope: Scope) -> Surface:
    segments = scope["path"].removeprefix(scope.get("root_path", "")).split("/")
    return _BY_SEGMENT.get(segments[2], RPC) if len(segments) > 2 else RPC
