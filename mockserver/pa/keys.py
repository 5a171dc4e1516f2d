"""PA's keys, workspaces and organizations: one table of who may do what, and in what standing (1:5.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

DEFAULT_WORKSPACE = "wrkspc_01MockDefaultWorkspace01"


class Role(StrEnum):
    """The kind of key."""

    INFERENCE = "inference"
    ADMIN = "admin"
    COMPLIANCE = "compliance"


class State(StrEnum):
    """Whether the key can be used at all; all but ACTIVE are answered 401 (2:7.3)."""

    ACTIVE = "active"
    REVOKED = "revoked"
    EXPIRED = "expired"


class Standing(StrEnum):
    """Whether the owner of the key may still spend money (2:7.3, rows 400 and 429)."""

    GOOD = "good"
    ORGANIZATION_LIMIT = "organization's own spend limit reached"
    WORKSPACE_LIMIT = "workspace's own spend limit reached"
    SPEND_CAP = "tier's monthly spend cap reached"
    CODING_ASSISTANT_LIMIT = "coding-assistant workspace's spend limit reached"


@dataclass(frozen=True)
class Organization:
    """An organization and its usage tier (2:8.2)."""

    id: str
    tier: str = "start"


ACME = Organization("a0000000-0000-4000-8000-000000000001")
TIGHT = Organization("a0000000-0000-4000-8000-000000000002", tier="tight")
CAPPED = Organization("a0000000-0000-4000-8000-000000000003")
THRIFTY = Organization("a0000000-0000-4000-8000-000000000004")
GROWN = Organization("a0000000-0000-4000-8000-000000000005", tier="scale")

EVERYTHING: frozenset[str] = frozenset(
    {"messages", "count_tokens", "models", "batches", "files", "agents_create", "agents_read"}
)
"""The endpoint groups of the general API; a key's `allowed` is a subset."""


@dataclass(frozen=True)
class Key:
    """One key. `scopes` are those of the compliance API."""

    secret: str
    organization: Organization
    role: Role = Role.INFERENCE
    state: State = State.ACTIVE
    standing: Standing = Standing.GOOD
    workspace: str | None = DEFAULT_WORKSPACE
    allowed: frozenset[str] = EVERYTHING
    scopes: frozenset[str] = field(default=frozenset())


_TABLE = (
    Key("mock-pa-inference", ACME),
    Key("mock-pa-inference-scale", GROWN),
    Key("mock-pa-tight", TIGHT),
    Key("mock-pa-restricted", ACME, allowed=frozenset({"models", "count_tokens"})),
    Key("mock-pa-revoked", ACME, state=State.REVOKED),
    Key("mock-pa-expired", ACME, state=State.EXPIRED),
    Key("mock-pa-organization-limit", THRIFTY, standing=Standing.ORGANIZATION_LIMIT),
    Key("mock-pa-workspace-limit", ACME, standing=Standing.WORKSPACE_LIMIT, workspace="wrkspc_01MockThriftyWorkspace1"),
    Key("mock-pa-spend-cap", CAPPED, standing=Standing.SPEND_CAP),
    Key(
        "mock-pa-coding-assistant",
        ACME,
        standing=Standing.CODING_ASSISTANT_LIMIT,
        workspace="wrkspc_01MockCodingAssistant001",
    ),
    Key("mock-pa-admin", ACME, Role.ADMIN, workspace=None, allowed=frozenset()),
)

ANONYMOUS = Key("", Organization(""), workspace=None, allowed=frozenset())
"""Nobody we know; only open endpoints and unknown paths are answered to it."""

KEYS = {key.secret: key for key in _TABLE}
