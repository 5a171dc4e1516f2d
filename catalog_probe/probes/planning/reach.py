"""Who can observe a record, and which obstacle keeps a target from it. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.assertion import Basis, Reach
from catalog_probe.catalog.model.exchange import ANSWER, SETUP
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.assertions import ANOTHER_REVISION, assertions
from catalog_probe.catalog.reading.facts import NOT_ON_THE_WIRE
from catalog_probe.probes.calls import LOOPBACK_SERVICES
from catalog_probe.probes.recipes.book import find_control, recipe_book
from catalog_probe.probes.targets import target_file
from catalog_probe.probes.targets.target import Cost, Credential, Provider

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Record
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.recipes.book import RecipeBook
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Target


def find_obstacle(recipe: Recipe, target: Target, allow: frozenset[Cost]) -> Reason | None:
    """Return the first thing that keeps a whole recipe, or one step of it, from being sent to a target, or None.

    Example: a billable recipe, and `allow` has `free` alone -> `cost-not-allowed`, "--allow billable".
    """
    provider = target.providers.get(recipe.provider)
    if provider is None:
        return Reason(
            ReasonCode.PROVIDER_NOT_CONFIGURED, f"target {target.name!r} has no [providers.{recipe.provider}]"
        )
    if not provider.is_configured:
        return Reason(ReasonCode.PROVIDER_NOT_CONFIGURED, provider.advise_missing(provider.first_gap, target.name))
    prohibition = find_prohibition(recipe, target, allow)
    if prohibition is not None:
        return prohibition
    missing = list_missing(recipe, provider)
    if not missing:
        return None
    if not provider.has_key and provider.empty_keys:  # a CI may lack all its secrets: name the main one
        return _explain_missing(provider, provider.first_gap, target)
    # A value that can be looked up goes last: anything else is in the way whatever the account has.
    return _explain_missing(provider, min(missing, key=lambda location: _can_look_up(provider, location)), target)


def find_prohibition(recipe: Recipe, target: Target, allow: frozenset[Cost]) -> Reason | None:
    """Return what keeps a recipe from being sent whatever keys and values the target has, or None.

    Example: live, a recipe that only a scenario of the mock provokes -> `provider-only-cause`.
    """
    provider = target.providers[recipe.provider]
    if target.live and recipe.not_live is not None:
        return Reason(*recipe.not_live)
    if target.live and recipe.needs_scenario and not target.upstream:
        return Reason(ReasonCode.PROVIDER_ONLY_CAUSE, "no request can provoke it")
    disallowed = [cost for cost in recipe.costs if cost not in allow]
    if disallowed:
        return Reason(ReasonCode.COST_NOT_ALLOWED, f"--allow {','.join(disallowed)}")
    if target.live and provider.limits.max_tokens is not None and recipe.tokens > provider.limits.max_tokens:
        limit = f"providers.{provider.name}.max_tokens = {provider.limits.max_tokens}"
        return Reason(ReasonCode.BEYOND_BUDGET, f"it may take {recipe.tokens} tokens, {limit}")
    return None


def list_missing(recipe: Recipe, provider: Provider) -> list[str]:
    """List the locations that a recipe needs and the provider's table lacks: keys, then addresses, then values.

    Example: `["credentials.tight", "values.small_model"]`.
    """
    services = {call.service for call in known_calls(recipe)} | recipe.services
    return [
        *(f"credentials.{role}" for role in _list_roles(recipe, provider) if provider.credential(role).value is None),
        *(service for service in sorted(services - LOOPBACK_SERVICES) if service not in provider.addresses),
        *(f"values.{name}" for name in sorted(recipe.needs) if name not in provider.values),
    ]


def services_without_control(recipe: Recipe) -> frozenset[str]:
    """List the services that a recipe asks besides the one whose address its control confirms.

    Example: the exchange of a token asks `mtls_auth_url`, and the control asks `base_url` -> `{"mtls_auth_url"}`.
    """
    control = find_control(recipe)
    confirmed = {control.service} if control is not None else set()
    services = {call.service for call in recipe.calls.values()} | recipe.services
    return frozenset(services - LOOPBACK_SERVICES - confirmed)


def list_obstacles(recipe: Recipe, target: Target, allow: frozenset[Cost]) -> dict[str, Reason]:
    """Return why labels of a recipe cannot be sent to a target: each label is a step of its own.

    Example: the call `denied_by_project` needs the key of a role that is not set, and `absent` does not ->
    `{"denied_by_project": credential-missing}`.
    """
    obstacles = {}
    for label in recipe.labels - {SETUP}:
        obstacle = find_obstacle(recipe.step_for_label(label), target, allow)
        if obstacle is not None:
            obstacles[label] = obstacle
    return obstacles


def find_lane_role(recipe: Recipe, provider: Provider) -> str | None:
    """Return the role of the lane on which a recipe is sent, or None if the provider has no key for it.

    That is the recipe's own role. If its key is missing and no call takes it, any lane with a control is as good: a
    request without a key, with a made-up one or with that of another role says nothing about the lane's key.
    Example: with the key `inference` alone, "compliance without a key" runs on the lane `inference`.
    """
    if recipe.uses_lane_key or provider.credential(recipe.credential).value is not None:
        return recipe.credential
    controls = recipe_book(recipe.provider).controls
    set_roles = (role for role, credential in provider.credentials.items() if credential.value is not None)
    return next((role for role in set_roles if role in controls), None)


def choose_lane(recipe: Recipe, provider: Provider) -> Recipe:
    """Return the recipe on the lane that its calls share; on another lane than its own, with that lane's control."""
    role = find_lane_role(recipe, provider) or recipe.credential
    return recipe if role == recipe.credential else replace(recipe, credential=role, control=None)


