"""How each record of the catalog is provoked: one package a provider, one module a family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from catalog.model import Reason
from catalog.model.errors import Mendable
from catalog.reading.manifest import Control, manifest
from probes.calls.call import Call
from probes.elicit.recipe import Recipe

if TYPE_CHECKING:
    from probes.elicit.elsewhere import Shapes


class RecipeError(Mendable):
    """A recipe book that contradicts itself."""


@dataclass(frozen=True, slots=True)
class Book:
    """Everything the recipes of one provider say.

    `controls` holds the cheapest free request for each credential role, as the provider's manifest names it;
    `unprobed` the reason of every record that has no recipe on purpose; `shapes` the smallest request of each endpoint.
    """

    recipes: Mapping[str, Recipe]
    unprobed: Mapping[str, Reason]
    controls: Mapping[str, Call]
    shapes: Shapes = field(default_factory=dict)


@cache
def book(provider: str) -> Book:
    """The recipes of a provider.

    Raises:
        RecipeError: two recipes for one record, or a recipe and a reason against one.
        CatalogError: no provider has this name, or its manifest cannot be read.
    """
    named = manifest(provider)
    where = named.recipes or f"probes.recipes.{provider}"
    controls = {role: _call(control) for role, control in named.controls.items()}
    try:
        package = import_module(where)
    except ModuleNotFoundError as error:
        if error.name != where:
            raise
        return Book({}, {}, controls)
    recipes: dict[str, Recipe] = {}
    for module in package.FAMILIES:
        for each in _recipes_of(module):
            if each.address in recipes:
                raise RecipeError(f"two recipes for {each.address}", f"keep one of them in {where}")
            recipes[each.address] = each
    unprobed = {address: Reason(*reason) for address, reason in package.UNPROBED.items()}
    for address in recipes.keys() & unprobed.keys():
        raise RecipeError(f"{address} has a recipe and a reason for having none", "keep one of them")
    return Book(recipes, unprobed, controls, getattr(package, "SHAPES", {}))


def control_of(recipe: Recipe) -> Call | None:
    """What says that the key and the host of a recipe work: a request of its own, or the lane's."""
    return recipe.control or book(recipe.provider).controls.get(recipe.credential)


def _call(control: Control) -> Call:
    """The request of a control, with the key of whoever asks."""
    return Call(control.method, control.path, query=control.query, service=control.address)


def _recipes_of(module: ModuleType) -> list[Recipe]:
    """The rows of the module's RECIPES table and its decorated steps."""
    table = list(getattr(module, "RECIPES", ()))
    return [*table, *(value for value in vars(module).values() if isinstance(value, Recipe))]
