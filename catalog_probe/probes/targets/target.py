"""A target: where the providers are, keys, what is allowed, and API revisions."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.earlier_runs import PENDING_DAYS
from catalog_probe.catalog.files.manifest import USUAL_ADDRESS, Revisions, manifest, with_stand_in
from catalog_probe.catalog.model.errors import UserError, suggest_similar
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.text.credential_names import is_credential_name
from catalog_probe.probes.targets.look_ups import LookUpRule, order_rules

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Reason
    from catalog_probe.catalog.model.layers import Layer


# The address of a provider that the plugin's own mock serves; replaced once the mock is ready.
EMBEDDED = "embedded"

# The end of the names of values that are models. Such a value may be shown, and every other one may be a secret.
MODEL_SUFFIX = "_model"

# The role of a key that does not exist. Every provider has it, so no manifest names it.
WRONG_KEY = "wrong"

# The key of this role if a target names none.
NONEXISTENT_KEY = "catalog-probe-key-that-does-not-exist"


class TargetError(UserError):
    """A target that cannot be used: which, where in it, and what to do, in one line."""


class Cost(StrEnum):
    """What a probe may do to the account it is run with."""

    FREE = "free"
    BILLABLE = "billable"
    DESTRUCTIVE = "destructive"
    DISRUPTIVE = "disruptive"
    SLOW = "slow"  # harms nothing, and waits for up to twenty minutes


@dataclass(frozen=True, slots=True)
class Credential:
    """A key by role.

    `variable` is the environment variable that it came from, or None for a literal of a mock target. `empty` says that
    the variable is set and holds nothing, as a CI does whose secret is missing.
    """

    role: str
    value: str | None
    variable: str | None = None
    empty: bool = False

    def __repr__(self) -> str:
        return f"Credential({self.role!r}, {'set' if self.value else 'missing'})"


@dataclass(frozen=True, slots=True)
class Variables:
    """The environment variables that a provider's table names, by location; one for each `"env:NAME"`.

    A location names an entry of the table. Example: `values.small_model` -> `PA_SMALL_MODEL`.

    Attributes:
        named: location -> variable, of every variable.
        unset: location -> variable, of those that nobody has set.
        defaulted: the locations whose variable is not set, so that the target's default is used.
        withheld: the services that have a default address and are not asked there, because a variable replaces that of
            `base_url`. Whoever names a server of their own means no request for anybody else's.
    """

    named: Mapping[str, str] = field(default_factory=dict)
    unset: Mapping[str, str] = field(default_factory=dict)
    defaulted: frozenset[str] = frozenset()
    withheld: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How fast a run asks a provider, how much at most, and how long it waits: lines of the provider's table.

    Attributes:
        concurrency: probes of one key at once.
        rate: requests a second for each key; None for as many as the provider takes.
        max_requests: requests of one run, all keys together.
        max_tokens: tokens of one run, all keys together.
        max_wait_s: seconds; a longer Retry-After ends the lane.
        timeout_s: seconds for one exchange.
        max_body_bytes: bytes of an answer that are read, decoded.
    """

    concurrency: int = 8
    rate: float | None = None
    max_requests: int | None = None
    max_tokens: int | None = None
    max_wait_s: float = 60.0
    timeout_s: float = 30.0
    max_body_bytes: int = 4_000_000


