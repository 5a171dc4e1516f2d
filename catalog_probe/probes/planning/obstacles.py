"""Why a recipe may not or cannot be probed on a target. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls.services import LOOPBACK_SERVICES
from catalog_probe.probes.recipes.book import find_control
from catalog_probe.probes.recipes.recipe import NO_OTHER_ENDPOINTS

if TYPE_CHECKING:
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.recipes.recipe import EndpointPlan, Recipe
    from catalog_probe.probes.targets.target import Cost, Provider, Target


def find_obstacle(recipe: Recipe, target: Target, allow: frozenset[Cost]) -> Reason | None:
    """Return the first thing that keeps a record from being probed on a target, or None."""
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
    """Return what keeps a record from being probed whatever keys and values the target has, or None."""
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


def list_missing(recipe: Recipe, provider: Provider) -> list[str]:
    """List what a recipe needs and the provider's table does not hold: keys, addresses, values by their location."""
    services = {call.service for call in known_calls(recipe)} | recipe.services
    return [
        *(f"credentials.{role}" for role in _list_roles(recipe) if provider.credential(role).value is None),
        *(service for service in sorted(services - LOOPBACK_SERVICES) if service not in provider.addresses),
        *(f"values.{name}" for name in sorted(recipe.needs) if name not in provider.values),
    ]


def services_without_control(recipe: Recipe) -> frozenset[str]:
    """List the services that a recipe asks besides the one whose address its control confirms."""
    control = find_control(recipe)
    confirmed = {control.service} if control is not None else set()
    services = {call.service for call in recipe.calls.values()} | recipe.services
    return frozenset(services - LOOPBACK_SERVICES - confirmed)


def fit_to_target(
    recipe: Recipe,
    target: Target,
    allow: frozenset[Cost],
    endpoint_plan: EndpointPlan = NO_OTHER_ENDPOINTS,
) -> Recipe:
    """Return the recipe with the optional parts that a target allows, its other endpoints, and the bounds of all."""
    if not recipe.optional and endpoint_plan == NO_OTHER_ENDPOINTS:
        return recipe
    parts: dict[str, Recipe] = {}
    left_out: dict[str, Reason] = {}
    for name, part in recipe.optional.items():
        obstacle = find_obstacle(part, target, allow)
        if obstacle is None:
            parts[name] = part
        else:
            left_out |= dict.fromkeys(part.labels, obstacle)
    added = (*parts.values(), *endpoint_plan.recipes.values())
    return replace(
        recipe,
        optional=parts,
        left_out=left_out,
        endpoint_plan=endpoint_plan,
        requests=recipe.requests + sum(part.requests for part in added),
        tokens=recipe.tokens + sum(part.tokens for part in added),
    )


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


def _list_roles(recipe: Recipe) -> list[str]:
    """List the roles of every key that a recipe's own calls and steps take."""
    call_roles = {call.credential_role(recipe.credential) for call in recipe.calls.values()}
    return sorted(role for role in call_roles | {recipe.credential} | recipe.roles if role is not None)
