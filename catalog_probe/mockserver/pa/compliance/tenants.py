"""Whose compliance data it is: parent organizations, their linked children, roles, groups and people (1:2.4).

All of it is read-only in the API, so it is a table. What can change lives in `archive.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.mockserver.pa.auth import keys

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.auth.keys import Organization

REQUESTS_A_MINUTE = 600
"""For a parent organization with all its keys and linked organizations, on all endpoints (2:7.2)."""


class ContentKey(StrEnum):
    """The key of captured content: the provider's own, or the customer's, without which nothing can be read (2:7.2)."""

    OURS = "ours"
    DISABLED = "disabled"
    REVOKED = "revoked"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True)
class Person:
    """A user of a child organization."""

    id: str
    email: str


@dataclass(frozen=True)
class Named:
    """A role or a group, by its id and name."""

    id: str
    name: str
    members: tuple[Person, ...] = ()


@dataclass(frozen=True)
class Child:
    """An organization linked to the parent."""

    id: str
    name: str
    people: tuple[Person, ...] = ()
    roles: tuple[Named, ...] = ()
    settings_enabled: bool = True


@dataclass(frozen=True)
class Parent:
    """A parent organization. Nothing of one parent is visible to the keys of another."""

    id: str
    enabled: bool = True
    requests_a_minute: int = REQUESTS_A_MINUTE
    remote_requests_a_minute: int = REQUESTS_A_MINUTE
    """The second budget of the remote-session endpoints; its size is not shown."""
    local_sessions: bool = True
    content_key: ContentKey = ContentKey.OURS
    """Who keeps the key of captured content, and what has become of it."""
    children: tuple[Child, ...] = ()
    groups: tuple[Named, ...] = ()


@dataclass(frozen=True)
class Tenant:
    """An organization that owns keys: its parent, and whether the API is enabled for the organization itself."""

    parent: Parent
    enabled: bool = True


ADA = Person("user_01MockAda", "ada@mock.example")
BEN = Person("user_01MockBen", "ben@mock.example")

MAIN_CHILD = Child(
    "c0000000-0000-4000-8000-000000000001",
    "Research",
    (ADA, BEN),
    (Named("rbac_role_01MockReviewer", "Reviewer"), Named("rbac_role_01MockAuthor", "Author")),
)
PLAIN_CHILD = Child("c0000000-0000-4000-8000-000000000002", "Sales", (BEN,), settings_enabled=False)

ENTERPRISE = Parent(
    "parent_01MockEnterprise",
    children=(MAIN_CHILD, PLAIN_CHILD),
    groups=(Named("rbac_group_01MockEditors", "Editors", (ADA, BEN)), Named("rbac_group_01MockReaders", "Readers")),
)
DORMANT = Parent("parent_01MockDormant", enabled=False)
TIGHT = Parent("parent_01MockTight", requests_a_minute=4, remote_requests_a_minute=2)
"""Its budgets are the mock's own: a handful of requests exhausts them."""

TENANTS: dict[str, Tenant] = {
    keys.ACME.id: Tenant(ENTERPRISE),
    keys.NOT_ENABLED.id: Tenant(ENTERPRISE, enabled=False),
    keys.CHILD_OF_DORMANT.id: Tenant(DORMANT),
    keys.ELSEWHERE.id: Tenant(Parent("parent_01MockElsewhere")),
    keys.NARROW.id: Tenant(TIGHT),
    keys.NARROW_TOO.id: Tenant(TIGHT),
    keys.WITHOUT_LOCAL_SESSIONS.id: Tenant(Parent("parent_01MockWithoutLocal", local_sessions=False)),
    keys.SEALED.id: Tenant(Parent("parent_01MockSealed", content_key=ContentKey.DISABLED)),
    keys.SEALED_BY_REVOCATION.id: Tenant(Parent("parent_01MockRevoked", content_key=ContentKey.REVOKED)),
    keys.SEALED_BY_DISTANCE.id: Tenant(Parent("parent_01MockUnreachable", content_key=ContentKey.UNREACHABLE)),
}


def tenant_of(organization: Organization) -> Tenant:
    """The tenant of an organization; one that never heard of the compliance API has it disabled."""
    return TENANTS.get(organization.id) or Tenant(DORMANT, enabled=False)
