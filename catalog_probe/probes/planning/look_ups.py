"""The look-ups that a run begins with: those of values that its recipes need. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from catalog_probe.probes.targets.look_ups import order_rules

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.look_ups import LookUpRule
    from catalog_probe.probes.targets.target import Provider, Target

# By provider, the rules to follow, in order.
LookUps = Mapping[str, tuple["LookUpRule", ...]]


def list_look_ups(recipes: Iterable[Recipe], target: Target) -> LookUps:
    """Return the rules of the values that these recipes need, each after those that it rests on.

    A value that somebody set is looked up too: whether the account has it, and when it ends.
    """
    names_by_provider: dict[str, set[str]] = {}
    for recipe in recipes:
        names_by_provider.setdefault(recipe.provider, set()).update(list_values(recipe))
    rules_by_provider = {
        provider: tuple(_list_rules(target.providers[provider], names))
        for provider, names in sorted(names_by_provider.items())
    }
    return {provider: rules for provider, rules in rules_by_provider.items() if rules}


def list_values(recipe: Recipe) -> frozenset[str]:
    """List the values that a recipe names: in its calls, its optional parts and on its other endpoints."""
    parts = (*recipe.optional.values(), *recipe.endpoint_plan.recipes.values())
    return recipe.needs.union(*(list_values(part) for part in parts))


def distinct_requests(rules: Iterable[LookUpRule]) -> tuple[LookUpRule, ...]:
    """Return one rule for each request that following these rules takes."""
    return tuple({(rule.role, rule.address, rule.ask): rule for rule in rules}.values())


def _list_rules(provider: Provider, names: set[str]) -> Iterator[LookUpRule]:
    needed = _add_dependencies(provider, names)
    for rule in order_rules(provider.rules.values()):
        is_needed = rule.value in needed and provider.find_rule(rule.value) is not None
        is_set = rule.value in names and rule.value in provider.values and not rule.of
        can_check = provider.credential(rule.role).value is not None and rule.address in provider.addresses
        if is_needed or (is_set and can_check):
            yield rule


def _add_dependencies(provider: Provider, names: set[str]) -> set[str]:
    """Return the values that are not set, with those that looking them up rests on."""
    needed: set[str] = set()
    remaining = [name for name in names if name not in provider.values]
    while remaining:
        name = remaining.pop()
        if name in needed or name not in provider.rules:
            continue
        needed.add(name)
        remaining += [value for value in provider.rules[name].rests_on if value not in provider.values]
    return needed
