"""Who may use the compliance API: key types, the API being enabled, scopes (1:5.1, 2:7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.pa.auth.keys import KEYS, Key, Role, State
from catalog_probe.mockserver.pa.compliance import refusals
from catalog_probe.mockserver.pa.compliance.tenants import tenant_of
from catalog_probe.mockserver.pa.errors import not_found

if TYPE_CHECKING:
    from starlette.requests import Request

    from catalog_probe.mockserver.pa.gateway import Endpoint
    from catalog_probe.mockserver.pa.names import Names

ACTIVITIES = "read:compliance_activities"
ORG_DATA = "read:compliance_org_data"
USER_DATA = "read:compliance_user_data"
DELETE = "delete:compliance_user_data"
AUDIT = "read:org_audit"
"""Accepted as an alternative for every read."""
RETIRED = "read:compliance_org_settings"

ACCEPTED_ROLES = (Role.COMPLIANCE, Role.ADMIN)


def authenticate(request: Request, names: Names) -> Key:
    """The usable key in the key header. No key, or a key of another type, is answered as an unknown path."""
    if is_stranger(request, names):
        raise not_found()
    return _usable(request, names)


def authenticate_for_settings(request: Request, names: Names) -> Key:
    """The settings endpoint alone answers strangers 401."""
    if is_stranger(request, names):
        raise refusals.not_a_usable_key(names.key_header)
    return _usable(request, names)


def admit(key: Key, endpoint: Endpoint) -> None:
    """The API must be enabled, and the key must hold the endpoint's scope, which is the name of its group."""
    tenant = tenant_of(key.organization)
    if not (tenant.enabled and tenant.parent.enabled):
        raise refusals.not_enabled()
    wanted = endpoint.group
    alternatives = {wanted} if wanted == DELETE else {wanted, AUDIT}
    if key.scopes & alternatives:
        return
    if wanted == ORG_DATA and key.scopes == {RETIRED}:
        raise refusals.retired_scope()
    raise refusals.insufficient_scope(wanted)


def is_stranger(request: Request, names: Names) -> bool:
    """Whether no key was sent, or one of a type that is not accepted here."""
    secret = request.headers.get(names.key_header)
    if secret is None:
        return True
    key = KEYS.get(secret)
    return key is not None and key.role not in ACCEPTED_ROLES


def _usable(request: Request, names: Names) -> Key:
    key = KEYS.get(request.headers[names.key_header])
    if key is None or key.state is not State.ACTIVE:
        raise refusals.not_a_usable_key(names.key_header)
    return key
