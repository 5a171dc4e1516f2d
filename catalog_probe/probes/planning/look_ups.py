"""Look-ups that a run begins with, and values of the account that will end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.probes.targets.look_ups import order_rules

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.recipes.recipe import PlannedRecipe
    from catalog_probe.probes.targets.look_ups import LookUpResult, LookUpRule
    from catalog_probe.probes.targets.target import Provider, Target


# Provider -> the rules to follow, in order.
LookUps = Mapping[str, tuple["LookUpRule", ...]]


def list_look_ups(recipes: Iterable[PlannedRecipe], target: Target) -> LookUps:
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


def list_values(recipe: PlannedRecipe) -> frozenset[str]:
    """List the values that a recipe names: in its calls, its optional parts and on its other endpoints."""
    return recipe.needs.union(*(part.needs for part in recipe.added_parts))


def distinct_requests(rules: Iterable[LookUpRule]) -> tuple[LookUpRule, ...]:
    """Return one rule for each request that following these rules takes: values of one list need one request."""
    distinct: dict[tuple[str, str, str], LookUpRule] = {}
    for rule in rules:
        request = (rule.role, rule.address, rule.ask)
        # The rule with most requests: one of them may also ask for the page of a single value.
        distinct[request] = max(distinct.get(request, rule), rule, key=lambda rule: rule.requests)
    return tuple(distinct.values())


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


@dataclass(frozen=True, slots=True)
class Expiration:
    """A value that ends on a day, and how many records then cannot be observed."""

    provider: str
    what: str
    on: date
    records: int
    mend: str

    def to_json(self) -> dict[str, Json]:
        return {
            "provider": self.provider,
            "what": self.what,
            "on": self.on.isoformat(),
            "records": self.records,
            "mend": self.mend,
        }


def find_expirations(
    target: Target, looked_up: Sequence[LookUpResult], recipes: Iterable[PlannedRecipe]
) -> list[Expiration]:
    """List the values with a known end that these recipes need, the nearest end first."""
    recipes = list(recipes)
    expirations = [
        expiration
        for found_values in looked_up
        for expiration in _list_expirations(target, found_values, recipes)
        if expiration.records
    ]
    return sorted(expirations, key=lambda expiration: (expiration.on, expiration.provider, expiration.what))


def _list_expirations(
    target: Target, looked_up: LookUpResult, recipes: Sequence[PlannedRecipe]
) -> Iterator[Expiration]:
    provider = target.providers[looked_up.provider]
    for name, day in looked_up.expirations.items():
        records = sum(recipe.provider == looked_up.provider and name in list_values(recipe) for recipe in recipes)
        variable = provider.variables.named.get(f"values.{name}")
        mend = f"name another in {variable}" if variable else f"name another in providers.{provider.name}.values"
        if name in looked_up.values:
            mend = provider.advise_missing(f"values.{name}", target.name)
        yield Expiration(looked_up.provider, f"`{name}` ({provider.values.get(name, '')})", day, records, mend)
