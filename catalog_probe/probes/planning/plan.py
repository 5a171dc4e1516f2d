"""Decides what a run probes, and why it leaves out the rest. Sends nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.facts import documents_something
from catalog_probe.probes.planning.endpoint_plans import list_other_endpoints, plan_endpoints
from catalog_probe.probes.planning.obstacles import find_obstacle, fit_to_target
from catalog_probe.probes.planning.reach import NOTHING_DOCUMENTED
from catalog_probe.probes.planning.rotation import ALL_ENDPOINTS, Rotation
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
        """The recipes of what is probed, in the order of the records."""
        return tuple(self.probed.values())


def make_plan(
    catalog: Catalog,
    target: Target,
    allow: frozenset[Cost],
    addresses: Iterable[str],
    rotation: Rotation = ALL_ENDPOINTS,
) -> Plan:
    """Decide for every address whether it is probed, and on which endpoints.

    Pure but for loading the recipes.
    """
    probed: dict[str, Recipe] = {}
    not_probed: dict[str, Reason] = {}
    for address in addresses:
        record = catalog[address]
        recipes = book.recipe_book(record.provider)
        recipe = recipes.recipes.get(address)
        if recipe is None:
            advice = f"add one in {recipes_path(record.provider)}, or a reason to UNPROBED"
            not_probed[address] = recipes.unprobed.get(address, Reason(ReasonCode.NO_RECIPE, advice))
            continue
        obstacle = find_obstacle(recipe, target, allow)
        if obstacle is None and not documents_something(assertions(record, catalog.__getitem__)):
            obstacle = NOTHING_DOCUMENTED
        if obstacle is not None:
            not_probed[address] = obstacle
            continue
        others = list_other_endpoints(recipe, record, catalog, recipes.minimal_requests)
        endpoint_plan = plan_endpoints(others, record, target, allow, rotation)
        probed[address] = fit_to_target(recipe, target, allow, endpoint_plan)
    return Plan(probed, not_probed)


def controlled_lanes(plan: Plan) -> tuple[str, ...]:
    """List the lanes of a plan in which every verdict rests on a control."""
    uncontrolled = {recipe.lane for recipe in plan.recipes if book.find_control(recipe) is None}
    return tuple(sorted({recipe.lane for recipe in plan.recipes} - uncontrolled))
