"""The request to an endpoint without any fault, by which it is known whether a refusal was about the fault at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.files.provider_folders import cached_per_folders
from catalog_probe.catalog.model import Address, Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.labels import SUCCESS
from catalog_probe.probes.recipes.book import book
from catalog_probe.probes.recipes.loading import recipes_module
from catalog_probe.probes.recipes.recipe import Recipe, recipe

if TYPE_CHECKING:
    from collections.abc import Mapping

TWIN = "twin"
"""The label of the request: judged by no record."""

MADE_FIRST = "its success needs something made first, by other requests"
"""Why an endpoint that speaks of one thing has no twin."""


def twin(endpoint: str) -> Recipe | Reason:
    """How an endpoint is asked without a fault, or why it cannot be.

    It is what its package declares (`TWINS`, or why there is none: `NO_TWIN`), else the call by which its own record
    is seen to succeed, where that needs nothing before it.
    """
    provider = Address.parse(endpoint).provider
    declared, none = _declared(provider)
    if endpoint in declared:
        return declared[endpoint]
    if endpoint in none:
        return Reason(ReasonCode.NO_RECIPE, none[endpoint])
    own = book(provider).recipes.get(endpoint)
    if own is None or SUCCESS not in own.calls:
        return Reason(ReasonCode.NO_RECIPE, "no request without a fault is declared for it")
    return recipe(endpoint, {TWIN: own.calls[SUCCESS]}, cost=own.cost, credential=own.credential, tokens=own.tokens)


@cached_per_folders
def _declared(provider: str) -> tuple[Mapping[str, Recipe], Mapping[str, str]]:
    package = recipes_module(provider)
    twins: tuple[Recipe, ...] = getattr(package, "TWINS", ())
    return {each.address: each for each in twins}, getattr(package, "NO_TWIN", {})
