"""PA's front door: finds the endpoint, authenticates, checks version and beta headers, and dresses every answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import gateway, routing
from catalog_probe.mockserver.core.world import context_of
from catalog_probe.mockserver.pa.auth.authentication import authenticate, identify
from catalog_probe.mockserver.pa.auth.keys import ANONYMOUS
from catalog_probe.mockserver.pa.call import Call
from catalog_probe.mockserver.pa.causes import raise_failure
from catalog_probe.mockserver.pa.errors import (
    AUTHENTICATION,
    INVALID_VERSION,
    METHOD_NOT_ALLOWED,
    NO_VERSION,
    NOT_PERMITTED,
    UNEXPECTED_BETA,
    UNKNOWN_PATH,
    VERSION_NOT_ALLOWED,
    make_response,
)
from catalog_probe.mockserver.pa.limits.meters import make_headers
from catalog_probe.mockserver.pa.limits.rates import admit_request
from catalog_probe.mockserver.pa.names import Names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.routing import RouteMatch
    from catalog_probe.mockserver.core.world import World
    from catalog_probe.mockserver.pa.auth.keys import Key

REQUEST_ID = "request-id"
"""On each answer (1:5.1)."""


@dataclass(frozen=True)
class Endpoint(routing.Endpoint):
    """A row of the endpoint table, with who may reach it how."""

    group: str = ""
    """By which keys are permitted and requests are counted (2:8.2); "" where other rules admit and count."""
    legacy_versions: bool = False
    """Whether the endpoint is old enough to speak the legacy versions (2:9)."""
    open: bool = False
    """Whether it answers anybody: no key, no version."""
    scopes: tuple[str, ...] = ()
    """The scopes of the compliance API of which any one suffices; the first is what its 403 names (1:5.1)."""
    authenticate: Callable[[Request, Names], Key] = authenticate
    admit: Callable[[Key, Endpoint], None] | None = None
    """Who may use it, where that is not a matter of groups (compliance, admin)."""


class Gateway(gateway.Gateway[Call, Endpoint]):
    """The ASGI app of PA."""

    def __init__(self, world: World, rows: Iterable[Endpoint]) -> None:
        super().__init__(rows)
        self._names = Names.of(world.settings["pa"])

    def open_call(self, request: Request) -> Call:
        """The call that a request is; a key that is good is known even where none is asked for."""
        request_id = context_of(request.scope).session.new_id("req_")
        key = identify(request, self._names) or ANONYMOUS
        return Call(request=request, names=self._names, request_id=request_id, key=key)

    async def answer(self, call: Call, match: RouteMatch[Endpoint]) -> Response:
        """Admit the call and let its handler answer."""
        if not match.is_known_path:
            raise UNKNOWN_PATH()
        # who is a stranger here must not learn from a wrong method that there is such a path (2:7.2)
        usual = next(iter(match.rows_by_method.values()))
        if not usual.open:
            call.key = usual.authenticate(call.request, call.names)
        row = match.row
        if row is None:
            raise METHOD_NOT_ALLOWED()
        call.params = match.params
        if not row.open:
            (row.admit or admit_by_group)(call.key, row)
            check_version(call, row)
            check_betas(call)
            raise_failure(call)
            admit_request(call, row.group)
        response: Response = await row.handler(call)
        return response

    def refuse(self, call: Call, refusal: Refusal) -> Response:
        """The answer that a refusal is."""
        return make_response(refusal, call.request_id)

    def add_headers(self, call: Call, response: Response) -> None:
        """Tell of the request, the limits, and whose key it is."""
        headers = {**make_headers(call), **call.headers, **identity(call, response.status_code)}
        response.headers.update({REQUEST_ID: call.request_id, **headers})


def identity(call: Call, status: int) -> dict[str, str]:
    """Whose key it is: on all answers but 401; the workspace on inference alone (1:5.1)."""
    if status == AUTHENTICATION.status or call.key is ANONYMOUS:
        return {}
    headers = {call.names.header("organization-id"): call.key.organization.id}
    if call.key.workspace is not None:
        headers[call.names.header("workspace-id")] = call.key.workspace
    return headers


def admit_by_group(key: Key, endpoint: Endpoint) -> None:
    """Let a key reach the groups of endpoints that it is allowed, else 403."""
    if endpoint.group not in key.allowed:
        raise NOT_PERMITTED()


def check_version(call: Call, endpoint: Endpoint) -> None:
    """Raise what is wrong with the version header: it is required, and must be one that the endpoint speaks (2:9)."""
    name = call.names.header("version")
    version = call.request.headers.get(name)
    if version is None:
        raise NO_VERSION(header=name)
    if version in call.names.legacy_versions:
        if not endpoint.legacy_versions:
            raise VERSION_NOT_ALLOWED(header=name, version=version)
    elif version not in call.names.versions:
        raise INVALID_VERSION(header=name, version=version)


def check_betas(call: Call) -> None:
    """Raise which values of the beta header are none; it may be left out (2:9)."""
    unexpected = [beta for beta in call.betas if beta not in call.names.betas]
    if unexpected:
        values = ", ".join(f"`{beta}`" for beta in unexpected)
        raise UNEXPECTED_BETA(values=values, header=call.names.header("beta"))
