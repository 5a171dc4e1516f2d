"""What one more environment variable would add: records that could be probed and cannot be now. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import selected_providers
from catalog_probe.probes.planning.plan import list_documented_labels, make_plan
from catalog_probe.probes.planning.reach import find_prohibition, list_missing
from catalog_probe.probes.recipes import book
from catalog_probe.probes.targets import target_file
from catalog_probe.probes.targets.target import Cost, Credential

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Record
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Provider, Target

ALL_COSTS = frozenset(Cost)
ANY_KEY = "any-valid-key"


@dataclass(frozen=True, slots=True)
class Gain:
    """What setting one variable would add."""

    provider: str
    variable: str
    location: str
    """Where the target names it: `credentials.admin`."""
    records: int
    """Records that could be probed if this variable alone were set."""
    observations: int
    """Further steps of records that can be probed without it."""
    with_others: int
    """Records that need other variables as well."""


def list_gains(
    catalog: Catalog, target: Target, allow: frozenset[Cost], addresses: Collection[str] | None = None
) -> list[Gain]:
    """List every unset variable that some record (or one of `addresses`) needs; those that add most come first.

    A provider without its first key has that key alone: without it no other variable adds anything. The target must
    have placeholder values (`Target.with_placeholder_values`).
    """
    gains: list[Gain] = []
    for provider in target.providers.values():
        records = [
            record
            for record in catalog.select(provider=provider.name)
            if addresses is None or str(record.address) in addresses
        ]
        if not records:
            continue
        if provider.first_gap in provider.variables.unset:
            gains.append(_gain_of_first_key(catalog, records, provider, target, allow))
        else:
            gains += _list_provider_gains(catalog, records, provider, target, allow)
    return sorted(gains, key=lambda gain: (-gain.records, -gain.observations, -gain.with_others, gain.variable))


def _gain_of_first_key(
    catalog: Catalog, records: Iterable[Record], provider: Provider, target: Target, allow: frozenset[Cost]
) -> Gain:
    """Return what the first key adds, with what can then be looked up."""
    location = provider.first_gap
    role, variable = location.rpartition(".")[2], provider.variables.unset[location]
    keys = {**provider.credentials, role: Credential(role, ANY_KEY, variable)}
    with_key = replace(target, providers={provider.name: replace(provider, credentials=keys)})
    addresses = [str(record.address) for record in records]
    probed = make_plan(catalog, with_key.with_placeholder_values(), allow, addresses).probed
    return Gain(provider.name, variable, location, len(probed), 0, 0)


def _list_provider_gains(
    catalog: Catalog, records: Iterable[Record], provider: Provider, target: Target, allow: frozenset[Cost]
) -> Iterable[Gain]:
    record_counts, step_counts, shared_counts = Counter[str](), Counter[str](), Counter[str]()
    recipes = book.recipe_book(provider.name).recipes
    providers_with = {location: _set_location(provider, location) for location in provider.variables.unset}
    for record in records:
        recipe = recipes.get(str(record.address))
        if recipe is None:
            continue
        labels = sorted(list_documented_labels(record, catalog) & recipe.labels)
        steps = [recipe.step_for_label(label) for label in labels]
        allowed = [step for step in steps if find_prohibition(step, target, allow) is None]
        missing = [list_missing(step, provider) for step in allowed]
        sufficient = [
            _list_sufficient(step, locations, provider, providers_with)
            for step, locations in zip(allowed, missing, strict=True)
        ]
        if all(missing):
            enough = frozenset().union(*sufficient)
            record_counts.update(enough)
            shared_counts.update({location for locations in missing for location in locations} - enough)
        else:
            step_counts.update(location for locations in sufficient for location in locations)
    for location in record_counts.keys() | step_counts.keys() | shared_counts.keys():
        if location in provider.variables.unset:
            counts = (record_counts[location], step_counts[location], shared_counts[location])
            yield Gain(provider.name, provider.variables.unset[location], location, *counts)


def _list_sufficient(
    recipe: Recipe, missing: Sequence[str], provider: Provider, providers_with: Mapping[str, Provider]
) -> frozenset[str]:
    """List the locations of which one alone is enough; a key counts with what can then be looked up."""
    if not missing:
        return frozenset()
    rules = (provider.rules.get(location.removeprefix("values.")) for location in missing)
    candidates = {*missing, *(f"credentials.{rule.role}" for rule in rules if rule is not None)}
    return frozenset(
        location
        for location in candidates & providers_with.keys()
        if not list_missing(recipe, providers_with[location])
    )


def _set_location(provider: Provider, location: str) -> Provider:
    """Return the provider as if somebody had set this, and what can be looked up only then were found."""
    table, _, name = location.rpartition(".")
    if table == "credentials":
        keys = {**provider.credentials, name: Credential(name, ANY_KEY, provider.variables.unset[location])}
        with_key = replace(provider, credentials=keys)
        newly_found = [
            rule.value
            for rule in with_key.rules_to_follow
            if with_key.find_rule(rule.value) and not provider.find_rule(rule.value)
        ]
        return replace(with_key, values={**with_key.values, **{value: f"{{{value}}}" for value in newly_found}})
    if table == "values":
        return replace(provider, values={**provider.values, name: f"{{{name}}}"})
    return provider if table else replace(provider, addresses={**provider.addresses, location: location})


def format_gains_table(catalog: Catalog, name: str) -> list[str]:
    """Format the Markdown table of all variables of a target: each first key, then each other one beside those keys.

    Raises:
        TargetError: the target cannot be read.
    """
    empty = _load_with(name, {})
    first_keys = {
        provider.variables.unset[provider.first_gap]: ANY_KEY
        for provider in empty.providers.values()
        if provider.first_gap in provider.variables.unset
    }
    rows = [
        "| variable | for | records more | with every cost allowed | further observations | part of |",
        "|---|---|---|---|---|---|",
    ]
    for variable in first_keys:
        with_key = _load_with(name, {variable: ANY_KEY}).with_placeholder_values()
        usual, all_costs = (_count_probed(catalog, with_key, allow) for allow in (with_key.allow, ALL_COSTS))
        rows.append(f"| `{variable}` | the first key | {usual} | {all_costs} | | |")
    with_first_keys = _load_with(name, first_keys).with_placeholder_values()
    usual_records = {
        gain.variable: gain.records for gain in list_gains(catalog, with_first_keys, with_first_keys.allow)
    }
    for gain in list_gains(catalog, with_first_keys, ALL_COSTS):
        numbers = (usual_records.get(gain.variable, 0), gain.records, gain.observations, gain.with_others)
        cells = " | ".join(str(number or "·") for number in numbers)
        rows.append(f"| `{gain.variable}` | {gain.location} | {cells} |")
    return rows


def _load_with(name: str, environ: Mapping[str, str]) -> Target:
    return target_file.load(name, environ).restrict_to(selected_providers())


def _count_probed(catalog: Catalog, target: Target, allow: frozenset[Cost]) -> int:
    addresses = [str(record.address) for provider in target.providers for record in catalog.select(provider=provider)]
    return len(make_plan(catalog, target, allow, addresses).probed)