@dataclass(frozen=True, slots=True)
class Provider:
    """One provider as a target has it. The settings have the names of their lines in the file, e.g. `ca_file`.

    Attributes:
        expected: whether a run must have a verdict on it (docs/live.md).
        key_query: the query parameter that carries the key in place of a header.
        variables: the environment variables that the table names.
        rules: how values that no variable names are looked up on the account, by value.
        confirmed_values: values that the account was seen to have.
        unanswered_values: values that were looked up without an answer, and why.
        sdk_keys: the variables from which its own SDKs take the key. The first that is set counts as the first
            credential if nobody has set that and no request goes to another server.
        set_sdk_keys: those of them that are set and not empty.
        other_server: the variable that names another server, e.g. OPENAI_BASE_URL, so that no key of an SDK counts.
    """

    name: str
    addresses: Mapping[str, str] = field(default_factory=dict)
    expected: bool = False
    key_header: str = "authorization"
    key_scheme: str = ""
    key_query: str = ""
    header_prefix: str = ""
    id_prefix: str = ""
    grpc_package: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    credentials: Mapping[str, Credential] = field(default_factory=dict)
    values: Mapping[str, str] = field(default_factory=dict)
    limits: RunLimits = field(default_factory=RunLimits)
    ca_file: str = ""
    client_cert_file: str = ""
    variables: Variables = field(default_factory=Variables)
    rules: Mapping[str, LookUpRule] = field(default_factory=dict)
    confirmed_values: frozenset[str] = frozenset()
    unanswered_values: Mapping[str, Reason] = field(default_factory=dict)
    sdk_keys: tuple[str, ...] = ()
    set_sdk_keys: tuple[str, ...] = ()
    other_server: str = ""

    @property
    def has_budget(self) -> bool:
        """Whether all its lanes together may only send so much."""
        return self.limits.max_requests is not None or self.limits.max_tokens is not None

    @property
    def is_configured(self) -> bool:
        """Whether it has an address, and a key or a variable for one if it needs any."""
        return USUAL_ADDRESS in self.addresses and (not self.credentials or self.has_key or bool(self.empty_keys))

    @property
    def has_key(self) -> bool:
        """Whether any of its keys is set."""
        return any(credential.value is not None for credential in self.credentials.values())

    @property
    def secret_header_variables(self) -> Mapping[str, str]:
        """Header -> the variable that its value came from, of headers that hold a key, such as that of a gateway."""
        variables = {header: self.variables.named.get(f"headers.{header}", "") for header in self.headers}
        return {header: name for header, name in variables.items() if name and is_credential_name(header)}

    @property
    def used_sdk_key(self) -> str:
        """The variable of its SDK from which its first credential came, or an empty string."""
        first = next(iter(self.credentials.values()), None)
        return first.variable or "" if first is not None and first.value and first.variable in self.sdk_keys else ""

    @property
    def empty_keys(self) -> tuple[str, ...]:
        """The roles whose variable is set and empty; the key that most records need is first."""
        return tuple(role for role, credential in self.credentials.items() if credential.empty)

    @property
    def first_gap(self) -> str:
        """The location of the first thing that a provider without an address or without any key lacks."""
        if USUAL_ADDRESS not in self.addresses:
            return USUAL_ADDRESS
        return f"credentials.{next(iter(self.empty_keys or self.credentials))}"

    @property
    def rules_to_follow(self) -> tuple[LookUpRule, ...]:
        """The rules of the values that nobody has set, each after those that it rests on."""
        return tuple(rule for rule in order_rules(self.rules.values()) if rule.value not in self.values)

    @property
    def unconfirmed_values(self) -> Mapping[str, str]:
        """The values that somebody set and that the account was not seen to have, but for numbers."""
        return {
            name: text
            for name, text in self.values.items()
            if name not in self.confirmed_values
            and f"values.{name}" not in self.variables.defaulted
            and not text.isdecimal()
        }

    def find_rule(self, name: str) -> LookUpRule | None:
        """Return the rule by which an unset value can be looked up with the keys at hand, or None.

        None as well if the rule rests on another value that is neither set nor can be looked up.
        """
        rule = self.rules.get(name)
        if rule is None or name in self.values or self.credential(rule.role).value is None:
            return None
        has_dependencies = all(value in self.values or self.find_rule(value) for value in rule.rests_on)
        return rule if has_dependencies and rule.address in self.addresses else None

    def advise_missing(self, location: str, target: str) -> str:
        """Return what to do about something that is missing.

        Example: `values.small_model` -> "set PA_SMALL_MODEL"; without a variable, "add providers.pa.values.small_model
        to target 'live'".
        """
        variable = self.variables.unset.get(location)
        if not variable:
            return f"add providers.{self.name}.{location} to target {target!r}"
        if location in self.variables.withheld:
            usual = self.variables.named[USUAL_ADDRESS]
            return f"set {variable}; its default is not asked while {usual} names another server"
        role = location.removeprefix("credentials.")
        is_main_key = role == next(iter(self.credentials), None)
        value = f"what {self.set_sdk_keys[0]} holds" if is_main_key and self.set_sdk_keys else ""
        if self.credential(role).empty:
            return f"{variable} is set but empty; set it to {value or 'the key'}, or unset it"
        reason = f", which does not count while {self.other_server} is set" if value and self.other_server else ""
        return f"set {variable} to {value}{reason}" if value else f"set {variable}"

    def advise_wrong(self, location: str) -> str:
        """Return what to do about something that is there and wrong, e.g. "set PA_BASE_URL"."""
        variable = self.variables.named.get(location)
        return f"set {variable}" if variable else f"mend providers.{self.name}.{location} in the target"

    def credential(self, role: str) -> Credential:
        """Return the key of a role. `wrong` always has one, any other may be missing."""
        credential = self.credentials.get(role)
        if credential is None:
            return Credential(role, NONEXISTENT_KEY if role == WRONG_KEY else None)
        return credential

    def key_name(self, role: str) -> str:
        """Return what a person looks for to find the key of a role: its variable, if it has one."""
        return self.credential(role).variable or f"credential {role!r} of {self.name}"

    def address_name(self, service: str) -> str:
        """Return what a person looks for to find the address of a service: its variable, if it has one."""
        return self.variables.named.get(service) or f"{service} of {self.name}"

    def list_keys(self) -> Iterator[tuple[str, Credential]]:
        """Yield each key that is set, with the variable that replaces it in everything that is shown."""
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
    leave_out: frozenset[Layer] = frozenset()
    """The layers of a compatible server that are not judged."""
    upstream: str = ""
    """Address of our own mock behind a compatible server, e.g. `http://127.0.0.1:8000`: its faults go through."""

    @property
    def is_compatible(self) -> bool:
        """Whether it is a server of somebody else's that answers like a provider: its records are judged alone."""
        return self.answered_by is AnsweredBy.COMPATIBLE

    @property
    def can_write_evidence(self) -> bool:
        """Whether records may be updated from it: live, and answered by the providers themselves."""
        return self.live and self.answered_by is AnsweredBy.PROVIDER

    @property
    def needs_embedded_mock(self) -> bool:
        """Whether the plugin must start its own mock."""
        return any(EMBEDDED in provider.addresses.values() for provider in self.providers.values())

    @property
    def secret_variables(self) -> frozenset[str]:
        """The environment variables that it names as keys, set or not."""
        variables: set[str] = set()
        for provider in self.providers.values():
            variables.update(provider.sdk_keys, provider.secret_header_variables.values())
            variables.update(key.variable for key in provider.credentials.values() if key.variable is not None)
        return frozenset(variables)

    @property
    def expected_providers(self) -> tuple[str, ...]:
        return tuple(name for name, provider in self.providers.items() if provider.expected)

    @property
    def literal_keys(self) -> Mapping[str, str]:
        """The keys that a mock's target spells out, by the variable that replaces each in evidence: no secrets."""
        if self.live:
            return {}
        keys = (key for provider in self.providers.values() for key in provider.list_keys())
        return {name: key.value for name, key in keys if key.variable is None and key.value}

    def shares_limits(self, name: str) -> bool:
        """Whether a provider's lanes share a budget or, live, the limits of one organization (2:8.2)."""
        provider = self.providers.get(name)
        return provider is not None and (self.live or provider.has_budget)

    def restrict_to(self, names: Collection[str]) -> Target:
        """Return a copy with these providers only."""
        return replace(self, providers={name: self.providers[name] for name in self.providers if name in names})

    def with_values(self, values_by_provider: Mapping[str, Mapping[str, str]]) -> Target:
        """Return a copy with values that its accounts have; values that are set already stay."""
        providers = dict(self.providers)
        for name, values in values_by_provider.items():
            if name in providers:
                provider = providers[name]
                providers[name] = replace(
                    provider,
                    values={**values, **provider.values},
                    confirmed_values=provider.confirmed_values | values.keys(),
                )
        return replace(self, providers=providers)

    def with_unanswered(self, unanswered: Mapping[str, Mapping[str, Reason]]) -> Target:
        """Return a copy with the values that could not be looked up, by provider and value."""
        providers = {
            name: replace(provider, unanswered_values=unanswered.get(name, {}))
            for name, provider in self.providers.items()
        }
        return replace(self, providers=providers)

    def with_placeholder_values(self) -> Target:
        """Return a copy as if each value that can be looked up were found: for plans, which send nothing."""
        return self.with_values(
            {
                name: {
                    rule.value: f"{{{rule.value}}}"
                    for rule in provider.rules_to_follow
                    if provider.find_rule(rule.value)
                }
                for name, provider in self.providers.items()
            }
        )

    def with_addresses(self, addresses: Mapping[str, Mapping[str, str]]) -> Target:
        """Return a copy with each embedded address replaced by the one at which the mock listens.

        An embedded provider that the mock was not asked to serve is left out: nobody selected it.
        """
        providers = {}
        for name, provider in self.providers.items():
            if EMBEDDED in provider.addresses.values() and name not in addresses:
                continue
            own_addresses = dict(provider.addresses)
            for service, address in provider.addresses.items():
                if address == EMBEDDED:
                    if service not in addresses[name]:
                        raise TargetError(f"target {self.name!r}: the mock serves no {service} of provider {name}")
                    own_addresses[service] = addresses[name][service]
            providers[name] = replace(provider, addresses=own_addresses)
        return replace(self, providers=providers)


