"""PC's keys, projects and organizations: who may do what, from where, and in what standing (1:5.3, 2:7.5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pc.limits.tiers import TIER_1, TIER_5, TIGHT

EXTERNAL_STORAGE = "api.external_storage.read"
"""The one scope that the documents name."""

ANYWHERE = ("0.0.0.0/0", "::/0")


class State(StrEnum):
    """Whether the key can be used at all; all but ACTIVE are answered 401 without a code (2:7.5)."""

    ACTIVE = "active"
    REVOKED = "revoked"
    NOT_A_MEMBER = "its user is no member of the organization"
    FOREIGN = "it belongs to another organization"


class Standing(StrEnum):
    """Whether the owner of the key may still spend money; `limits` has the 429 of each (2:7.5)."""

    GOOD = ""
    QUOTA = "insufficient_quota"
    CREDIT = "credit_balance_exhausted"
    ORGANIZATION_SPEND = "organization_spend_limit_exceeded"
    PROJECT_SPEND = "project_spend_limit_exceeded"
    USAGE = "organization_usage_limit_exceeded"
    HARD_LIMIT = "billing_hard_limit_reached"


@dataclass(frozen=True)
class Organization:
    """An organization: its tier, where it may be used from, and whether it is enabled for early models."""

    id: str
    tier: str = TIER_5
    early_access: bool = False
    allowlist: tuple[str, ...] = ANYWHERE


@dataclass(frozen=True)
class Project:
    """A project: where it may be used from, which models and service tiers it allows, and its own token limit."""

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
    """One key. A legacy user key belongs to no project, and may name any of its `projects` (1:5.3)."""

    secret: str
    organization: Organization = ACME
    project: Project = WORK
    state: State = State.ACTIVE
    standing: Standing = Standing.GOOD
    scopes: frozenset[str] = frozenset()
    projects: tuple[Project, ...] = ()
    admin: bool = False

    @property
    def legacy(self) -> bool:
        """Whether it is a user key from before there were projects."""
        return bool(self.projects)


_TABLE = (
    Key("mock-pc-inference"),
    Key("mock-pc-elsewhere", project=ELSEWHERE),
    Key("mock-pc-legacy-user", projects=(WORK, NARROW)),
    Key("mock-pc-storage", scopes=frozenset({EXTERNAL_STORAGE})),
    Key("mock-pc-admin", admin=True, scopes=frozenset({EXTERNAL_STORAGE})),
    Key("mock-pc-tight", HASTY),
    Key("mock-pc-project-limit", project=CAPPED),
    Key("mock-pc-revoked", state=State.REVOKED),
    Key("mock-pc-not-a-member", state=State.NOT_A_MEMBER),
    Key("mock-pc-foreign", state=State.FOREIGN),
    Key("mock-pc-fenced", project=FENCED),
    Key("mock-pc-fenced-organization", WALLED),
    Key("mock-pc-nearby", project=NEARBY),
    Key("mock-pc-narrow", project=NARROW),
    Key("mock-pc-tierless", project=TIERLESS),
    Key("mock-pc-unhurried", project=UNHURRIED),
    Key("mock-pc-quota", standing=Standing.QUOTA),
    Key("mock-pc-billing", standing=Standing.QUOTA),
    Key("mock-pc-credit", standing=Standing.CREDIT),
    Key("mock-pc-organization-spend", standing=Standing.ORGANIZATION_SPEND),
    Key("mock-pc-project-spend", standing=Standing.PROJECT_SPEND),
    Key("mock-pc-usage", standing=Standing.USAGE),
    Key("mock-pc-hard-limit", standing=Standing.HARD_LIMIT),
    Key("mock-pc-paid-5", Organization("org-mock-paid-5", TIER_1)),
    Key("mock-pc-paid-1000", Organization("org-mock-paid-1000")),
)

KEYS = {key.secret: key for key in _TABLE}


@dataclass
class Federated:
    """The access tokens that the token exchange handed out in a session, and when each expires."""

    expires_at: BoundedStore[str, float] = field(default_factory=BoundedStore)

    def key(self, secret: str, now: float) -> Key | None:
        """The key that a token stands for while it lives."""
        return Key(secret) if self.expires_at.get(secret, now) > now else None
