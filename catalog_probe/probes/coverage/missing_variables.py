"""What one more environment variable would add: how many records could be probed that cannot be now. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import selected_providers
from catalog_probe.probes.planning.obstacles import find_prohibition, list_missing
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.recipes import book
from catalog_probe.probes.targets import target_file as targets
from catalog_probe.probes.targets.target import Cost, Credential

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Record
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Provider, Target


ALL_COSTS = frozenset(Cost)
SOME_KEY = "a key that is somebody's"


@dataclass(frozen=True, slots=True)
class Gain:
    """What setting a variable alone would add, and to how many more it belongs beside others that are not set."""

    provider: str
    variable: str
    place: str
    """Where the target names it: `credentials.admin`."""
    records: int
    looks: int
    """Further looks at records that can be probed without it."""
    beside_others: int


def gains(catalog: Catalog, target: Target, allow: frozenset[Cost]) -> list[Gain]:
    """Every variable that the target names, nobody has set and some record needs; those that add most come first.

    Of a provider without its first key that is the key alone: without it no other adds anything, and nothing is found.

    `target` is taken with what can be looked up on its accounts (`Target.before_look_ups`).
    """
    found: list[Gain] = []
    for provider in target.providers.values():
        records = list(catalog.select(provider=provider.name))
        if provider.first_gap in provider.unset_variables:
            found.append(_first(catalog, records, provider, target, allow))
        else:
            found += _of_provider(records, provider, target, allow)
    return sorted(found, key=lambda each: (-each.records, -each.looks, -each.beside_others, each.variable))


def _first(
    catalog: Catalog, records: Iterable[Record], provider: Provider, target: Target, allow: frozenset[Cost]
) -> Gain:
    """What the first key adds, with what can then be looked up."""
    place = provider.first_gap
    role, variable = place.rpartition(".")[2], provider.unset_variables[place]
    keys = {**provider.credentials, role: Credential(role, SOME_KEY, variable)}
    begun = replace(target, providers={provider.name: replace(provider, credentials=keys)}).with_placeholder_values()
    possible = make_plan(catalog, begun, allow, [str(record.address) for record in records]).probed
    return Gain(provider.name, variable, place, len(possible), 0, 0)


def _of_provider(
    records: Iterable[Record], provider: Provider, target: Target, allow: frozenset[Cost]
) -> Iterable[Gain]:
    alone, looks, beside = Counter[str](), Counter[str](), Counter[str]()
    own = book.recipe_book(provider.name).recipes
    having = {place: _having(provider, place) for place in provider.unset_variables}
    for record in records:
        recipe = own.get(str(record.address))
        if recipe is None or find_prohibition(recipe, target, allow) is not None:
            continue
        wanting = list_missing(recipe, provider)
        enough = _enough(recipe, wanting, provider, having)
        alone.update(enough)
        beside.update(each for each in wanting if each not in enough)
        for look in recipe.optional.values():
            more = list_missing(look, provider)
            if not wanting and find_prohibition(look, target, allow) is None:
                looks.update(_enough(look, more, provider, having))
    for place in alone.keys() | looks.keys() | beside.keys():
        if place in provider.unset_variables:
            yield Gain(provider.name, provider.unset_variables[place], place, alone[place], looks[place], beside[place])


def _enough(
    recipe: Recipe, wanting: Iterable[str], provider: Provider, having: Mapping[str, Provider]
) -> frozenset[str]:
    """Each place that is enough if it alone is set: with a key, what can then be looked up is there as well."""
    wanted = set(wanting)
    rules = (provider.rules.get(place.removeprefix("values.")) for place in wanting)
    tried = wanted | {f"credentials.{rule.role}" for rule in rules if rule is not None}
    return frozenset(place for place in tried & having.keys() if wanted and not list_missing(recipe, having[place]))


def _having(provider: Provider, place: str) -> Provider:
    """The provider as if somebody had set what stands there, and what can be looked up only then were found."""
    table, _, name = place.rpartition(".")
    if table == "credentials":
        keys = {**provider.credentials, name: Credential(name, SOME_KEY, provider.unset_variables[place])}
        begun = replace(provider, credentials=keys)
        found = [
            rule.value
            for rule in begun.rules_to_follow
            if begun.find_rule(rule.value) and not provider.find_rule(rule.value)
        ]
        return replace(begun, values={**begun.values, **{value: f"{{{value}}}" for value in found}})
    if table == "values":
        return replace(provider, values={**provider.values, name: f"{{{name}}}"})
    return replace(provider, addresses={**provider.addresses, place: place}) if not table else provider


def of_each_variable(catalog: Catalog, name: str) -> list[str]:
    """The table of all variables: what the first key of each provider adds, then each other variable beside those keys.

    Raises:
        TargetError: the target cannot be read.
    """
    nothing = targets.load(name, {}).restrict_to(selected_providers())
    keys = {
        provider.unset_variables[provider.first_gap]: SOME_KEY
        for provider in nothing.providers.values()
        if provider.first_gap in provider.unset_variables
    }
    begun = targets.load(name, keys).restrict_to(selected_providers()).with_placeholder_values()
    rows = [
        "| variable | for | records more | with every cost allowed | further observations | part of |",
        "|---|---|---|---|---|---|",
    ]
    for variable in keys:
        alone = targets.load(name, {variable: SOME_KEY}).restrict_to(selected_providers()).with_placeholder_values()
        free, every = (sum(map(len, _possible(catalog, alone, allow))) for allow in (alone.allow, ALL_COSTS))
        rows.append(f"| `{variable}` | the first key | {free} | {every} | | |")
    cheap = {each.variable: each.records for each in gains(catalog, begun, begun.allow)}
    for each in gains(catalog, begun, ALL_COSTS):
        cells = (cheap.get(each.variable, 0), each.records, each.looks, each.beside_others)
        told = " | ".join(str(cell or "·") for cell in cells)
        rows.append(f"| `{each.variable}` | {each.place} | {told} |")
    return rows


def _possible(catalog: Catalog, target: Target, allow: frozenset[Cost]) -> Iterable[list[Recipe]]:
    for provider in target.providers:
        addresses = [str(record.address) for record in catalog.select(provider=provider)]
        yield list(make_plan(catalog, target, allow, addresses).recipes)
