"""Decides what a run probes, and why it leaves out the rest. Sends nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.reading.expectations import documented_labels
from catalog_probe.probes.planning.obstacles import fitted, obstacle
from catalog_probe.probes.planning.rotation import ALL, Drawing
from catalog_probe.probes.planning.spreading import elsewhere, spread
from catalog_probe.probes.recipes import book
from catalog_probe.probes.recipes.loading import recipes_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Cost, Target


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run would probe, and why it would not probe the rest."""

    probed: Mapping[str, Recipe]
    not_probed: Mapping[str, Reason]

    @property
    def recipes(self) -> tuple[Recipe, ...]:
        """How what is probed is provoked, in the order of the records."""
        return tuple(self.probed.values())


def plan(
    catalog: Catalog, target: Target, allow: frozenset[Cost], addresses: Iterable[str], drawing: Drawing = ALL
) -> Plan:
    """Decide for every address whether it is probed, and on which endpoints.

    Pure but for loading the recipes of the providers named.
    """
    probed: dict[str, Recipe] = {}
    not_probed: dict[str, Reason] = {}
    for address in addresses:
        own = book.recipe_book(catalog[address].provider)
        recipe = own.recipes.get(address)
        if recipe is None:
            where = recipes_path(catalog[address].provider)
            missing = Reason(ReasonCode.NO_RECIPE, f"add one in {where}, or a reason to UNPROBED")
            not_probed[address] = own.unprobed.get(address, missing)
            continue
        reason = obstacle(recipe, target, allow)
        if reason is None:
            others = elsewhere(recipe, catalog[address], catalog, own.minimal_requests)
            cells = spread(others, catalog[address], target, allow, drawing)
            labels = documented_labels(catalog[address], catalog.__getitem__) if recipe.not_sent else frozenset[str]()
            probed[address] = fitted(recipe, target, allow, cells, labels)
        else:
            not_probed[address] = reason
    return Plan(probed, not_probed)


def controlled_lanes(chosen: Plan) -> tuple[str, ...]:
    """The lanes of what would be probed in which every verdict rests on a control."""
    recipes = list(chosen.probed.values())
    without = {recipe.lane for recipe in recipes if book.find_control(recipe) is None}
    return tuple(sorted({recipe.lane for recipe in recipes} - without))