def known_calls(recipe: Recipe) -> list[Call]:
    """List the calls that are known before steps run. Steps ask the control's service, and those they declare."""
    control = find_control(recipe)
    return [*recipe.calls.values(), *([control] if control is not None else [])]


def _can_look_up(provider: Provider, location: str) -> bool:
    return location.startswith("values.") and provider.find_rule(location.removeprefix("values.")) is not None


def _explain_missing(provider: Provider, location: str, target: Target) -> Reason:
    table, _, name = location.rpartition(".")
    if table == "credentials":
        is_empty = provider.credential(name).empty
        code = ReasonCode.CREDENTIAL_EMPTY if is_empty else ReasonCode.CREDENTIAL_MISSING
    elif table == "values":
        if name in provider.unanswered_values:
            return provider.unanswered_values[name]
        code = ReasonCode.VALUE_NOT_FOUND if _can_look_up(provider, location) else ReasonCode.VALUE_MISSING
    else:
        code = ReasonCode.ADDRESS_MISSING
    return Reason(code, provider.advise_missing(location, target.name))


def _list_roles(recipe: Recipe, provider: Provider) -> list[str]:
    """List the roles of every key that a recipe's own calls and steps take, and of its lane if no other can be had."""
    roles = {call.credential_role(recipe.credential) for call in recipe.calls.values()} | recipe.roles
    if recipe.uses_lane_key or find_lane_role(recipe, provider) is None:
        roles |= {recipe.credential}
    return sorted(role for role in roles if role is not None)


@dataclass(frozen=True, slots=True)
class ExplainedReach:
    """A reach, and why it is no better: what it needs besides, or why no client can provoke it."""

    reach: Reach
    why: str = ""

    @property
    def rank(self) -> int:
        """0 for the reach with the fewest needs."""
        return list(Reach).index(self.reach)


# Why nothing is ever sent to a live provider -> who can still observe it. For any other reason, traffic shows it.
REACH_BY_REASON: Mapping[str, Reach] = {
    ReasonCode.NO_DOCUMENTED_SETUP: Reach.MOCK,
    ReasonCode.NOTHING_DOCUMENTED: Reach.OFF_WIRE,
    ReasonCode.NOT_ON_THE_WIRE: Reach.OFF_WIRE,
    ReasonCode.INVISIBLE_TO_CLIENT: Reach.OFF_WIRE,
    ReasonCode.SURFACE_OUT_OF_REACH: Reach.OFF_WIRE,
}

# What a record says of an assertion (`out_of_reach`) -> the best that its reach can be.
BEST_REACHES: Mapping[str, ExplainedReach] = {
    "": ExplainedReach(Reach.ONE_KEY),
    "needs-an-account-state": ExplainedReach(Reach.MORE, "an account in that state"),
    "only-the-provider": ExplainedReach(Reach.TRAFFIC, "only the provider can cause it"),
    NOT_ON_THE_WIRE: ExplainedReach(Reach.OFF_WIRE, "it is not on the wire"),
    ANOTHER_REVISION: ExplainedReach(Reach.MORE, "another revision than the usual one"),
}

NOTHING_DOCUMENTED = Reason(ReasonCode.NOTHING_DOCUMENTED, "all that the record states is assumed")
NO_RECIPE = Reason(ReasonCode.NO_RECIPE, "no recipe provokes it")
# Why a step without the lane's key needs no other key (item "no key" of 2:7.2 to 2:7.6): the rule for every such step,
# told once. Each provider has a row for a missing key and for one that it never gave, and neither names an account.
KEYLESS_STEPS = "such as steps without a key, or with a made-up one: they name no account, so all are answered alike"
MAY_NOT_COME = "the provider need not show it"
ONLY_SCENARIO = ExplainedReach(Reach.TRAFFIC, "no request can provoke it")


