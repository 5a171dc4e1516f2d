"""PD's keys and teams: their ACLs, states and limits (1:2.6, 1:5.4, 2:7.6, 2:8.5)."""

from __future__ import annotations

from dataclasses import dataclass

ENDPOINT_ACL = "api-key:endpoint:"
MODEL_ACL = "api-key:model:"
ALL = "*"
EVERYTHING = (ENDPOINT_ACL + ALL, MODEL_ACL + ALL)


@dataclass(frozen=True)
class Team:
    """A team: its state, its credit, and its limits for each model (2:8.5)."""

    id: str
    blocked: bool = False
    zero_data_retention: bool = False
    server_tools: bool = True
    prepaid_credit_usd: float = 100.0
    requests_per_second: float = 8
    tokens_per_minute: int = 1_000_000

    @property
    def can_pay(self) -> bool:
        """Whether prepaid credit covers one more request. No team has an invoiced limit."""
        return self.prepaid_credit_usd > 0


ACME = Team("00000000-0000-4000-8000-000000000001")
BLOCKED = Team("00000000-0000-4000-8000-000000000002", blocked=True)
DISCREET = Team("00000000-0000-4000-8000-000000000003", zero_data_retention=True)
PLAIN = Team("00000000-0000-4000-8000-000000000004", server_tools=False)
SLOW = Team("00000000-0000-4000-8000-000000000005", requests_per_second=1 / 60)
TERSE = Team("00000000-0000-4000-8000-000000000006", requests_per_second=1_000, tokens_per_minute=8)
BROKE = Team("00000000-0000-4000-8000-000000000007", prepaid_credit_usd=0.0)
LABS = Team("00000000-0000-4000-8000-000000000008")
AMPLE = Team("00000000-0000-4000-8000-00000000000a", requests_per_second=1_000)
"""A team whose keys reach their own caps before a limit of the team."""


@dataclass(frozen=True)
class Key:
    """A key of the inference API. A cap of None is no cap (2:8.5)."""

    secret: str
    name: str
    team: Team = ACME
    acls: tuple[str, ...] = EVERYTHING
    blocked: bool = False
    disabled: bool = False
    queries_per_second: float | None = None
    queries_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def allows(self, acl: str, name: str) -> bool:
        """Return whether the key holds an ACL, by name or by wildcard."""
        return acl + name in self.acls or acl + ALL in self.acls


_TABLE = (
    Key("mock-pd-inference", "everything"),
    Key("mock-pd-labs", "a team with early access", LABS),
    Key("mock-pd-no-endpoint", "may list models only", acls=(ENDPOINT_ACL + "models", MODEL_ACL + ALL)),
    Key("mock-pd-no-acl", "every model, and no endpoint", acls=(MODEL_ACL + ALL,)),
    Key("mock-pd-no-model", "one model only", acls=(ENDPOINT_ACL + ALL, MODEL_ACL + "mock-reasoning")),
    Key("mock-pd-disabled", "switched off", disabled=True),
    Key("mock-pd-blocked", "blocked", blocked=True),
    Key("mock-pd-team-blocked", "of a blocked team", BLOCKED),
    Key("mock-pd-zdr", "nothing is retained", DISCREET),
    Key("mock-pd-no-server-tools", "without server-side tools", PLAIN),
    Key("mock-pd-tight", "one request a minute and model", SLOW),
    Key("mock-pd-tight-sibling", "another of the same team", SLOW),
    Key("mock-pd-tight-tokens", "few tokens a minute and model", TERSE),
    Key("mock-pd-capped", "one query a minute", AMPLE, queries_per_minute=1),
    Key("mock-pd-capped-second", "one query a second", AMPLE, queries_per_second=1),
    Key("mock-pd-capped-tokens", "few tokens a minute", AMPLE, tokens_per_minute=8),
    Key("mock-pd-depleted", "no credit left", BROKE),
)

KEYS = {key.secret: key for key in _TABLE}

UNIDENTIFIED = Key("", "not identified yet", acls=())

DEFAULT_KEY = "mock-pd-inference"  # the key that stands for an unknown one if the mock accepts any key

MANAGEMENT_KEYS = frozenset({"mock-pd-management"})
"""Keys of the management API, which the inference API does not accept, and vice versa (1:5.4)."""
