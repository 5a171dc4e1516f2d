"""Who may use the compliance API, how often, and for whom (1:2.4, 1:5.1, 2:7.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.limits import Limit, charge_all
from catalog_probe.mockserver.pa import keys
from catalog_probe.mockserver.pa.compliance.errors import (
    BUDGET_USED_UP,
    INSUFFICIENT_SCOPE,
    NOT_ENABLED,
    RETIRED_SCOPE,
    UNUSABLE_KEY,
)
from catalog_probe.mockserver.pa.errors import UNKNOWN_PATH
from catalog_probe.mockserver.pa.keys import KEYS, Key, Role, State

if TYPE_CHECKING:
    from starlette.requests import Request

    from catalog_probe.mockserver.core.limits import TokenBucket
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.gateway import Endpoint
    from catalog_probe.mockserver.pa.keys import Names, Organization


REQUESTS_A_MINUTE = 600  # of a parent with all its keys, linked organizations and endpoints (2:7.2)

Entry = dict[str, str]
"""An organization, person, role or group as it is shown."""


@dataclass(frozen=True)
class Parent:
    """A parent organization. Its keys see nothing of another parent.

    Args:
        remote_requests_a_minute: the second budget, of the remote-session endpoints; its size is not shown.
        local_sessions: whether it has local sessions at all.
        content_readable: whether the key of captured content, which the customer may keep, can be used (2:7.2).
        structure: the entries of each list by its path below `/v1/compliance/`.
    """

    id: str
    enabled: bool = True
    requests_a_minute: int = REQUESTS_A_MINUTE
    remote_requests_a_minute: int = REQUESTS_A_MINUTE
    local_sessions: bool = True
    content_readable: bool = True
    structure: Mapping[str, tuple[Entry, ...]] = field(default_factory=lambda: {"organizations": (), "groups": ()})


@dataclass(frozen=True)
class Tenant:
    """An organization that owns keys: its parent, and whether its API is enabled."""

    parent: Parent
    enabled: bool = True


ADA = {"id": "user_01MockAda", "email_address": "ada@mock.example"}
BEN = {"id": "user_01MockBen", "email_address": "ben@mock.example"}

MAIN_CHILD, PLAIN_CHILD = "c0000000-0000-4000-8000-000000000001", "c0000000-0000-4000-8000-000000000002"
SETTINGS_ENABLED = (MAIN_CHILD,)

ENTERPRISE = Parent(
    "parent_01MockEnterprise",
    structure={
        "organizations": ({"id": MAIN_CHILD, "name": "Research"}, {"id": PLAIN_CHILD, "name": "Sales"}),
        f"organizations/{MAIN_CHILD}/users": (ADA, BEN),
        f"organizations/{MAIN_CHILD}/roles": (
            {"id": "rbac_role_01MockReviewer", "name": "Reviewer"},
            {"id": "rbac_role_01MockAuthor", "name": "Author"},
        ),
        f"organizations/{PLAIN_CHILD}/users": (BEN,),
        f"organizations/{PLAIN_CHILD}/roles": (),
        "groups": (
            {"id": "rbac_group_01MockEditors", "name": "Editors"},
            {"id": "rbac_group_01MockReaders", "name": "Readers"},
        ),
        "groups/rbac_group_01MockEditors/members": (ADA, BEN),
        "groups/rbac_group_01MockReaders/members": (),
    },
)
DORMANT = Parent("parent_01MockDormant", enabled=False)
# ours: a handful of requests exhausts its budgets
TIGHT_PARENT = Parent("parent_01MockTight", requests_a_minute=6, remote_requests_a_minute=2)

TENANTS: dict[str, Tenant] = {
    keys.ACME.id: Tenant(ENTERPRISE),
    keys.NOT_ENABLED.id: Tenant(ENTERPRISE, enabled=False),
    keys.CHILD_OF_DORMANT.id: Tenant(DORMANT),
    keys.ELSEWHERE.id: Tenant(Parent("parent_01MockElsewhere")),
    keys.NARROW.id: Tenant(TIGHT_PARENT),
    keys.NARROW_TOO.id: Tenant(TIGHT_PARENT),
    keys.WITHOUT_LOCAL_SESSIONS.id: Tenant(Parent("parent_01MockWithoutLocal", local_sessions=False)),
    # the customer's key is disabled, revoked or unreachable (2:7.2)
    keys.SEALED.id: Tenant(Parent("parent_01MockSealed", content_readable=False)),
    keys.SEALED_BY_REVOCATION.id: Tenant(Parent("parent_01MockRevoked", content_readable=False)),
    keys.SEALED_BY_DISTANCE.id: Tenant(Parent("parent_01MockUnreachable", content_readable=False)),
}


def tenant_of(organization: Organization) -> Tenant:
    """Return the tenant of an organization; without a row its API is disabled."""
    return TENANTS.get(organization.id) or Tenant(DORMANT, enabled=False)


AUDIT = "read:org_audit"  # accepted as an alternative for every read
RETIRED = "read:compliance_org_settings"

# the scopes of which any one suffices, the usual one first (1:5.1)
ACTIVITIES = ("read:compliance_activities", AUDIT)
ORG_DATA = ("read:compliance_org_data", AUDIT)
USER_DATA = ("read:compliance_user_data", AUDIT)
DELETE = ("delete:compliance_user_data",)

BUDGET = Limit("requests_a_minute", "requests", BUDGET_USED_UP, "2:7.2")
REMOTE_BUDGET = Limit("remote_requests_a_minute", "requests", BUDGET_USED_UP, "2:7.2")
"""The budgets of a parent organization; the columns of `Parent` have their numbers."""

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
    _charge(call, BUDGET, "compliance")


def admit_remote_request(call: Call) -> None:
    """Count one remote-session request; it counts as a compliance request as well."""
    _charge(call, REMOTE_BUDGET, "remote sessions", retry_after_s=REMOTE_RETRY_AFTER_S)
    admit_compliance_request(call)


def _charge(call: Call, limit: Limit, budget: str, *, retry_after_s: int | None = None) -> None:
    parent = tenant_of(call.key.organization).parent
    meters = call.session.open_meters((limit,), parent, "pa", "compliance", *holder_of(call, parent.id))
    excesses = charge_all(meters, {"requests": 1}, call.now)
    if excesses:
        meter, wait_s = excesses[0].meter, excesses[0].wait_s
        headers = {"retry-after": str(retry_after_s or math.ceil(wait_s))}
        for part, value in describe_budget(meter.bucket, call.now).items():
            headers[call.names.header(f"ratelimit-requests-{part}")] = value
        raise limit.row(per_minute=meter.number, budget=budget, headers=headers)


def holder_of(call: Call, parent: str) -> tuple[str, ...]:
    """Return who shares a budget: the parent, with all its keys and endpoints."""
    return (parent,)


def describe_budget(bucket: TokenBucket, now: float) -> dict[str, str]:
    """Return the values of the three headers of a 429."""
    return {
        "limit": str(round(bucket.per_minute)),
        "remaining": str(bucket.remaining(now)),
        "reset": rfc3339(bucket.full_at(now)),
    }
