"""Who is calling PC: the bearer key, the organization and project it names, where it calls from (1:5.3, 2:7.5)."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.credentials import bearer_token, find_key
from catalog_probe.mockserver.pc.errors import (
    INSUFFICIENT_PERMISSIONS,
    INVALID_API_KEY,
    INVALID_PROJECT,
    IP_NOT_AUTHORIZED,
    MISMATCHED_ORGANIZATION,
    MISSING_BETA,
    NO_ADMIN,
    NO_KEY,
    UNKNOWN_BETA,
)
from catalog_probe.mockserver.pc.keys import KEYS, USUAL, AccessToken, Key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.pc.gateway import Call, Endpoint
    from catalog_probe.mockserver.pc.keys import Project

BETAS = frozenset({"agents=v1", "assistants=v2", "chatkit_beta=v1", "responses_multi_agent=v1"})
"""The values of the beta header: two that the documents name (1:5.3), two that clients send."""


def authenticate(call: Call) -> None:
    """Find out whose call it is, and for which project, or 401."""
    call.key = identify(call)
    if call.key.refusal is not None:
        raise call.key.refusal()
    check_organization(call)
    call.project = project_of(call)
    for owner, allowlist in (
        ("organization", call.key.organization.allowlist),
        ("project", call.project.allowlist),
    ):
        if not is_address_allowed(call, allowlist):
            raise IP_NOT_AUTHORIZED(owner=owner)


def identify(call: Call) -> Key:
    """The key that is presented, or an access token in its place."""
    secret = bearer_token(call.request.headers)
    if not secret:
        raise NO_KEY()
    key = find_key(KEYS, secret, USUAL)
    if key is None and not has_access(call, secret):
        raise INVALID_API_KEY(start=secret[:4])
    return key or Key(secret)


def has_access(call: Call, secret: str) -> bool:
    """Whether it is an access token that still lives."""
    token = call.session.store(AccessToken).get(secret)
    return token is not None and token.expires_at > call.now


def check_organization(call: Call) -> None:
    """The organization header may be left out; it must match the key's organization (1:5.3)."""
    if call.header("Organization") not in (None, call.key.organization.id):
        raise MISMATCHED_ORGANIZATION()


def project_of(call: Call) -> Project:
    """The project header counts only with a legacy user key; a project key has its own (1:5.3)."""
    name = call.header("Project")
    if name is None or not call.key.legacy:
        return call.key.project
    for project in call.key.projects:
        if project.id == name:
            return project
    raise INVALID_PROJECT()


def is_address_allowed(call: Call, allowlist: Iterable[str]) -> bool:
    """Whether the caller's address lies in a network of the list; what is no IP address lies in any."""
    client = call.request.client
    try:
        address = ip_address(client.host if client else "")
    except ValueError:
        return True
    networks = map(ip_network, allowlist)
    return any(address in network for network in networks if network.version == address.version)


def admit(call: Call, endpoint: Endpoint) -> None:
    """Let a call use an endpoint that needs a beta, a scope or an admin key."""
    refusal = find_beta_fault(call.header_name("Beta"), call.header("Beta") or "", endpoint.beta)
    if refusal is not None:
        raise refusal
    if endpoint.scope is not None and endpoint.scope not in call.key.scopes:
        raise INSUFFICIENT_PERMISSIONS(scope=endpoint.scope)
    if endpoint.admin and not call.key.admin:
        raise NO_ADMIN()


def find_beta_fault(header: str, value: str, needed: str | None) -> Refusal | None:
    """What is wrong with the beta header of a call, for an endpoint that needs one value or none."""
    betas = {beta.strip() for beta in value.split(",")} - {""}
    if not betas <= BETAS:
        return UNKNOWN_BETA(header=header, known=", ".join(sorted(BETAS)))
    if needed is not None and needed not in betas:
        return MISSING_BETA(header=header, beta=needed)
    return None
