"""Who calls PA: header names, keys, workspaces, authentication (1:5.1, 2:7.3)."""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog_probe.mockserver.core.gateway import bearer_token, find_key
from catalog_probe.mockserver.pa.errors import BAD_SIGNATURE, INVALID_KEY, MISSING_KEY

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from starlette.requests import Request


DEFAULTS: Mapping[str, Any] = {
    "header_prefix": "pa-",
    "id_prefix": "pa_",
    "key_header": "x-api-key",
    "versions": ["2023-06-01", "2026-10-21"],
    "legacy_versions": ["2023-01-01"],
    "betas": [
        "code-execution-2025-08-25",
        "context-1m-2025-08-07",
        "fast-mode-2026-02-01",
        "files-api-2025-04-14",
        "interleaved-thinking-2025-05-14",
        "managed-agents-2026-04-01",
        "message-batches-2024-09-24",
        "server-side-fallback-2026-06-01",
        "web-fetch-2025-09-10",
    ],
}

DOCUMENTED_BETAS = frozenset(DEFAULTS["betas"])


@dataclass(frozen=True)
class Names:
    """Names on the wire (1:5.1, 2:8.2, 2:9)."""

    header_prefix: str
    id_prefix: str
    key_header: str
    versions: Collection[str]
    legacy_versions: Collection[str]
    betas: Collection[str]

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Names:
        """Read them from the provider's settings."""
        return cls(**{name: settings[name] for name in DEFAULTS})

    def header(self, stem: str) -> str:
        """Return the name of the header that the documents call `pa-<stem>`."""
        return self.header_prefix + stem


DEFAULT_WORKSPACE = "wrkspc_01MockDefaultWorkspace01"
SECOND_WORKSPACE = "wrkspc_01MockSecondWorkspace001"
THRIFTY_RATE_WORKSPACE = "wrkspc_01MockSlowWorkspace00001"
MARKETPLACE_WORKSPACE = "wrkspc_01MockMarketWorkspace001"


class Role(StrEnum):
    """The kind of key."""

    INFERENCE = "inference"
    ADMIN = "admin"
    COMPLIANCE = "compliance"
    MARKETPLACE = "marketplace"  # an access id of the cloud-marketplace variant: it signs requests (1:5.1)


class State(StrEnum):
    """Whether the key can be used at all; all but ACTIVE are answered 401 (2:7.3)."""

    ACTIVE = "active"
    REVOKED = "revoked"
    DEACTIVATED = "deactivated"
    DELETED = "deleted"
    EXPIRED = "expired"


class SpendingStatus(StrEnum):
    """Whether the owner of the key may spend money (2:7.3, rows 400, 402 and 429)."""

    GOOD = "good"
    ORGANIZATION_LIMIT = "organization's own spend limit reached"
    WORKSPACE_LIMIT = "workspace's own spend limit reached"
    SPEND_CAP = "tier's monthly spend cap reached"
    CODING_ASSISTANT_LIMIT = "coding-assistant workspace's spend limit reached"
    PAYMENT_PROBLEM = "payment failed"


class PerMinute(NamedTuple):
    """RPM, ITPM and OTPM: requests, uncached input tokens and output tokens a minute (2:8.2)."""

    requests: int
    input_tokens: int
    output_tokens: int


@dataclass(frozen=True)
class Organization:
    """An organization and its usage tier (2:8.2).

    Args:
        commitment: the tokens of a priority commitment that still runs; requests have none.
    """

    id: str
    tier: str = "start"
    commitment: PerMinute | None = None


ACME = Organization("a0000000-0000-4000-8000-000000000001")
TIGHT = Organization("a0000000-0000-4000-8000-000000000002", tier="tight")
CAPPED = Organization("a0000000-0000-4000-8000-000000000003")
THRIFTY = Organization("a0000000-0000-4000-8000-000000000004")
OWING = Organization("a0000000-0000-4000-8000-000000000006")
COMMITTED = Organization("a0000000-0000-4000-8000-000000000007", commitment=PerMinute(0, 50_000, 10_000))
# a customer of the cloud-marketplace variant: at Start, without limits per workspace and without fast mode (2:8.2)
MARKETPLACE = Organization("a0000000-0000-4000-8000-00000000000b")
GROWING = Organization("a0000000-0000-4000-8000-00000000000a", tier="build")
GROWN = Organization("a0000000-0000-4000-8000-000000000005", tier="scale")

