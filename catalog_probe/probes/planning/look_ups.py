"""Which look-ups a run begins with: those that what it would probe rests on. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from catalog_probe.probes.targets.look_ups import in_order

if TYPE_CHECKING:
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.look_ups import Rule
    from catalog_probe.probes.targets.target import Provider, Target

LookUps = Mapping[str, tuple["Rule", ...]]
"""By provider, the rules that are to be followed, in order."""


def look_ups(recipes: Iterable[Recipe], target: Target) -> LookUps:
    """The rules of each value that these recipes need and that can be asked for, in the order they rest on each other.

    A value that somebody has set is looked up as well: whether the account has it, and when it ends.
    """
    needed: dict[str, set[str]] = {}
    for recipe in recipes:
        needed.setdefault(recipe.provider, set()).update(values_of(recipe))
    found = {name: tuple(_rules(target.providers[name], names)) for name, names in sorted(needed.items())}
    return {name: rules for name, rules in found.items() if rules}


def values_of(recipe: Recipe) -> frozenset[str]:
    """The values that a recipe names anywhere: in its calls, its looks besides, on its other endpoints."""
    own = recipe.needs
    return own.union(*(values_of(each) for each in (*recipe.optional.values(), *recipe.endpoint_plan.recipes.values())))


def asked(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The requests that following these rules takes: one rule of each."""
    return tuple({(rule.role, rule.address, rule.ask): rule for rule in rules}.values())


def _rules(provider: Provider, names: set[str]) -> Iterator[Rule]:
    wanted = _with_all_that_it_takes(provider, names)
    for rule in in_order(provider.rules.values()):
        sought = rule.value in wanted and provider.found_by(rule.value) is not None
        told = rule.value in names and rule.value in provider.values and not rule.of
        if sought or (told and provider.credential(rule.role).value is not None and rule.address in provider.addresses):
            yield rule


def _with_all_that_it_takes(provider: Provider, names: set[str]) -> set[str]:
    """The values and those which looking them up takes; a value that is set takes nothing."""
    found: set[str] = set()
    left = [name for name in names if name not in provider.values]
    while left:
        name = left.pop()
        if name in found or name not in provider.rules:
            continue
        found.add(name)
        left += [each for each in provider.rules[name].rests_on if each not in provider.values]
    return found
