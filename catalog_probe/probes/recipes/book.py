"""The recipe book of a provider: how each of its records is provoked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.files.manifest import Control, manifest
from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.model import Reason
from catalog_probe.probes.calls.call import Call, Removal
from catalog_probe.probes.recipes.loading import RecipeError, load_recipes_module, recipes_path
from catalog_probe.probes.recipes.recipe import Recipe

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from types import ModuleType

    from catalog_probe.probes.recipes.other_endpoints import MinimalRequests


@dataclass(frozen=True, slots=True)
class RecipeBook:
    """All recipes of one provider.

    Attributes:
        recipes: by the address of their record.
        unprobed: the reason of every record that has no recipe on purpose.
        controls: the cheapest free request for each credential role, as the provider's manifest names it.
        minimal_requests: the smallest request of each endpoint.
        removals: how what recipes make is removed, by name.
    """

    recipes: Mapping[str, Recipe]
    unprobed: Mapping[str, Reason]
    controls: Mapping[str, Call]
    minimal_requests: MinimalRequests = field(default_factory=dict)
    removals: Mapping[str, Removal] = field(default_factory=dict)


@cached_per_folders
def recipe_book(provider: str) -> RecipeBook:
    """Load the recipes of a provider.

    Raises:
        RecipeError: two recipes for one record, a recipe and a reason against one, or recipes that cannot be read.
        CatalogError: no provider has this name, or its manifest cannot be read.
    """
    path = recipes_path(provider)
    controls = {role: _control_call(control) for role, control in manifest(provider).controls.items()}
    package = load_recipes_module(provider)
    if package is None:
        return RecipeBook({}, {}, controls)
    recipes: dict[str, Recipe] = {}
    unprobed = {address: Reason(*reason) for address, reason in getattr(package, "UNPROBED", {}).items()}
    for recipe in (recipe for module in getattr(package, "FAMILIES", (package,)) for recipe in _list_recipes(module)):
        if recipe.address in recipes:
            raise RecipeError(f"two recipes for {recipe.address}", f"keep one of them in {path}")
        if recipe.address in unprobed:
            raise RecipeError(f"{recipe.address} has a recipe and a reason for having none", "keep one of them")
        recipes[recipe.address] = recipe
    removals = _index_removals(getattr(package, "REMOVALS", ()), path)
    minimal_requests = getattr(package, "MINIMAL_REQUESTS", {})
    return RecipeBook(recipes, unprobed, controls, minimal_requests, removals)


def find_control(recipe: Recipe) -> Call | None:
    """Return the request that shows that key and host of a recipe work: its own control, or the lane's."""
    return recipe.control or recipe_book(recipe.provider).controls.get(recipe.credential)


def _control_call(control: Control) -> Call:
    return Call(control.method, control.path, query=control.query, service=control.address)


def _list_recipes(module: ModuleType) -> list[Recipe]:
    """List the rows of the module's RECIPES table and its decorated steps."""
    table = list(getattr(module, "RECIPES", ()))
    return [*table, *(value for value in vars(module).values() if isinstance(value, Recipe))]


def _index_removals(removals: Iterable[Removal], path: str) -> dict[str, Removal]:
    removal_by_name: dict[str, Removal] = {}
    for removal in removals:
        if removal_by_name.setdefault(removal.name, removal) != removal:
            raise RecipeError(f"two removals are called {removal.name!r}", f"rename one of them in {path}")
    return removal_by_name