def is_loopback(host: str) -> bool:
    """Whether a host name or address never leaves this machine, e.g. `localhost`, `127.0.0.1` or `::1`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class RevisionError(UserError):
    """A revision that no provider can be asked under."""


def usual_revision(provider: Provider) -> str:
    """Return the revision that a provider is asked under each night; empty if no header selects one.

    It is what the target always sends, else the default of the manifest.
    """
    revisions = _header_revisions(provider.name)
    if revisions is None:
        return ""
    return provider.headers.get(revisions.header, "") or revisions.default


def select_revisions(target: Target, texts: Sequence[str], selected: Iterable[str]) -> dict[str, str]:
    """Return provider -> revision, of those that replace the usual ones.

    Each of `texts` is `VALUE`, for the selected providers that know the value, or `PROVIDER:VALUE` with any value.
    Example: `["pa:2024-01-01"]` -> `{"pa": "2024-01-01"}`.

    Raises:
        RevisionError: no provider can be asked under one of them.
    """
    providers = {name: target.providers[name] for name in selected if name in target.providers}
    revisions: dict[str, str] = {}
    for text in texts:
        revisions |= _parse_revision(providers, text)
    return {name: value for name, value in revisions.items() if value != usual_revision(providers[name])}


def explain_no_revision(name: str) -> str:
    """Return why a provider cannot be asked under a revision."""
    if manifest(name).revisions is not None:
        return f"{name} has its revisions in the path: each is an endpoint of its own, and every run asks them all"
    return f"of {name} no revision is documented"


def with_revisions(target: Target, revisions: Mapping[str, str]) -> Target:
    """Return the target with each provider asked under the given revision, else its usual one."""
    providers = {}
    for name, provider in target.providers.items():
        header_revisions = _header_revisions(name)
        value = revisions.get(name, usual_revision(provider))
        if header_revisions is not None and value:
            provider = replace(provider, headers={**provider.headers, header_revisions.header: value})
        providers[name] = provider
    return replace(target, providers=providers)


def _parse_revision(providers: Mapping[str, Provider], text: str) -> dict[str, str]:
    named, colon, value = text.partition(":")
    name = with_stand_in(named.lower())
    if colon and name in providers:
        if not value:
            raise RevisionError(f"--revision {text}: names no revision", f"write {name}:VALUE")
        if _header_revisions(name) is None:
            raise RevisionError(f"--revision {text}: {explain_no_revision(name)}", "leave it out")
        return {name: value}
    known_values = {}
    for provider_name in providers:
        revisions = _header_revisions(provider_name)
        known_values[provider_name] = () if revisions is None else revisions.values
    selected = {provider_name: text for provider_name, values in known_values.items() if text in values}
    if not selected:
        pairs = [(provider_name, value) for provider_name, values in known_values.items() for value in values]
        listing = ", ".join(f"{provider_name}:{value}" for provider_name, value in pairs)
        mend = suggest_similar(text, [value for _, value in pairs])
        mend = mend or (f"they are {listing}" if listing else "no provider here has any")
        raise RevisionError(f"--revision {text}: no provider here knows it", f"{mend}; any other as PROVIDER:VALUE")
    return selected


def _header_revisions(name: str) -> Revisions | None:
    """Return the revisions of a provider if a header selects them."""
    revisions = manifest(name).revisions
    return revisions if revisions is not None and revisions.header else None