# organizations with compliance keys; `compliance/access.py` says what is special about each
NOT_ENABLED = Organization("b0000000-0000-4000-8000-000000000001")
CHILD_OF_DORMANT = Organization("b0000000-0000-4000-8000-000000000002")
ELSEWHERE = Organization("b0000000-0000-4000-8000-000000000003")
NARROW = Organization("b0000000-0000-4000-8000-000000000004")
NARROW_TOO = Organization("b0000000-0000-4000-8000-000000000005")
WITHOUT_LOCAL_SESSIONS = Organization("b0000000-0000-4000-8000-000000000006")
SEALED = Organization("b0000000-0000-4000-8000-000000000007")
SEALED_BY_REVOCATION = Organization("b0000000-0000-4000-8000-000000000008")
SEALED_BY_DISTANCE = Organization("b0000000-0000-4000-8000-000000000009")

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
    spending_status: SpendingStatus = SpendingStatus.GOOD
    workspace: str | None = DEFAULT_WORKSPACE
    allowed: frozenset[str] = EVERYTHING
    scopes: frozenset[str] = field(default=frozenset())


READ_SCOPES = ("read:compliance_activities", "read:compliance_org_data", "read:compliance_user_data")


def _organization_key(
    secret: str,
    *scopes: str,
    organization: Organization = ACME,
    role: Role = Role.COMPLIANCE,
    state: State = State.ACTIVE,
) -> Key:
    """Make a key of no workspace and without inference: compliance or admin."""
    return Key(secret, organization, role, state, workspace=None, allowed=frozenset(), scopes=frozenset(scopes))


_TABLE = (
    Key("mock-pa-inference", ACME),
    Key("mock-pa-inference-build", GROWING),
    Key("mock-pa-inference-scale", GROWN),
    Key("mock-pa-priority", COMMITTED),
    Key("mock-pa-tight", TIGHT),
    Key("mock-pa-restricted", ACME, allowed=frozenset()),
    Key("mock-pa-lookup", ACME, allowed=frozenset({"models", "count_tokens"})),
    Key("mock-pa-tight-too", TIGHT, workspace=SECOND_WORKSPACE),
    Key("mock-pa-slow-workspace", ACME, workspace=THRIFTY_RATE_WORKSPACE),
    Key("mock-pa-revoked", ACME, state=State.REVOKED),
    Key("mock-pa-expired", ACME, state=State.EXPIRED),
    Key("mock-pa-organization-limit", THRIFTY, spending_status=SpendingStatus.ORGANIZATION_LIMIT),
    Key(
        "mock-pa-workspace-limit",
        ACME,
        spending_status=SpendingStatus.WORKSPACE_LIMIT,
        workspace="wrkspc_01MockThriftyWorkspace1",
    ),
    Key("mock-pa-spend-cap", CAPPED, spending_status=SpendingStatus.SPEND_CAP),
    Key(
        "mock-pa-coding-assistant",
        ACME,
        spending_status=SpendingStatus.CODING_ASSISTANT_LIMIT,
        workspace="wrkspc_01MockCodingAssistant001",
    ),
    Key("mock-pa-payment-problem", OWING, spending_status=SpendingStatus.PAYMENT_PROBLEM),
    Key("mock-pa-marketplace", MARKETPLACE, Role.MARKETPLACE, workspace=MARKETPLACE_WORKSPACE),
    _organization_key("mock-pa-admin", "read:compliance_activities", role=Role.ADMIN),
    _organization_key(
        "mock-pa-admin-marketplace", "read:compliance_activities", organization=MARKETPLACE, role=Role.ADMIN
    ),
    _organization_key("mock-pa-admin-expired", "read:compliance_activities", role=Role.ADMIN, state=State.EXPIRED),
    _organization_key("mock-pa-compliance", *READ_SCOPES),
    _organization_key("mock-pa-compliance-audit", "read:org_audit"),
    _organization_key("mock-pa-compliance-activities", "read:compliance_activities"),
    _organization_key("mock-pa-compliance-org-data", "read:compliance_org_data"),
    _organization_key("mock-pa-compliance-user-data", "read:compliance_user_data"),
    _organization_key("mock-pa-compliance-delete", "delete:compliance_user_data"),
    _organization_key("mock-pa-compliance-retired", "read:compliance_org_settings"),
    _organization_key("mock-pa-compliance-deactivated", *READ_SCOPES, state=State.DEACTIVATED),
    _organization_key("mock-pa-compliance-deleted", *READ_SCOPES, state=State.DELETED),
    _organization_key("mock-pa-compliance-not-enabled", *READ_SCOPES, organization=NOT_ENABLED),
    _organization_key("mock-pa-compliance-dormant-parent", *READ_SCOPES, organization=CHILD_OF_DORMANT),
    _organization_key("mock-pa-compliance-elsewhere", *READ_SCOPES, organization=ELSEWHERE),
    _organization_key("mock-pa-compliance-elsewhere-delete", "delete:compliance_user_data", organization=ELSEWHERE),
    _organization_key("mock-pa-compliance-narrow", *READ_SCOPES, organization=NARROW),
    _organization_key("mock-pa-compliance-narrow-delete", "delete:compliance_user_data", organization=NARROW),
    _organization_key("mock-pa-compliance-narrow-other", *READ_SCOPES, organization=NARROW),
    _organization_key("mock-pa-compliance-narrow-too", *READ_SCOPES, organization=NARROW_TOO),
    _organization_key("mock-pa-compliance-no-local", *READ_SCOPES, organization=WITHOUT_LOCAL_SESSIONS),
    _organization_key("mock-pa-compliance-sealed", *READ_SCOPES, organization=SEALED),
    _organization_key("mock-pa-compliance-sealed-revoked", *READ_SCOPES, organization=SEALED_BY_REVOCATION),
    _organization_key("mock-pa-compliance-sealed-unreachable", *READ_SCOPES, organization=SEALED_BY_DISTANCE),
)

