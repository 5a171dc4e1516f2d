"""A target: where the providers are, what stands for the stand-ins, with which keys, and what is allowed there."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.verdicts.confirmation import PENDING_DAYS
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.catalog.model.errors import UserError
from catalog_probe.probes.targets.look_ups import Rule, in_order

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from catalog_probe.catalog.model import Reason

EMBEDDED = "embedded"
"""The address of a provider that the plugin's own mock serves; filled in once the mock is ready."""

WRONG = "wrong"
"""The role of a key that cannot be right: every provider has it, so that no manifest names it."""

NOWHERE_KEY = "catalog-probe-key-that-does-not-exist"
"""The credential of role `wrong` where a target names no better one."""


class TargetError(UserError):
    """A target that cannot be used: one line saying which, where in it, and what to do."""


class Cost(StrEnum):
    """What a probe may do to the account it is run with."""

    FREE = "free"
    BILLABLE = "billable"
    DESTRUCTIVE = "destructive"
    DISRUPTIVE = "disruptive"


@dataclass(frozen=True, slots=True)
class Credential:
    """A key by role. `variable` is the environment variable it came from, or None for a literal of a mock target.

    `empty` says that the variable is set and holds nothing, as a CI sets one whose secret is missing.
    """

    role: str
    value: str | None
    variable: str | None = None
    empty: bool = False

    def __repr__(self) -> str:
        return f"Credential({self.role!r}, {'set' if self.value else 'missing'})"


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider as this target has it. Rates are requests a second, times are seconds, sizes are bytes.

    `expected` says that a run must have a verdict on it (docs/live.md). `unset` holds, by the place in its table, each
    environment variable that the target names and nobody has set.
    A provider without `base_url`, or with credentials of which none is set, is named by the target and not configured.
    """

    name: str
    addresses: Mapping[str, str] = field(default_factory=dict)
    expected: bool = False
    key_header: str = "authorization"
    key_scheme: str = ""
    key_query: str = ""
    """The parameter of the query that carries the key in place of a header."""
    header_prefix: str = ""
    id_prefix: str = ""
    grpc_package: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    credentials: Mapping[str, Credential] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    concurrency: int = 8
    rate: float | None = None
    max_requests: int | None = None
    max_tokens: int | None = None
    max_wait_s: float = 60.0
    timeout_s: float = 30.0
    max_body_bytes: int = 4_000_000
    ca_file: str = ""
    client_cert_file: str = ""
    unset: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    """Every environment variable that the target names, by the place in the provider's table."""
    rules: Mapping[str, Rule] = field(default_factory=dict)
    """How values that no variable names are found on the account, by value."""
    defaulted: frozenset[str] = frozenset()
    """The places in its table whose variable nobody has set, so that what stands there is the target's own."""
    vouched: frozenset[str] = frozenset()
    """Values that the account was seen to have."""
    unanswered: Mapping[str, Reason] = field(default_factory=dict)
    """Values that were looked up and of which nothing is known, and why: no answer came that speaks of the account."""
    real_name: str = ""
    """What the service is really called, for whoever names it so on a command line."""
    sdk_keys: tuple[str, ...] = ()
    """The environment variables from which its own SDKs take the key. Their values are never read."""
    set_sdk_keys: tuple[str, ...] = ()
    """Those of them that are set and not empty."""

    @property
    def budgeted(self) -> bool:
        """Whether all its lanes together may only send so much."""
        return self.max_requests is not None or self.max_tokens is not None

    @property
    def configured(self) -> bool:
        """Whether it is known where the provider is, and somebody has a key to it, or a variable kept for one."""
        return "base_url" in self.addresses and (not self.credentials or self.has_key or bool(self.empty_keys))

    @property
    def has_key(self) -> bool:
        """Whether any of its keys is set."""
        return any(credential.value is not None for credential in self.credentials.values())

    @property
    def empty_keys(self) -> tuple[str, ...]:
        """The roles whose variable is set and empty, in the target's order: the key that most records need is first."""
        return tuple(role for role, credential in self.credentials.items() if credential.empty)

    @property
    def first_gap(self) -> str:
        """What a provider without any key, or without an address, lacks first: its place in the table."""
        if "base_url" not in self.addresses:
            return "base_url"
        return f"credentials.{next(iter(self.empty_keys or self.credentials))}"

    @property
    def sought(self) -> tuple[Rule, ...]:
        """The rules of the values that nobody has set, in an order in which they can be asked."""
        return tuple(rule for rule in in_order(self.rules.values()) if rule.value not in self.values)

    @property
    def doubtful(self) -> Mapping[str, str]:
        """The values that somebody has set and that nobody has seen on the account; amounts name nothing there."""
        return {
            name: text
            for name, text in self.values.items()
            if name not in self.vouched and f"values.{name}" not in self.defaulted and not text.isdecimal()
        }

    def found_by(self, name: str) -> Rule | None:
        """The rule by which a value that nobody has set can be found with the keys at hand."""
        rule = self.rules.get(name)
        if rule is None or name in self.values or self.credential(rule.role).value is None:
            return None
        beside = all(each in self.values or self.found_by(each) for each in rule.rests_on)
        return rule if beside and rule.address in self.addresses else None

    def missing(self, place: str, target: str) -> str:
        """What to do about something that is not there, for instance `values.small_model`."""
        variable = self.unset.get(place)
        if not variable:
            return f"add providers.{self.name}.{place} to target {target!r}"
        role = place.removeprefix("credentials.")
        is_main_key = role == next(iter(self.credentials), None)
        value = f"what {self.set_sdk_keys[0]} holds" if is_main_key and self.set_sdk_keys else ""
        if self.credential(role).empty:
            return f"{variable} is set but empty; set it to {value or 'the key'}, or unset it"
        return f"set {variable} to {value}" if value else f"set {variable}"

    def mend(self, place: str) -> str:
        """What to do about something that is there and wrong."""
        variable = self.variables.get(place)
        return f"set {variable}" if variable else f"mend providers.{self.name}.{place} in the target"

    def credential(self, role: str) -> Credential:
        """The key of a role; `wrong` always has one, any other may be missing."""
        found = self.credentials.get(role)
        if found is None and role == WRONG:
            return Credential(role, NOWHERE_KEY)
        return found or Credential(role, None)

    def called(self, role: str) -> str:
        """What a person looks for who looks for the key of a role: its variable, where it has one."""
        return self.credential(role).variable or f"credential {role!r} of {self.name}"

    def address_called(self, service: str) -> str:
        """What a person looks for who looks for the address of a service: its variable, where it has one."""
        return self.variables.get(service) or f"{service} of {self.name}"

    def named_keys(self) -> Iterator[tuple[str, Credential]]:
        """Each key that is set, and the variable that stands for it in whatever is shown."""
        for credential in self.credentials.values():
            if credential.value:
                yield credential.variable or f"{self.name}_{credential.role}_key".upper(), credential


