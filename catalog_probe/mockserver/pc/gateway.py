"""PC's HTTP gateway: URL, method, authentication and rights (1:5.3, 2:7.5)."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import gateway
from catalog_probe.mockserver.core.gateway import bearer_token, find_key
from catalog_probe.mockserver.pc import errors
from catalog_probe.mockserver.pc.call import Call, Endpoint
from catalog_probe.mockserver.pc.errors import UNKNOWN_URL, WRONG_METHOD, make_response
from catalog_probe.mockserver.pc.keys import DEFAULT_KEY, KEYS, AccessToken, Key
from catalog_probe.mockserver.pc.limits import make_headers
from catalog_probe.mockserver.pc.scenarios import raise_failure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.gateway import RouteMatch
    from catalog_probe.mockserver.core.world import World
    from catalog_probe.mockserver.pc.keys import Project


BETAS = frozenset({"agents=v1", "assistants=v2", "chatkit_beta=v1", "responses_multi_agent=v1"})
"""Values of the beta header: two that the documents name (1:5.3), two that clients send."""


def authenticate(call: Call) -> None:
    """Set the key and the project of a call, or refuse it with 401."""
    call.key = identify_key(call)
    if call.key.refusal is not None:
        raise call.key.refusal()
    check_organization(call)
    call.project = find_project(call)
    for owner, allowlist in (
        ("organization", call.key.organization.allowlist),
        ("project", call.project.allowlist),
    ):
        if not is_address_allowed(call, allowlist):
            raise errors.IP_NOT_AUTHORIZED(owner=owner)


def identify_key(call: Call) -> Key:
    """Return the key of a call; an access token is as good as a key."""
    secret = bearer_token(call.request.headers)
    if not secret:
        raise errors.NO_KEY()
    key = find_key(KEYS, secret, DEFAULT_KEY)
    if key is None and not is_access_token(call, secret):
        raise errors.INVALID_API_KEY(start=secret[:4])
    return key or Key(secret)


def is_access_token(call: Call, secret: str) -> bool:
    """Return whether the secret is an access token that has not expired."""
    token = call.session.store(AccessToken).get(secret)
    return token is not None and token.expires_at > call.now


def check_organization(call: Call) -> None:
    """Refuse an organization header that does not match the key (1:5.3)."""
    if call.header("Organization") not in (None, call.key.organization.id):
        raise errors.MISMATCHED_ORGANIZATION()


def find_project(call: Call) -> Project:
    """Return the key's project; a legacy user key chooses it by header (1:5.3)."""
    name = call.header("Project")
    if name is None or not call.key.legacy:
        return call.key.project
    for project in call.key.projects:
        if project.id == name:
            return project
    raise errors.INVALID_PROJECT()


def is_address_allowed(call: Call, allowlist: Iterable[str]) -> bool:
    """Return whether the caller's address is listed; one that is no IP is."""
    client = call.request.client
    try:
        address = ip_address(client.host if client else "")
    except ValueError:
        return True
    networks = map(ip_network, allowlist)
    return any(address in network for network in networks if network.version == address.version)


def admit_to_endpoint(call: Call, endpoint: Endpoint) -> None:
    """Refuse a call that lacks the endpoint's beta, scope or admin key."""
    refusal = find_beta_fault(call.header_name("Beta"), call.header("Beta") or "", endpoint.beta)
    if refusal is not None:
        raise refusal
    if endpoint.scope is not None and endpoint.scope not in call.key.scopes:
        raise errors.INSUFFICIENT_PERMISSIONS(scope=endpoint.scope)
    if endpoint.admin and not call.key.admin:
        raise errors.NO_ADMIN()


def find_beta_fault(header: str, value: str, needed: str | None) -> Refusal | None:
    """Return what is wrong with a beta header, if anything is."""
    betas = {beta.strip() for beta in value.split(",")} - {""}
    if not betas <= BETAS:
        return errors.UNKNOWN_BETA(header=header, known=", ".join(sorted(BETAS)))
    if needed is not None and needed not in betas:
        return errors.MISSING_BETA(header=header, beta=needed)
    return None


REQUEST_ID = "x-request-id"


class Gateway(gateway.Gateway[Call, Endpoint]):
    """The ASGI app of PC."""

    def __init__(self, world: World, rows: Iterable[Endpoint]) -> None:
        super().__init__(rows)
        self._header_prefix = world.settings["pc"]["header_prefix"]

    def open_call(self, request: Request) -> Call:
        return Call(request=request, header_prefix=self._header_prefix)

    def admit(self, call: Call, match: RouteMatch[Endpoint]) -> Endpoint:
        if not match.is_known_path:
            raise UNKNOWN_URL()
        call.headers[REQUEST_ID] = call.session.new_id("req_", 32)  # an unknown URL has none (2:7.1)
        if match.row is None:
            raise WRONG_METHOD(method=call.request.method)
        authenticate(call)
        raise_failure(call.context)
        admit_to_endpoint(call, match.row)
        return match.row

    def refuse(self, call: Call, refusal: Refusal) -> Response:
        return make_response(refusal)

    def add_headers(self, call: Call, response: Response) -> None:
        """Add the rate-limit headers."""
        super().add_headers(call, response)
        response.headers.update(make_headers(call.shown_buckets, call.now))