@dataclass(frozen=True, slots=True)
class ProviderReach:
    """The reach of everything that one provider's recipes observe.

    `one_key_provider` is the provider as the target would have it with nothing but the first key.
    """

    book: RecipeBook
    one_key_provider: Provider

    @classmethod
    def for_target(cls, book: RecipeBook, name: str, target: Target) -> ProviderReach:
        """Take the first key and its host, what they can look up on the account, and the target's own values."""
        provider = target.providers.get(name, Provider(name))
        keys = {role: Credential(role, "a key") for role in list(provider.credentials)[:1]}
        values = {value: text for value, text in provider.values.items() if _is_own(provider, f"values.{value}")}
        addresses = {service: url for service, url in provider.addresses.items() if _is_own(provider, service)}
        addresses["base_url"] = "the address of the key"
        one_key_provider = replace(provider, credentials=keys, values=values, addresses=addresses)
        one_key_target = replace(target, providers={name: one_key_provider})
        return cls(book, one_key_target.with_placeholder_values().providers[name])

    def recipe_reach(self, recipe: Recipe) -> ExplainedReach:
        """Return who can send a recipe, or one step of it, without its optional parts and other endpoints.

        Example: a billable recipe that needs `values.small_model` -> more, "cost billable, values.small_model".
        """
        if recipe.not_live is not None:
            return _reach_by_reason(Reason(*recipe.not_live))
        if recipe.needs_scenario:
            return ONLY_SCENARIO
        needs = [f"cost {cost}" for cost in recipe.costs if cost is not Cost.FREE]
        needs += list_missing(recipe, self.one_key_provider)
        needs += [MAY_NOT_COME] if any(call.may_not_come for call in recipe.calls.values()) else []
        return ExplainedReach(Reach.MORE, ", ".join(needs)) if needs else ExplainedReach(Reach.ONE_KEY)

    def label_reach(self, address: str, label: str) -> ExplainedReach:
        """Return who can observe what a record documents under one label: whoever can send that step.

        Example: the label `limited` is sent by a disruptive part of a free recipe -> more, "cost disruptive".
        """
        recipe = self.book.recipes.get(address)
        if recipe is None:
            return _reach_by_reason(self.book.unprobed.get(address, NO_RECIPE))
        if label not in recipe.labels:
            return ExplainedReach(Reach.TRAFFIC, "nothing is sent under its label")
        return self.recipe_reach(recipe.step_for_label(label))

    def assertion_reach(self, assertion: Assertion) -> ExplainedReach:
        """Return who can observe an assertion: no more than its recipe shows, nor than its record says.

        Example: the recipe needs one key, and the record says `only-the-provider` -> traffic only.
        """
        labels = (assertion.key.label, *assertion.compared_labels)
        label_reaches = (self.label_reach(assertion.address, label) for label in labels)
        return worst_reach(*label_reaches, BEST_REACHES[assertion.out_of_reach])

    def record_reach(self, record: Record, catalog: Catalog) -> ExplainedReach:
        """Return who can observe any documented assertion that the recipe of a record asks for."""
        address = str(record.address)
        recipe = self.book.recipes.get(address)
        if recipe is None:
            return self.label_reach(address, ANSWER)
        sent = [
            assertion for assertion in assertions(record, catalog.__getitem__) if assertion.key.label in recipe.labels
        ]
        documented = [assertion for assertion in sent if assertion.basis is Basis.DOCUMENTED]
        if not documented:
            return _reach_by_reason(NOTHING_DOCUMENTED)
        return best_reach(map(self.assertion_reach, documented))

    def has_recipe_for(self, assertion: Assertion) -> bool:
        """Whether something is sent under the assertion's label."""
        recipe = self.book.recipes.get(assertion.address)
        return recipe is not None and assertion.key.label in recipe.labels

    def can_observe(self, assertion: Assertion, target: Target) -> bool:
        """Whether a target, with its keys, values and allowed costs, can ask for an assertion."""
        recipe = self.book.recipes.get(assertion.address)
        labels = {assertion.key.label, *assertion.compared_labels}
        if recipe is None or not labels <= recipe.labels:
            return False
        steps = map(recipe.step_for_label, labels)
        return all(find_obstacle(step, target, target.allow) is None for step in steps)


def provider_reaches(books: Mapping[str, RecipeBook], target: Target) -> dict[str, ProviderReach]:
    """Return the reach of each provider. If the target is a mock, the shipped live target says what one key has.

    Raises:
        TargetError: the shipped live target cannot be read.
    """
    live_target = target if target.live else target_file.load("live", {})
    return {
        name: ProviderReach.for_target(book, name, live_target if name in live_target.providers else target)
        for name, book in books.items()
    }


def best_reach(reaches: Iterable[ExplainedReach]) -> ExplainedReach:
    """Return the reach with the fewest needs; the first of several."""
    return min(reaches, key=lambda reach: reach.rank)


def worst_reach(*reaches: ExplainedReach) -> ExplainedReach:
    """Return the reach with the most needs; the first of several."""
    return max(reaches, key=lambda reach: reach.rank)


def _is_own(provider: Provider, location: str) -> bool:
    """Whether the target itself says what is there, and not a variable that somebody set."""
    return location not in provider.variables.named or location in provider.variables.defaulted


def _reach_by_reason(reason: Reason) -> ExplainedReach:
    return ExplainedReach(REACH_BY_REASON.get(reason.code, Reach.TRAFFIC), reason.detail)
