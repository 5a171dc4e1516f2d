"""PA's keys, workspaces and organizations: one table of who may do what, and in what standing (1:5.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

DEFAULT_WORKSPACE = "wrkspc_01MockDefaultWorkspace01"
SECOND_WORKSPACE = "wrkspc_01MockSecondWorkspace001"
THRIFTY_RATE_WORKSPACE = "wrkspc_01MockSlowWorkspace00001"
MARKETPLACE_WORKSPACE = "wrkspc_01MockMarketWorkspace001"


class Role(StrEnum):
    """The kind of key."""

    INFERENCE = "inference"
    ADMIN = "admin"
    COMPLIANCE = "compliance"
    MARKETPLACE = "marketplace"
    """An access id of the cloud-marketplace variant: it signs requests instead of being sent (1:5.1)."""


class State(StrEnum):
    """Whether the key can be used at all; all but ACTIVE are answered 401 (2:7.3)."""

    ACTIVE = "active"
    REVOKED = "revoked"
    DEACTIVATED = "deactivated"
    DELETED = "deleted"
    EXPIRED = "expired"


class Standing(StrEnum):
    """Whether the owner of the key may still spend money (2:7.3, rows 400, 402 and 429)."""

    GOOD = "good"
    ORGANIZATION_LIMIT = "organization's own spend limit reached"
    WORKSPACE_LIMIT = "workspace's own spend limit reached"
    SPEND_CAP = "tier's monthly spend cap reached"
    CODING_ASSISTANT_LIMIT = "coding-assistant workspace's spend limit reached"
    PAYMENT_PROBLEM = "payment failed"


@dataclass(frozen=True)
class Organization:
    """An organization and its usage tier (2:8.2)."""

    id: str
    tier: str = "start"
    commitment: tuple[int, int] | None = None
    """Input and output tokens a minute of a priority commitment that still runs, if any."""


ACME = Organization("a0000000-0000-4000-8000-000000000001")
TIGHT = Organization("a0000000-0000-4000-8000-000000000002", tier="tight")
CAPPED = Organization("a0000000-0000-4000-8000-000000000003")
THRIFTY = Organization("a0000000-0000-4000-8000-000000000004")
OWING = Organization("a0000000-0000-4000-8000-000000000006")
COMMITTED = Organization("a0000000-0000-4000-8000-000000000007", commitment=(50_000, 10_000))
TIGHT_TOKENS = Organization("a0000000-0000-4000-8000-000000000008", tier="tight_tokens")
COMMITTED_TO_LITTLE = Organization("a0000000-0000-4000-8000-000000000009", commitment=(1_000, 1_000))
MARKETPLACE = Organization("a0000000-0000-4000-8000-00000000000b")
"""A customer of the cloud-marketplace variant: at Start, without limits per workspace and without fast mode (2:8.2)."""
GROWING = Organization("a0000000-0000-4000-8000-00000000000a", tier="build")
GROWN = Organization("a0000000-0000-4000-8000-000000000005", tier="scale")

NOT_ENABLED = Organization("b0000000-0000-4000-8000-000000000001")
CHILD_OF_DORMANT = Organization("b0000000-0000-4000-8000-000000000002")
ELSEWHERE = Organization("b0000000-0000-4000-8000-000000000003")
NARROW = Organization("b0000000-0000-4000-8000-000000000004")
NARROW_TOO = Organization("b0000000-0000-4000-8000-000000000005")
WITHOUT_LOCAL_SESSIONS = Organization("b0000000-0000-4000-8000-000000000006")
SEALED = Organization("b0000000-0000-4000-8000-000000000007")
SEALED_BY_REVOCATION = Organization("b0000000-0000-4000-8000-000000000008")
SEALED_BY_DISTANCE = Organization("b0000000-0000-4000-8000-000000000009")
"""Organizations with compliance keys; `compliance/tenants.py` says what is special about each."""

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


READ_SCOPES = ("read:compliance_activities", "read:compliance_org_data", "read:compliance_user_data")


def _keeper(
    secret: str,
    *scopes: str,
    organization: Organization = ACME,
    role: Role = Role.COMPLIANCE,
    state: State = State.ACTIVE,
) -> Key:
    """A key that belongs to no workspace and makes no inference: compliance or admin."""
    return Key(secret, organization, role, state, workspace=None, allowed=frozenset(), scopes=frozenset(scopes))


_TABLE = (
    Key("mock-pa-inference", ACME),
    Key("mock-pa-inference-build", GROWING),
    Key("mock-pa-inference-scale", GROWN),
    Key("mock-pa-priority", COMMITTED),
    Key("mock-pa-priority-little", COMMITTED_TO_LITTLE),
    Key("mock-pa-tight", TIGHT),
    Key("mock-pa-restricted", ACME, allowed=frozenset()),
    Key("mock-pa-lookup", ACME, allowed=frozenset({"models", "count_tokens"})),
    Key("mock-pa-tight-too", TIGHT, workspace=SECOND_WORKSPACE),
    Key("mock-pa-tight-tokens", TIGHT_TOKENS),
    Key("mock-pa-slow-workspace", ACME, workspace=THRIFTY_RATE_WORKSPACE),
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
    Key("mock-pa-payment-problem", OWING, standing=Standing.PAYMENT_PROBLEM),
    Key("mock-pa-marketplace", MARKETPLACE, Role.MARKETPLACE),
    Key("mock-pa-marketplace-team", MARKETPLACE, Role.MARKETPLACE, workspace=MARKETPLACE_WORKSPACE),
    _keeper("mock-pa-admin", "read:compliance_activities", role=Role.ADMIN),
    _keeper("mock-pa-admin-marketplace", "read:compliance_activities", organization=MARKETPLACE, role=Role.ADMIN),
    _keeper("mock-pa-admin-expired", "read:compliance_activities", role=Role.ADMIN, state=State.EXPIRED),
    _keeper("mock-pa-compliance", *READ_SCOPES),
    _keeper("mock-pa-compliance-audit", "read:org_audit"),
    _keeper("mock-pa-compliance-activities", "read:compliance_activities"),
    _keeper("mock-pa-compliance-org-data", "read:compliance_org_data"),
    _keeper("mock-pa-compliance-user-data", "read:compliance_user_data"),
    _keeper("mock-pa-compliance-delete", "delete:compliance_user_data"),
    _keeper("mock-pa-compliance-retired", "read:compliance_org_settings"),
    _keeper("mock-pa-compliance-deactivated", *READ_SCOPES, state=State.DEACTIVATED),
    _keeper("mock-pa-compliance-deleted", *READ_SCOPES, state=State.DELETED),
    _keeper("mock-pa-compliance-not-enabled", *READ_SCOPES, organization=NOT_ENABLED),
    _keeper("mock-pa-compliance-dormant-parent", *READ_SCOPES, organization=CHILD_OF_DORMANT),
    _keeper("mock-pa-compliance-elsewhere", *READ_SCOPES, organization=ELSEWHERE),
    _keeper("mock-pa-compliance-elsewhere-delete", "delete:compliance_user_data", organization=ELSEWHERE),
    _keeper("mock-pa-compliance-narrow", *READ_SCOPES, organization=NARROW),
    _keeper("mock-pa-compliance-narrow-delete", "delete:compliance_user_data", organization=NARROW),
    _keeper("mock-pa-compliance-narrow-other", *READ_SCOPES, organization=NARROW),
    _keeper("mock-pa-compliance-narrow-too", *READ_SCOPES, organization=NARROW_TOO),
    _keeper("mock-pa-compliance-no-local", *READ_SCOPES, organization=WITHOUT_LOCAL_SESSIONS),
    _keeper("mock-pa-compliance-sealed", *READ_SCOPES, organization=SEALED),
    _keeper("mock-pa-compliance-sealed-revoked", *READ_SCOPES, organization=SEALED_BY_REVOCATION),
    _keeper("mock-pa-compliance-sealed-unreachable", *READ_SCOPES, organization=SEALED_BY_DISTANCE),
)

ANONYMOUS = Key("", Organization(""), workspace=None, allowed=frozenset())
"""Nobody we know; only open endpoints and unknown paths are answered to it."""

KEYS = {key.secret: key for key in _TABLE}

USUAL = "mock-pa-inference"
"""As which key any other is taken, where the mock lets any pass."""
