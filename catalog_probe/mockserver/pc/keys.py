"""PC's keys, projects and organizations (1:5.3, 2:7.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.pc import errors

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow

EXTERNAL_STORAGE = "api.external_storage.read"  # the one scope that the documents name

TIER_1, TIER_5, TIGHT = "tier_1", "tier_5", "tight"  # `limits.py` says what each grants

ANYWHERE = ("0.0.0.0/0", "::/0")


@dataclass(frozen=True)
class Organization:
    """An organization: its usage tier and its allowed addresses."""

    id: str
    tier: str = TIER_5
    allowlist: tuple[str, ...] = ANYWHERE


@dataclass(frozen=True)
class Project:
    """A project: its allowed addresses, models and service tiers, and its token limit."""

    id: str
    allowlist: tuple[str, ...] = ANYWHERE
    denied_models: frozenset[str] = frozenset()
    service_tiers: frozenset[str] = frozenset({"default", "flex", "priority"})
    tokens_per_minute: int | None = None


ACME = Organization("org-mock-acme")
HASTY = Organization("org-mock-tight", tier=TIGHT)
WALLED = Organization("org-mock-walled", allowlist=("203.0.113.0/24",))

WORK = Project("proj_mock_work")
ELSEWHERE = Project("proj_mock_elsewhere")
FENCED = Project("proj_mock_fenced", allowlist=("203.0.113.0/24",))
NEARBY = Project("proj_mock_nearby", allowlist=("127.0.0.0/8", "::1/128"))
NARROW = Project("proj_mock_narrow", denied_models=frozenset({"mock-large"}))
TIERLESS = Project("proj_mock_tierless", service_tiers=frozenset())
UNHURRIED = Project("proj_mock_unhurried", service_tiers=frozenset({"default", "flex"}))
CAPPED = Project("proj_mock_capped", tokens_per_minute=100_000)


@dataclass(frozen=True)
class Key:
    """A key. A legacy user key may name any of its `projects` (1:5.3)."""

    secret: str
    organization: Organization = ACME
    project: Project = WORK
    refusal: ErrorRow | None = None  # the 401 for any call
    spending_refusal: ErrorRow | None = None  # the 429 for any call that costs something
    scopes: frozenset[str] = frozenset()
    projects: tuple[Project, ...] = ()
    admin: bool = False

    @property
    def legacy(self) -> bool:
        """Whether it is a user key without a project of its own."""
        return bool(self.projects)


_TABLE = (
    Key("mock-pc-inference"),
    Key("mock-pc-elsewhere", project=ELSEWHERE),
    Key("mock-pc-legacy-user", projects=(WORK, NARROW)),
    Key("mock-pc-storage", scopes=frozenset({EXTERNAL_STORAGE})),
    Key("mock-pc-admin", admin=True, scopes=frozenset({EXTERNAL_STORAGE})),
    Key("mock-pc-tight", HASTY),
    Key("mock-pc-project-limit", project=CAPPED),
    Key("mock-pc-revoked", refusal=errors.REVOKED_KEY),
    Key("mock-pc-not-a-member", refusal=errors.NOT_A_MEMBER),
    Key("mock-pc-foreign", refusal=errors.FOREIGN_KEY),
    Key("mock-pc-fenced", project=FENCED),
    Key("mock-pc-walled", WALLED),
    Key("mock-pc-nearby", project=NEARBY),
    Key("mock-pc-narrow", project=NARROW),
    Key("mock-pc-tierless", project=TIERLESS),
    Key("mock-pc-unhurried", project=UNHURRIED),
    Key("mock-pc-quota", spending_refusal=errors.INSUFFICIENT_QUOTA),
    Key("mock-pc-billing", spending_refusal=errors.INSUFFICIENT_QUOTA),
    Key("mock-pc-credit", spending_refusal=errors.CREDIT_BALANCE_EXHAUSTED),
    Key("mock-pc-organization-spend", spending_refusal=errors.ORGANIZATION_SPEND_LIMIT_EXCEEDED),
    Key("mock-pc-project-spend", spending_refusal=errors.PROJECT_SPEND_LIMIT_EXCEEDED),
    Key("mock-pc-usage", spending_refusal=errors.ORGANIZATION_USAGE_LIMIT_EXCEEDED),
    Key("mock-pc-hard-limit", spending_refusal=errors.BILLING_HARD_LIMIT_REACHED),
    Key("mock-pc-paid-5", Organization("org-mock-paid-5", TIER_1)),
    Key("mock-pc-paid-1000", Organization("org-mock-paid-1000")),
)

KEYS = {key.secret: key for key in _TABLE}


UNIDENTIFIED = Key("")  # the key of a call before authentication
DEFAULT_KEY = "mock-pc-inference"  # the key that stands for an unknown one if the mock accepts any key


@dataclass(frozen=True)
class AccessToken:
    """A token of the exchange, as good as a key until it expires (1:5.3)."""

    expires_at: float
