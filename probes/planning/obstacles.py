"""Whether a recipe may and can be probed on a target, and if not, why. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog.model import Reason
from catalog.model.codes import ReasonCode
from probes.calls.services import LOOPBACK
from probes.elicit.book import control_of
from probes.elicit.recipe import NOWHERE

if TYPE_CHECKING:
    from probes.calls.call import Call
    from probes.elicit.recipe import Recipe, Spread
    from probes.target.target import Cost, Target


def obstacle(recipe: Recipe, target: Target, allow: frozenset[Cost]) -> Reason | None:
    """The first thing that keeps a record from being probed here, or None."""
    provider = target.providers.get(recipe.provider)
    if provider is None:
        return Reason(
            ReasonCode.PROVIDER_NOT_CONFIGURED, f"target {target.name!r} has no [providers.{recipe.provider}]"
        )
    if not provider.configured:
        return Reason(ReasonCode.PROVIDER_NOT_CONFIGURED, provider.missing(provider.first_gap, target.name))
    if target.live and recipe.live is not None:
        return Reason(*recipe.live)
    if target.live and recipe.scenario:
        return Reason(ReasonCode.PROVIDER_ONLY_CAUSE, "no request can provoke it")
    if recipe.cost not in allow:
        return Reason(ReasonCode.COST_NOT_ALLOWED, f"--allow {recipe.cost}")
    for role in roles_of(recipe):
        credential = provider.credential(role)
        if credential.value is None:
            code = ReasonCode.CREDENTIAL_EMPTY if credential.empty else ReasonCode.CREDENTIAL_MISSING
            return Reason(code, provider.missing(f"credentials.{role}", target.name))
    for service in sorted({call.service for call in _told_beforehand(recipe)} - LOOPBACK):
        if service not in provider.addresses:
            return Reason(ReasonCode.ADDRESS_MISSING, provider.missing(service, target.name))
    for name in sorted(recipe.needs):
        if name not in provider.values:
            return Reason(ReasonCode.VALUE_MISSING, provider.missing(f"values.{name}", target.name))
    return None


def fitted(recipe: Recipe, target: Target, allow: frozenset[Cost], spread: Spread = NOWHERE) -> Recipe:
    """The recipe with those of its optional looks that this target allows, its other endpoints, the bounds of all."""
    obstacles = {name: obstacle(look, target, allow) for name, look in recipe.optional.items()}
    looks = {name: look for name, look in recipe.optional.items() if obstacles[name] is None}
    left_out = {label: reason for name, reason in obstacles.items() if reason for label in recipe.optional[name].labels}
    return replace(
        recipe,
        optional=looks,
        left_out=left_out,
        spread=spread,
        requests=recipe.requests + sum(each.requests for each in (*looks.values(), *spread.cells.values())),
        tokens=recipe.tokens + sum(each.tokens for each in (*looks.values(), *spread.cells.values())),
    )


def _told_beforehand(recipe: Recipe) -> list[Call]:
    """The calls that are known before steps are taken; what steps send goes where the control goes."""
    control = control_of(recipe)
    return [*recipe.calls.values(), *([control] if control is not None else [])]


def roles_of(recipe: Recipe) -> list[str]:
    """The roles of every key that the recipe's own calls and steps take."""
    named = {call.role_in(recipe.credential) for call in recipe.calls.values()} | {recipe.credential} | recipe.roles
    return sorted(role for role in named if role is not None)
