"""Who may use the compliance API, and how often: keys, scopes, budgets (1:5.1, 2:7.2)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.auth.keys import KEYS, Key, Role, State
from catalog_probe.mockserver.pa.compliance.errors import (
    BUDGET_USED_UP,
    INSUFFICIENT_SCOPE,
    NOT_ENABLED,
    RETIRED_SCOPE,
    UNUSABLE_KEY,
)
from catalog_probe.mockserver.pa.compliance.tenants import tenant_of
from catalog_probe.mockserver.pa.errors import UNKNOWN_PATH

if TYPE_CHECKING:
    from starlette.requests import Request

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.gateway import Endpoint
    from catalog_probe.mockserver.pa.names import Names

AUDIT = "read:org_audit"  # accepted as an alternative for every read
RETIRED = "read:compliance_org_settings"

# the scopes of which any one suffices, the usual one first (1:5.1)
ACTIVITIES = ("read:compliance_activities", AUDIT)
ORG_DATA = ("read:compliance_org_data", AUDIT)
USER_DATA = ("read:compliance_user_data", AUDIT)
DELETE = ("delete:compliance_user_data",)

REMOTE_RETRY_AFTER_S = 1  # always, in the 429 of the second budget

ACCEPTED_ROLES = (Role.COMPLIANCE, Role.ADMIN)


def authenticate_for_compliance(request: Request, names: Names) -> Key:
    """Return the usable key; without an accepted key the path is unknown."""
    if has_no_accepted_key(request, names):
        raise UNKNOWN_PATH()
    return _find_usable(request, names)


def authenticate_for_settings(request: Request, names: Names) -> Key:
    """Return the usable key; the settings endpoint alone answers 401 without one."""
    if has_no_accepted_key(request, names):
        raise UNUSABLE_KEY(header=names.key_header)
    return _find_usable(request, names)


def admit(key: Key, endpoint: Endpoint) -> None:
    """Refuse a key if the API is not enabled, or if it lacks the scopes."""
    tenant = tenant_of(key.organization)
    if not (tenant.enabled and tenant.parent.enabled):
        raise NOT_ENABLED()
    if key.scopes.intersection(endpoint.scopes):
        return
    if endpoint.scopes == ORG_DATA and key.scopes == {RETIRED}:
        raise RETIRED_SCOPE()
    raise INSUFFICIENT_SCOPE(scope=endpoint.scopes[0])


def has_no_accepted_key(request: Request, names: Names) -> bool:
    """Whether no key was sent, or one of a type that is not accepted here."""
    secret = request.headers.get(names.key_header)
    if secret is None:
        return True
    key = KEYS.get(secret)
    return key is not None and key.role not in ACCEPTED_ROLES


def _find_usable(request: Request, names: Names) -> Key:
    key = KEYS.get(request.headers[names.key_header])
    if key is None or key.state is not State.ACTIVE:
        raise UNUSABLE_KEY(header=names.key_header)
    return key


def admit_compliance_request(call: Call) -> None:
    """Count one request of the parent organization, or 429."""
    parent = tenant_of(call.key.organization).parent
    _charge(call, "compliance", parent.id, parent.requests_a_minute)


def admit_remote_request(call: Call) -> None:
    """Count one remote-session request; it counts as a compliance request as well."""
    parent = tenant_of(call.key.organization).parent
    _charge(call, "remote sessions", parent.id, parent.remote_requests_a_minute, retry_after=REMOTE_RETRY_AFTER_S)
    admit_compliance_request(call)


def _charge(call: Call, budget: str, parent: str, per_minute: int, retry_after: int | None = None) -> None:
    bucket = call.session.bucket(("pa", "compliance", *holder_of(call, parent), budget), per_minute)
    if bucket.take(1, call.now):
        return
    headers = {"retry-after": str(retry_after or math.ceil(bucket.seconds_until(1, call.now)))}
    for part, value in describe_budget(bucket, call.now).items():
        headers[call.names.header(f"ratelimit-requests-{part}")] = value
    raise BUDGET_USED_UP(per_minute=per_minute, budget=budget, headers=headers)


def holder_of(call: Call, parent: str) -> tuple[str, ...]:
    """Return who shares a budget: the parent, with all its keys and endpoints."""
    return (parent,)


def describe_budget(bucket: TokenBucket, now: float) -> dict[str, str]:
    """Return the values of the three headers of a 429."""
    return {
        "limit": str(bucket.per_minute),
        "remaining": str(bucket.remaining(now)),
        "reset": rfc3339(bucket.full_at(now)),
    }