@dataclass(frozen=True, slots=True)
class Target:
    """Everything a run needs to know of the outside."""

    name: str
    live: bool
    allow: frozenset[Cost]
    providers: Mapping[str, Provider]
    reprobe_after_s: float = 0.0
    pending_days: int = PENDING_DAYS
    answered_by: AnsweredBy = AnsweredBy.PROVIDER

    @property
    def evidences(self) -> bool:
        """Whether what is seen there may be written into records: of a provider itself, live."""
        return self.live and self.answered_by is AnsweredBy.PROVIDER

    @property
    def embedded(self) -> bool:
        """Whether the plugin must start its own mock."""
        return any(EMBEDDED in provider.addresses.values() for provider in self.providers.values())

    @property
    def secret_variables(self) -> frozenset[str]:
        """The environment variables that it names as keys, set or not."""
        credentials = (each for provider in self.providers.values() for each in provider.credentials.values())
        sdk_keys = {name for provider in self.providers.values() for name in provider.sdk_keys}
        return frozenset(sdk_keys | {each.variable for each in credentials if each.variable is not None})

    @property
    def stand_ins(self) -> dict[str, str]:
        """The names of its providers by their real names, in small letters."""
        return {each.real_name.lower(): name for name, each in self.providers.items() if each.real_name}

    @property
    def expected(self) -> tuple[str, ...]:
        return tuple(name for name, provider in self.providers.items() if provider.expected)

    def shares_limits(self, name: str) -> bool:
        """Whether the lanes of a provider draw on one budget or, live, on the limits of one organization (2:8.2)."""
        found = self.providers.get(name)
        return found is not None and (self.live or found.budgeted)

    def only(self, names: Collection[str]) -> Target:
        """This target as if it had these providers alone."""
        return replace(self, providers={name: each for name, each in self.providers.items() if name in names})

    def with_values(self, found: Mapping[str, Mapping[str, str]]) -> Target:
        """This target with values that its accounts have, by provider; what it says already stays."""
        providers = {
            name: replace(
                provider,
                values={**found[name], **provider.values},
                vouched=provider.vouched | found[name].keys(),
            )
            if name in found
            else provider
            for name, provider in self.providers.items()
        }
        return replace(self, providers=providers)

    def with_unanswered(self, unanswered: Mapping[str, Mapping[str, Reason]]) -> Target:
        """This target with what could not be looked up, by provider and value."""
        providers = {
            name: replace(provider, unanswered=unanswered.get(name, {})) for name, provider in self.providers.items()
        }
        return replace(self, providers=providers)

    def before_look_ups(self) -> Target:
        """This target as if each value that can be found on its accounts were: for plans, which send nothing."""
        return self.with_values(
            {
                name: {rule.value: f"{{{rule.value}}}" for rule in provider.sought if provider.found_by(rule.value)}
                for name, provider in self.providers.items()
            }
        )

    @property
    def plain_keys(self) -> Mapping[str, str]:
        """The keys of a mock that its target spells out, by the variable that stands for each: no secrets."""
        if self.live:
            return {}
        keys = (key for provider in self.providers.values() for key in provider.named_keys())
        return {name: each.value for name, each in keys if each.variable is None and each.value}

    def served_by(self, addresses: Mapping[str, Mapping[str, str]]) -> Target:
        """This target with every embedded address replaced by where the mock says it listens.

        An embedded provider that the mock was not asked to serve is left out: nobody selected it.
        """
        providers = {}
        for name, provider in self.providers.items():
            if EMBEDDED in provider.addresses.values() and name not in addresses:
                continue
            found = dict(provider.addresses)
            for key, value in provider.addresses.items():
                if value == EMBEDDED:
                    if key not in addresses[name]:
                        raise TargetError(f"target {self.name!r}: the mock serves no {key} of provider {name}")
                    found[key] = addresses[name][key]
            providers[name] = replace(provider, addresses=found)
        return replace(self, providers=providers)


def is_loopback(host: str) -> bool:
    """Whether a host name or address never leaves this machine."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
