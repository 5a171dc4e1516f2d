"""PC's front door: the URL, the method, the key, the beta header, the scope, then the endpoint (1:5.3, 2:7.5)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.routing import Found, Route, Router
from catalog_probe.mockserver.core.world import context_of
from catalog_probe.mockserver.pc.auth.authentication import authenticate
from catalog_probe.mockserver.pc.call import Call
from catalog_probe.mockserver.pc.causes import raise_failure
from catalog_probe.mockserver.pc.errors import INSUFFICIENT_PERMISSIONS, INVALID_BETA, WRONG_METHOD, PcError
from catalog_probe.mockserver.pc.limits import rates
from catalog_probe.mockserver.pc.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.core.world import World

Handler = Callable[[Call], Awaitable[Response]]

REQUEST_ID = "x-request-id"

BETAS = frozenset({"agents=v1", "assistants=v2", "chatkit_beta=v1", "responses_multi_agent=v1"})
"""The values of the beta header: two that the documents name (1:5.3), two that clients send; another one is invalid
wherever it is sent."""


@dataclass(frozen=True)
class Endpoint:
    """What a route leads to: a handler, the beta it belongs to, and the scope it needs."""

    handler: Handler
    beta: str | None = None
    scope: str | None = None
    admin: bool = False


def unknown_url() -> Response:
    """What an unknown URL gets: an empty body and no request id, the retired routes too (2:7.1)."""
    return Response(status_code=404)


def beta_trouble(name: str, given: set[str], wanted: str | None) -> str | None:
    """What is wrong with the values of the beta header, for an endpoint that needs one of them or none."""
    if not given <= BETAS:
        return f"The '{name}' header has a value other than {', '.join(sorted(BETAS))}."
    if wanted is not None and wanted not in given:
        return f"You must send the '{name}: {wanted}' header to use this endpoint."
    return None


class Gateway:
    """The ASGI app of PC."""

    def __init__(self, world: World, routes: Iterable[Route[Endpoint]]) -> None:
        self._names = Names.of(world.settings["pc"])
        self._router = Router(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        found = self._router.find(scope)
        if not found.known_path:
            await unknown_url()(scope, receive, send)
            return
        request, context = Request(scope, receive), context_of(scope)
        meters: dict[str, TokenBucket] = {}
        try:
            response = await self._answer(request, found, meters)
        except PcError as error:
            response = JSONResponse(error.envelope(), error.status, error.headers)
        response.headers[REQUEST_ID] = context.session.new_id("req_", 32)
        response.headers.update(rates.headers_of(meters, context.now))
        await response(scope, receive, send)

    async def _answer(
        self, request: Request, found: Found[Route[Endpoint]], meters: dict[str, TokenBucket]
    ) -> Response:
        if found.row is None:
            hint = " Updates use POST." if request.method in ("PATCH", "PUT") else ""
            raise WRONG_METHOD(f"Not allowed to {request.method} on this path.{hint}")
        endpoint = found.row.endpoint
        context = context_of(request.scope)
        key, project = authenticate(request, context, self._names)
        call = Call(request, context, self._names, key, project, found.params, meters)
        raise_failure(context)
        self.admit(call, endpoint)
        return await endpoint.handler(call)

    def admit(self, call: Call, endpoint: Endpoint) -> None:
        name = self._names.header("Beta")
        given = {value.strip() for value in call.request.headers.get(name, "").split(",")} - {""}
        trouble = beta_trouble(name, given, endpoint.beta)
        if trouble is not None:
            raise INVALID_BETA(trouble)
        if endpoint.scope is not None and endpoint.scope not in call.key.scopes:
            message = f"You have insufficient permissions for this operation. Missing scopes: {endpoint.scope}."
            raise INSUFFICIENT_PERMISSIONS(message)
        if endpoint.admin and not call.key.admin:
            raise INSUFFICIENT_PERMISSIONS("This operation needs an admin key.")
