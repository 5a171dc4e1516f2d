"""Fault-free requests: an endpoint is asked without any fault, to see whether a refusal was about the fault."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.model import Address, Reason
from catalog_probe.catalog.model.exchange import SUCCESS
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.recipes.book import recipe_book
from catalog_probe.probes.recipes.loading import load_recipes_module
from catalog_probe.probes.recipes.recipe import Recipe, recipe

if TYPE_CHECKING:
    from collections.abc import Mapping

# The label of the request; no record judges it.
FAULT_FREE = "twin"

# Why an endpoint has no fault-free request.
NEEDS_SETUP = "its success needs something made first, by other requests"


def fault_free_request(endpoint: str) -> Recipe | Reason:
    """Return how an endpoint is asked without a fault, or why it cannot be.

    The recipes declare it (`FAULT_FREE_REQUESTS`, or why there is none: `NO_FAULT_FREE_REQUEST`). Else it is the
    successful call of the endpoint's own recipe.
    """
    provider = Address.parse(endpoint).provider
    recipes, reasons = _declared_requests(provider)
    if endpoint in recipes:
        return recipes[endpoint]
    if endpoint in reasons:
        return Reason(ReasonCode.NO_RECIPE, reasons[endpoint])
    own = recipe_book(provider).recipes.get(endpoint)
    if own is None or SUCCESS not in own.calls:
        return Reason(ReasonCode.NO_RECIPE, "no request without a fault is declared for it")
    calls = {FAULT_FREE: own.calls[SUCCESS]}
    return recipe(endpoint, calls, cost=own.cost, credential=own.credential, tokens=own.tokens)


@cached_per_folders
def _declared_requests(provider: str) -> tuple[Mapping[str, Recipe], Mapping[str, str]]:
    package = load_recipes_module(provider)
    recipes: tuple[Recipe, ...] = getattr(package, "FAULT_FREE_REQUESTS", ())
    return {recipe.address: recipe for recipe in recipes}, getattr(package, "NO_FAULT_FREE_REQUEST", {})
