"""PB's projects, keys and tokens: one table of who may do what, and in what state (1:5.2, 2:7.4, 2:8.3)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Billing(StrEnum):
    """Whether a project can pay (1:3, 2:7.4)."""

    NONE = "free tier"
    LINKED = "billing account linked"
    OFF = "billing account linked once, and switched off"


class State(StrEnum):
    """Whether a key can be used; all but ACTIVE are answered 403 (2:7.4)."""

    ACTIVE = "active"
    RESTRICTED = "restricted"
    LEAKED = "leaked"
    BLOCKED = "blocked"


@dataclass(frozen=True)
class Project:
    """A cloud project: limits apply to it, not to its keys (2:8.3)."""

    id: str
    tier: str = "tier1"
    billing: Billing = Billing.LINKED
    api_enabled: bool = True
    free_tier_region: bool = True
    """Whether the free tier is available where its requests come from."""
    new_user: bool = False
    """Whether it began after the older models were closed to new users (2:9)."""


@dataclass(frozen=True)
class Key:
    """A plain API key."""

    secret: str
    project: Project
    state: State = State.ACTIVE


@dataclass(frozen=True)
class OauthToken:
    """An OAuth token. How long one lives is not shown (1:5.2); these have always been what they are."""

    secret: str
    project: Project
    expired: bool = False


MAIN = Project("mock-main")
TIGHT = Project("mock-tight", tier="tight")
THRIFTY = Project("mock-thrifty", tier="thrifty")
FREE = Project("mock-free", tier="free", billing=Billing.NONE)

_KEYS = (
    Key("mock-pb-inference", MAIN),
    Key("mock-pb-restricted", MAIN, State.RESTRICTED),
    Key("mock-pb-leaked", MAIN, State.LEAKED),
    Key("mock-pb-blocked", MAIN, State.BLOCKED),
    Key("mock-pb-stranger", Project("mock-stranger")),
    Key("mock-pb-newcomer", Project("mock-newcomer", new_user=True)),
    Key("mock-pb-api-not-enabled", Project("mock-dormant", api_enabled=False)),
    Key("mock-pb-billing-off", Project("mock-unpaid", billing=Billing.OFF)),
    Key("mock-pb-free", FREE),
    Key("mock-pb-region", Project("mock-remote", tier="free", billing=Billing.NONE, free_tier_region=False)),
    Key("mock-pb-tight", TIGHT),
    Key("mock-pb-tight-other", TIGHT),
    Key("mock-pb-thrifty", THRIFTY),
    Key("mock-pb-tier2", Project("mock-grown", tier="tier2")),
    Key("mock-pb-scale", Project("mock-scale", tier="tier3")),
)
_TOKENS = (
    OauthToken("mock-pb-oauth", MAIN),
    OauthToken("mock-pb-oauth-expired", MAIN, expired=True),
)

KEYS = {key.secret: key for key in _KEYS}

USUAL = "mock-pb-inference"
"""As which key any other is taken, where the mock lets any pass."""

OAUTH_TOKENS = {token.secret: token for token in _TOKENS}

NOBODY = Project("")
"""Who calls before it is known who does."""