# the caller of open endpoints and unknown paths, whose key nobody asked for
ANONYMOUS = Key("", Organization(""), workspace=None, allowed=frozenset())

KEYS = {key.secret: key for key in _TABLE}

USUAL = "mock-pa-inference"  # stands in for an unknown key, if the mock accepts any


# How the cloud-marketplace variant signs requests is not shown (1:5.1). Ours is the header
# `HMAC-SHA256 Credential=<access id>, Signature=<hex>`, the signature being over method and path.
SIGNING_SECRETS = {"mock-pa-marketplace": b"mock-pa-marketplace-signing-secret"}

_HEADER = re.compile(r"HMAC-SHA256 Credential=([^,\s]+), Signature=([0-9a-f]{64})", re.IGNORECASE)


def signature(access_id: str, method: str, path: str) -> str:
    """Return the signature of a request under an access id."""
    return hmac.new(SIGNING_SECRETS[access_id], f"{method}\n{path}".encode(), hashlib.sha256).hexdigest()


def signer(request: Request) -> Key | None:
    """Return the key that signed this request; None without a valid signature."""
    match = _HEADER.fullmatch(request.headers.get("authorization", ""))
    if match is None:
        return None
    key = KEYS.get(match[1])
    if key is None or key.role is not Role.MARKETPLACE:
        return None
    path = request.scope["path"][len(request.scope.get("root_path", "")) :]
    return key if hmac.compare_digest(match[2].lower(), signature(match[1], request.method, path)) else None


def presented_secret(request: Request, names: Names) -> str | None:
    """Return the key as sent; newer clients send it as a bearer token."""
    secret = request.headers.get(names.key_header)
    return secret if secret is not None else bearer_token(request.headers)


def identify(request: Request, names: Names) -> Key | None:
    """Return the usable key that was sent or signed with, if any."""
    secret = presented_secret(request, names)
    if secret is None:
        return signer(request)
    key = find_key(KEYS, secret, USUAL)
    usable = key is not None and key.state is State.ACTIVE and key.role is not Role.MARKETPLACE
    return key if usable else None


def authenticate(request: Request, names: Names) -> Key:
    """Return the usable key, or raise 401, which does not tell what is wrong with it."""
    key = identify(request, names)
    if key is not None:
        return key
    if presented_secret(request, names) is not None:
        raise INVALID_KEY(header=names.key_header)
    raise (BAD_SIGNATURE if "authorization" in request.headers else MISSING_KEY)(header=names.key_header)
