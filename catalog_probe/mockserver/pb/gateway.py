"""PB's HTTP gateway, with an authentication and envelope for each surface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request

from catalog_probe.mockserver.core import gateway
from catalog_probe.mockserver.core.gateway import Endpoint, RouteMatch
from catalog_probe.mockserver.pb.access import authenticate, authenticate_bearer
from catalog_probe.mockserver.pb.call import AsciiJsonResponse, Call, Names
from catalog_probe.mockserver.pb.errors import (
    METHOD_NOT_ALLOWED,
    UNKNOWN_PATH,
    make_interactions,
    make_rpc,
    make_wrapped,
)
from catalog_probe.mockserver.pb.files import authenticate_upload
from catalog_probe.mockserver.pb.keys import Project
from catalog_probe.mockserver.pb.limits import STANDARD
from catalog_probe.mockserver.pb.scenarios import raise_failure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response
    from starlette.types import Scope

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.world import Context, World

Authenticate = Callable[[Request, Names, "Context"], Project]

ALL_MODELS = "all models"  # the model that a quota names if the path names none


@dataclass(frozen=True)
class Surface:
    """How one part of the API authenticates and refuses (2:7.1)."""

    authenticate: Authenticate
    envelope: Callable[[Refusal], object]
    has_405: bool = False
    """Whether a wrong method on a known path gets 405, which the documents name for interactions alone; else 404."""


RPC = Surface(authenticate, make_rpc)
INTERACTIONS = Surface(authenticate, make_interactions, has_405=True)
COMPATIBILITY = Surface(authenticate_bearer, make_wrapped)
UPLOADS = Surface(authenticate_upload, make_rpc)

_SURFACES = {"interactions": INTERACTIONS, "openai": COMPATIBILITY, "v1": UPLOADS, "v1beta": UPLOADS}
"""Surfaces by the second segment of the path. An upload has its version there: `/upload/v1/files`."""


class Gateway(gateway.Gateway[Call, Endpoint]):
    """The ASGI app of PB over HTTP."""

    def __init__(self, world: World, rows: Iterable[Endpoint]) -> None:
        super().__init__(rows)
        self._names = Names.of(world.settings["pb"])

    def open_call(self, request: Request) -> Call:
        return Call(request=request, names=self._names)

    def admit(self, call: Call, match: RouteMatch[Endpoint]) -> Endpoint:
        surface = _find_surface(call.request.scope)
        if match.row is None:
            if match.is_known_path and surface.has_405:
                raise METHOD_NOT_ALLOWED(method=call.request.method)
            raise UNKNOWN_PATH()
        call.project = surface.authenticate(call.request, self._names, call.context)
        raise_failure(call.context, call.params.get("model", ALL_MODELS))
        return match.row

    def refuse(self, call: Call, refusal: Refusal) -> Response:
        if refusal.row.status == 429:  # it has the header too (2:8.3), even if nobody has read the body yet
            call.headers.setdefault(call.names.header("service-tier"), STANDARD)
        return AsciiJsonResponse(_find_surface(call.request.scope).envelope(refusal), refusal.row.status)


def _find_surface(scope: Scope) -> Surface:
    segments = scope["path"].removeprefix(scope.get("root_path", "")).split("/")
    return _SURFACES.get(segments[2], RPC) if len(segments) > 2 else RPC
