"""How each record of the catalog is provoked: one package a provider, one module a family."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import Control, manifest
from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.call import Call, Removal
from catalog_probe.probes.recipes.loading import RecipeError, recipes_module, recipes_place
from catalog_probe.probes.recipes.recipe import Recipe, Unfinished

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import ModuleType

    from catalog_probe.probes.recipes.other_endpoints import Shapes


@dataclass(frozen=True, slots=True)
class Book:
    """Everything the recipes of one provider say.

    `controls` holds the cheapest free request for each credential role, as the provider's manifest names it;
    `unprobed` the reason of every record that has no recipe on purpose; `shapes` the smallest request of each endpoint;
    `unfinished` the records whose recipe somebody has begun to write; `removals`, by name, how what recipes make is
    removed.
    """

    recipes: Mapping[str, Recipe]
    unprobed: Mapping[str, Reason]
    controls: Mapping[str, Call]
    shapes: Shapes = field(default_factory=dict)
    unfinished: frozenset[str] = frozenset()
    removals: Mapping[str, Removal] = field(default_factory=dict)


@cached_per_folders
def book(provider: str) -> Book:
    """The recipes of a provider.

    Raises:
        RecipeError: two recipes for one record, a recipe and a reason against one, or recipes that cannot be read.
        CatalogError: no provider has this name, or its manifest cannot be read.
    """
    where = recipes_place(provider)
    controls = {role: _call(control) for role, control in manifest(provider).controls.items()}
    package = recipes_module(provider)
    if package is None:
        return Book({}, {}, controls)
    recipes: dict[str, Recipe] = {}
    unprobed = {address: Reason(*reason) for address, reason in getattr(package, "UNPROBED", {}).items()}
    begun: list[str] = []
    for each in (row for module in getattr(package, "FAMILIES", (package,)) for row in _recipes_of(module)):
        if each.address in recipes or each.address in begun:
            raise RecipeError(f"two recipes for {each.address}", f"keep one of them in {where}")
        if each.address in unprobed:
            raise RecipeError(f"{each.address} has a recipe and a reason for having none", "keep one of them")
        if isinstance(each, Unfinished):
            begun.append(each.address)
        else:
            recipes[each.address] = each
    for address in begun:
        unprobed[address] = Reason(ReasonCode.NO_RECIPE, f"its recipe in {where} is unfinished")
    removals: dict[str, Removal] = {}
    for removal in getattr(package, "REMOVALS", ()):
        if removals.setdefault(removal.name, removal) != removal:
            raise RecipeError(f"two removals are called {removal.name!r}", f"rename one of them in {where}")
    return Book(recipes, unprobed, controls, getattr(package, "SHAPES", {}), frozenset(begun), removals)


def control_of(recipe: Recipe) -> Call | None:
    """What says that the key and the host of a recipe work: a request of its own, or the lane's."""
    return recipe.control or book(recipe.provider).controls.get(recipe.credential)


def _call(control: Control) -> Call:
    """The request of a control, with the key of whoever asks."""
    return Call(control.method, control.path, query=control.query, service=control.address)


def _recipes_of(module: ModuleType) -> list[Recipe | Unfinished]:
    """The rows of the module's RECIPES table and its decorated steps."""
    table = list(getattr(module, "RECIPES", ()))
    return [*table, *(value for value in vars(module).values() if isinstance(value, Recipe | Unfinished))]
