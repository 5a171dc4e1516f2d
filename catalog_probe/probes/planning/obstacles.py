"""Whether a recipe may and can be probed on a target, and if not, why. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.services import LOOPBACK_SERVICES
from catalog_probe.probes.recipes.book import find_control
from catalog_probe.probes.recipes.recipe import NO_OTHER_ENDPOINTS

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.recipe import EndpointPlan, Recipe
    from catalog_probe.probes.targets.target import Cost, Provider, Target


def obstacle(recipe: Recipe, target: Target, allow: frozenset[Cost]) -> Reason | None:
    """The first thing that keeps a record from being probed here, or None."""
    provider = target.providers.get(recipe.provider)
    if provider is None:
        return Reason(
            ReasonCode.PROVIDER_NOT_CONFIGURED, f"target {target.name!r} has no [providers.{recipe.provider}]"
        )
    if not provider.configured:
        return Reason(ReasonCode.PROVIDER_NOT_CONFIGURED, provider.missing(provider.first_gap, target.name))
    forbidden = barred(recipe, target, allow)
    if forbidden is not None:
        return forbidden
    wanting = lacking(recipe, provider)
    if not wanting:
        return None
    if not provider.has_key and provider.empty_keys:  # a CI may hand over all its missing secrets: name the main one
        return _wanting(provider, provider.first_gap, target)
    return _wanting(provider, min(wanting, key=lambda place: _sought(provider, place)), target)


def barred(recipe: Recipe, target: Target, allow: frozenset[Cost]) -> Reason | None:
    """What keeps a record from being probed here whatever the target had besides, or None."""
    provider = target.providers[recipe.provider]
    if target.live and recipe.not_live is not None:
        return Reason(*recipe.not_live)
    if target.live and recipe.needs_scenario:
        return Reason(ReasonCode.PROVIDER_ONLY_CAUSE, "no request can provoke it")
    if recipe.cost not in allow:
        return Reason(ReasonCode.COST_NOT_ALLOWED, f"--allow {recipe.cost}")
    if target.live and provider.max_tokens is not None and recipe.tokens > provider.max_tokens:
        limit = f"providers.{provider.name}.max_tokens = {provider.max_tokens}"
        return Reason(ReasonCode.BEYOND_BUDGET, f"it may take {recipe.tokens} tokens, {limit}")
    return None


def lacking(recipe: Recipe, provider: Provider) -> list[str]:
    """The places in the provider's table that the recipe needs and that hold nothing: keys, addresses, values."""
    services = sorted(({call.service for call in told_beforehand(recipe)} | recipe.services) - LOOPBACK_SERVICES)
    return [
        *(f"credentials.{role}" for role in roles_of(recipe) if provider.credential(role).value is None),
        *(service for service in services if service not in provider.addresses),
        *(f"values.{name}" for name in sorted(recipe.needs) if name not in provider.values),
    ]


def services_beyond_the_control(recipe: Recipe) -> frozenset[str]:
    """The services that the recipe asks beside the one whose address its control shows to be right."""
    control = find_control(recipe)
    vouched = {control.service} if control is not None else set()
    return frozenset({call.service for call in recipe.calls.values()} | recipe.services) - LOOPBACK_SERVICES - vouched


def _sought(provider: Provider, place: str) -> bool:
    """Whether it is a value that is looked for on the account. What is not keeps a record back whatever that has."""
    return place.startswith("values.") and provider.found_by(place.removeprefix("values.")) is not None


def _wanting(provider: Provider, place: str, target: Target) -> Reason:
    table, _, name = place.rpartition(".")
    if table == "credentials":
        empty = provider.credential(name).empty
        code = ReasonCode.CREDENTIAL_EMPTY if empty else ReasonCode.CREDENTIAL_MISSING
    elif table == "values":
        if name in provider.unanswered:
            return provider.unanswered[name]
        code = ReasonCode.VALUE_NOT_FOUND if _sought(provider, place) else ReasonCode.VALUE_MISSING
    else:
        code = ReasonCode.ADDRESS_MISSING
    return Reason(code, provider.missing(place, target.name))


def fitted(
    recipe: Recipe,
    target: Target,
    allow: frozenset[Cost],
    spread: EndpointPlan = NO_OTHER_ENDPOINTS,
    labels: frozenset[str] = frozenset(),
) -> Recipe:
    """The recipe with those of its optional looks that this target allows, its other endpoints, the bounds of all.

    `labels` are those of the record, of which the recipe may leave some to recorded traffic.
    """
    unsent = dict.fromkeys(sorted(labels - recipe.labels), Reason(*recipe.not_sent)) if recipe.not_sent else {}
    if not recipe.optional and spread == NO_OTHER_ENDPOINTS:
        return replace(recipe, left_out=unsent) if unsent else recipe
    obstacles = {name: obstacle(look, target, allow) for name, look in recipe.optional.items()}
    looks = {name: look for name, look in recipe.optional.items() if obstacles[name] is None}
    left_out = {label: reason for name, reason in obstacles.items() if reason for label in recipe.optional[name].labels}
    left_out |= unsent
    return replace(
        recipe,
        optional=looks,
        left_out=left_out,
        endpoint_plan=spread,
        requests=recipe.requests + sum(each.requests for each in (*looks.values(), *spread.recipes.values())),
        tokens=recipe.tokens + sum(each.tokens for each in (*looks.values(), *spread.recipes.values())),
    )


def told_beforehand(recipe: Recipe) -> list[Call]:
    """The calls that are known before steps are taken; steps go where the control goes, and to what they declare."""
    control = find_control(recipe)
    return [*recipe.calls.values(), *([control] if control is not None else [])]


def roles_of(recipe: Recipe) -> list[str]:
    """The roles of every key that the recipe's own calls and steps take."""
    call_roles = {call.credential_role(recipe.credential) for call in recipe.calls.values()}
    return sorted(role for role in call_roles | {recipe.credential} | recipe.roles if role is not None)
