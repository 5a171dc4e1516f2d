"""Parent organizations and their structure (1:2.4): read-only, so a table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.mockserver.pa.auth import keys

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.auth.keys import Organization

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
