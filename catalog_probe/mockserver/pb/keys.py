"""PB's projects, keys and OAuth tokens, and their states (1:5.2, 2:7.4, 2:8.3)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.mockserver.pb.errors import KEY_BLOCKED, KEY_LEAKED, KEY_RESTRICTED

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow


class Billing(StrEnum):
    """The billing state of a project (1:3, 2:7.4)."""

    NONE = "free tier"
    LINKED = "billing account linked"
    OFF = "billing account linked once, and switched off"


@dataclass(frozen=True)
class Project:
    """A cloud project. Limits apply to it, not to its keys (2:8.3)."""

    id: str
    tier: str = "tier1"
    billing: Billing = Billing.LINKED
    api_enabled: bool = True
    free_tier_region: bool = True  # whether the free tier is available in its region
    new_user: bool = False  # whether older models are closed to it (2:9)


@dataclass(frozen=True)
class Key:
    """A plain API key."""

    secret: str
    project: Project
    refusal: ErrorRow | None = None  # the 403 for any call (2:7.4)


@dataclass(frozen=True)
class OauthToken:
    """An OAuth token. The documents show no lifetime (1:5.2), so its state is fixed."""

    secret: str
    project: Project
    expired: bool = False


MAIN = Project("mock-main")
TIGHT = Project("mock-tight", tier="tight")
THRIFTY = Project("mock-thrifty", tier="thrifty")
FREE = Project("mock-free", tier="free", billing=Billing.NONE)

_KEYS = (
    Key("mock-pb-inference", MAIN),
    Key("mock-pb-restricted", MAIN, KEY_RESTRICTED),
    Key("mock-pb-leaked", MAIN, KEY_LEAKED),
    Key("mock-pb-blocked", MAIN, KEY_BLOCKED),
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

DEFAULT_KEY = "mock-pb-inference"  # the key that stands for an unknown one if the mock accepts any key

OAUTH_TOKENS = {token.secret: token for token in _TOKENS}

UNIDENTIFIED = Project("")  # the project of a call before authentication
