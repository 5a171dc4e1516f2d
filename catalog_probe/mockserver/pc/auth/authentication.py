"""Who is calling PC: the bearer key, where it calls from, and the organization and project it names (1:5.3)."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.pc.auth.keys import KEYS, Federated, Key, Project, State
from catalog_probe.mockserver.pc.errors import (
    FOREIGN_KEY,
    INVALID_API_KEY,
    INVALID_PROJECT,
    IP_NOT_AUTHORIZED,
    MISMATCHED_ORGANIZATION,
    NO_KEY,
    NOT_A_MEMBER,
    REVOKED_KEY,
    Row,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.requests import HTTPConnection

    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pc.names import Names

USUAL = "mock-pc-inference"
"""As which key any other is taken, where that is let pass."""

NOT_SENT = "You didn't provide an API key. Send it as Authorization: Bearer YOUR_KEY."

_STATES: Mapping[State, tuple[Row, str]] = {
    State.REVOKED: (REVOKED_KEY, "This API key has been revoked."),
    State.NOT_A_MEMBER: (NOT_A_MEMBER, "You must be a member of an organization to use the API."),
    State.FOREIGN: (FOREIGN_KEY, "This API key belongs to another organization."),
}


def authenticate(connection: HTTPConnection, context: Context, names: Names) -> tuple[Key, Project]:
    """The key presented and the project it acts for, or 401."""
    key = _presented(connection, context)
    if key.state is not State.ACTIVE:
        row, message = _STATES[key.state]
        raise row(message)
    check_organization(connection, key, names)
    project = project_of(connection, key, names)
    for whose, allowlist in (("organization", key.organization.allowlist), ("project", project.allowlist)):
        if not address_allowed(connection, allowlist):
            raise IP_NOT_AUTHORIZED(f"Your IP address is not on the allowlist of this {whose}.")
    return key, project


def _presented(connection: HTTPConnection, context: Context) -> Key:
    scheme, _, secret = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not secret:
        raise NO_KEY(NOT_SENT)
    key = KEYS.get(secret) or context.session.state(Federated).key(secret, context.now)
    if key is None and leniency.current().good_key(secret):
        key = KEYS[USUAL]
    if key is None:
        raise INVALID_API_KEY(f"Incorrect API key provided: {secret[:4]}***.")
    return key


def check_organization(connection: HTTPConnection, key: Key, names: Names) -> None:
    """The organization header may be left out; it must match the key's organization (1:5.3)."""
    organization = connection.headers.get(names.header("Organization"))
    if organization is not None and organization != key.organization.id:
        raise MISMATCHED_ORGANIZATION("The organization header does not match the key's organization.")


def project_of(connection: HTTPConnection, key: Key, names: Names) -> Project:
    """The project header counts only with a legacy user key; a project key has its own (1:5.3)."""
    named = connection.headers.get(names.header("Project"))
    if named is None or not key.legacy:
        return key.project
    for project in key.projects:
        if project.id == named:
            return project
    raise INVALID_PROJECT("The project header names no project of this key.")


def address_allowed(connection: HTTPConnection, allowlist: Iterable[str]) -> bool:
    """Whether the caller's address lies in a network of the list; what is no IP address lies in any."""
    try:
        address = ip_address(connection.client.host if connection.client else "")
    except ValueError:
        return True
    networks = map(ip_network, allowlist)
    return any(address in network for network in networks if network.version == address.version)
