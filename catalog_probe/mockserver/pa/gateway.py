"""PA's gateway: authentication, version and beta headers, headers of answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core import gateway
from catalog_probe.mockserver.core.world import context_of
from catalog_probe.mockserver.pa.call import Call
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
from catalog_probe.mockserver.pa.keys import ANONYMOUS, Names, Role, authenticate, identify
from catalog_probe.mockserver.pa.limits import admit_request, make_headers
from catalog_probe.mockserver.pa.scenarios import raise_failure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.gateway import RouteMatch
    from catalog_probe.mockserver.core.world import World
    from catalog_probe.mockserver.pa.keys import Key

REQUEST_ID = "request-id"  # on each answer (1:5.1)


@dataclass(frozen=True)
class Endpoint(gateway.Endpoint):
    """A row of the endpoint table, with what it needs of its caller.

    Args:
        group: the group in which keys are allowed and requests are counted (2:8.2); "" for compliance and admin.
        legacy_versions: whether the endpoint accepts the legacy versions (2:9).
        open: whether it needs neither key nor version.
        scopes: the compliance scopes of which any one suffices; the first is named by its 403 (1:5.1).
        admit: refuses a key, if the group does not decide (compliance, admin).
    """

    group: str = ""
    legacy_versions: bool = False
    open: bool = False
    scopes: tuple[str, ...] = ()
    authenticate: Callable[[Request, Names], Key] = authenticate
    admit: Callable[[Key, Endpoint], None] | None = None


class Gateway(gateway.Gateway[Call, Endpoint]):
    """The ASGI app of PA."""

    def __init__(self, world: World, rows: Iterable[Endpoint]) -> None:
        super().__init__(rows)
        self._names = Names.from_settings(world.settings["pa"])

    def open_call(self, request: Request) -> Call:
        """Make the call of a request; an open endpoint knows a good key too."""
        request_id = context_of(request.scope).session.new_id("req_")
        key = identify(request, self._names) or ANONYMOUS
        return Call(request=request, names=self._names, request_id=request_id, key=key)

    def admit(self, call: Call, match: RouteMatch[Endpoint]) -> Endpoint:
        """Check path, key, method, rights, version and limits, in this order."""
        if not match.is_known_path:
            raise UNKNOWN_PATH()
        # authenticate before 405: a caller without a compliance key must not learn that the path exists (2:7.2)
        any_row = next(iter(match.rows_by_method.values()))
        if not any_row.open:
            call.key = any_row.authenticate(call.request, call.names)
        row = match.row
        if row is None:
            raise METHOD_NOT_ALLOWED()
        if not row.open:
            (row.admit or admit_by_group)(call.key, row)
            check_version(call, row)
            check_betas(call)
            raise_failure(call)
            admit_request(call, row.group)
        return row

    def refuse(self, call: Call, refusal: Refusal) -> Response:
        """Make the response of a refusal."""
        return make_response(refusal, call.request_id)

    def add_headers(self, call: Call, response: Response) -> None:
        """Add the request id, the limits and the key's organization and workspace."""
        headers = {**make_headers(call), **call.headers, **identity(call, response.status_code)}
        response.headers.update({REQUEST_ID: call.request_id, **headers})


def identity(call: Call, status: int) -> dict[str, str]:
    """Return the headers of the key's organization and workspace (1:5.1).

    A 401 has none. Only inference has a workspace.
    """
    if status == AUTHENTICATION.status or call.key is ANONYMOUS:
        return {}
    headers = {call.names.header("organization-id"): call.key.organization.id}
    if call.key.workspace is not None:
        headers[call.names.header("workspace-id")] = call.key.workspace
    return headers


def admit_by_group(key: Key, endpoint: Endpoint) -> None:
    """Refuse a key whose groups the endpoint is not in."""
    if endpoint.group not in key.allowed:
        raise NOT_PERMITTED()


def check_version(call: Call, endpoint: Endpoint) -> None:
    """Refuse a version header that is missing or not accepted here (2:9)."""
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
    """Refuse unknown values of the beta header, which is optional (2:9)."""
    unexpected = [beta for beta in call.betas if beta not in call.names.betas]
    if unexpected:
        values = ", ".join(f"`{beta}`" for beta in unexpected)
        raise UNEXPECTED_BETA(values=values, header=call.names.header("beta"))


def admit_admins(key: Key, endpoint: Endpoint) -> None:
    """Refuse all keys but admin keys (1:4.1 "admin credential")."""
    if key.role is not Role.ADMIN:
        raise NOT_PERMITTED()


async def get_me(call: Call) -> Response:
    """Answer with the organization of the admin key."""
    return JSONResponse({"id": call.key.organization.id, "type": "organization", "name": "Mock organization"})
