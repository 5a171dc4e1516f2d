"""PA's front door: finds the endpoint, authenticates, checks version and beta headers, and dresses every answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.routing import Route, Router
from catalog_probe.mockserver.core.world import context_of
from catalog_probe.mockserver.pa.auth.authentication import authenticate, identify
from catalog_probe.mockserver.pa.auth.keys import ANONYMOUS
from catalog_probe.mockserver.pa.call import Call
from catalog_probe.mockserver.pa.causes import raise_failure
from catalog_probe.mockserver.pa.errors import (
    AUTHENTICATION,
    METHOD_NOT_ALLOWED,
    PERMISSION,
    PaError,
    invalid,
    not_found,
)
from catalog_probe.mockserver.pa.limits import rates
from catalog_probe.mockserver.pa.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.world import World
    from catalog_probe.mockserver.pa.auth.keys import Key

Handler = Callable[[Call], Awaitable["Response"]]

REQUEST_ID = "request-id"
"""On each answer (1:5.1)."""


@dataclass(frozen=True)
class Endpoint:
    """What a route leads to: a handler, and who may reach it how."""

    handler: Handler
    group: str
    """The endpoint group, in the words of `keys.EVERYTHING`; permissions are given by group."""
    legacy_versions: bool = False
    """Whether the endpoint is old enough to speak the legacy versions (2:9)."""
    open: bool = False
    """Whether it answers anybody: no key, no version."""
    admit: Callable[[Key, Endpoint], None] | None = None
    """Who may use it, where that is not a matter of groups (compliance, admin)."""
    authenticate: Callable[[Request, Names], Key] | None = None
    """How it authenticates, where that is not the usual way."""


class Gateway:
    """The ASGI app of PA."""

    def __init__(self, world: World, routes: Iterable[Route[Endpoint]]) -> None:
        self._names = Names.of(world.settings["pa"])
        self._router = Router(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; every answer carries a request id, and every refusal its envelope (2:7.1)."""
        request, context = Request(scope, receive), context_of(scope)
        call = Call(request, context, self._names, identify(request, self._names) or ANONYMOUS, {})
        request_id = context.session.new_id("req_")
        try:
            response = await self._answer(call)
        except PaError as error:
            response = refusal(error, request_id)
        told = {**rates.headers_of(call), **call.headers, **identity(call, response.status_code)}
        response.headers.update({REQUEST_ID: request_id, **told})
        await response(scope, receive, send)

    async def _answer(self, call: Call) -> Response:
        found = self._router.find(call.request.scope)
        if not found.known_path:
            raise not_found()
        # who is a stranger here must not learn from a wrong method that there is such a path (2:7.2)
        self._authenticate(call, next(iter(found.of_path.values())).endpoint)
        if found.row is None:
            raise PaError(METHOD_NOT_ALLOWED, "Method Not Allowed")
        endpoint = found.row.endpoint
        call.params = found.params
        if not endpoint.open:
            (endpoint.admit or admit_by_group)(call.key, endpoint)
            check_version(call, endpoint)
            check_betas(call)
            raise_failure(call)
        return await endpoint.handler(call)

    def _authenticate(self, call: Call, endpoint: Endpoint) -> None:
        """Find whose key it is, as all endpoints of a path do."""
        if not endpoint.open:
            call.key = (endpoint.authenticate or authenticate)(call.request, self._names)


def identity(call: Call, status: int) -> dict[str, str]:
    """Whose key it is: on all answers but 401; the workspace on inference alone (1:5.1)."""
    if status == AUTHENTICATION.status or call.key is ANONYMOUS:
        return {}
    told = {call.names.header("organization-id"): call.key.organization.id}
    if call.key.workspace is not None:
        told[call.names.header("workspace-id")] = call.key.workspace
    return told


def admit_by_group(key: Key, endpoint: Endpoint) -> None:
    """Let a key reach the groups of endpoints that it is allowed, else 403."""
    if endpoint.group not in key.allowed:
        raise PaError(PERMISSION, "Your API key does not have permission to use the specified resource.")


def check_version(call: Call, endpoint: Endpoint) -> None:
    """Raise what is wrong with the version header: it is required, and must be one that the endpoint speaks (2:9)."""
    name = call.names.header("version")
    version = call.request.headers.get(name)
    if version is None:
        raise invalid(f"{name}: header is required")
    if version in call.names.legacy_versions:
        if not endpoint.legacy_versions:
            raise invalid(f"{name}: {version!r} is not allowed for this endpoint")
    elif version not in call.names.versions:
        raise invalid(f"{name}: {version!r} is not a valid version")


def check_betas(call: Call) -> None:
    """Raise which values of the beta header are none; it may be left out."""
    name = call.names.header("beta")
    unexpected = [beta for beta in call.betas if beta not in call.names.betas]
    if unexpected:
        raise invalid(f"Unexpected value(s) {', '.join(f'`{beta}`' for beta in unexpected)} for the `{name}` header.")


def refusal(error: PaError, request_id: str) -> Response:
    """The answer that an error becomes: its envelope with the request id (2:7.1), and whether to send it again."""
    response = JSONResponse({**error.envelope(), "request_id": request_id}, error.kind.status, error.headers)
    if error.kind.retry is not None:
        response.headers["x-should-retry"] = "true" if error.kind.retry else "false"
    return response
