"""What of a plan fits a provider's budget, and in which order it is spent: on most facts first. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.catalog.reading.facts import Wire, load_fact_checks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Provider


@dataclass(frozen=True, slots=True)
class Spending:
    """In which order recipes draw on the budget, and which of them it will not hold if each is sent once."""

    order: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Addresses, the first to go without first."""

    @property
    def ranks(self) -> Mapping[str, int]:
        return {address: rank for rank, address in enumerate(self.order)}


def spending(recipes: Sequence[Recipe], provider: Provider, catalog: Catalog) -> Spending:
    """How a provider's budget is spent on these; where all of it fits, in the order in which they are given.

    Raises:
        CatalogError: the facts of the provider cannot be read.
    """
    tokens, requests = sum(each.tokens for each in recipes), sum(each.requests for each in recipes)
    if _holds(provider, tokens, requests):
        return Spending(tuple(each.address for each in recipes))
    worth = facts_looked_at(provider.name, catalog)
    ordered = sorted(recipes, key=lambda each: (-_worth(each, worth, provider), each.address))
    spent_tokens = spent_requests = 0
    left_out = []
    for each in ordered:
        if _holds(provider, spent_tokens + each.tokens, spent_requests + each.requests):
            spent_tokens, spent_requests = spent_tokens + each.tokens, spent_requests + each.requests
        else:
            left_out.append(each.address)
    return Spending(tuple(each.address for each in ordered), tuple(reversed(left_out)))


def facts_looked_at(provider: str, catalog: Catalog) -> Mapping[str, int]:
    """How many facts with an effect on the wire each record looks at, by its address."""
    held = load_fact_checks(provider, catalog)
    counted: Counter[str] = Counter()
    for fact in held.facts:
        if fact.wire is Wire.YES:
            counted.update({each.address for each in held.assertions_for(fact)})
    return counted


def _worth(recipe: Recipe, facts: Mapping[str, int], provider: Provider) -> float:
    """Facts for the share of the budget that they take; what draws on nothing comes first."""
    share = max(_share(recipe.tokens, provider.max_tokens), _share(recipe.requests, provider.max_requests))
    return (1 + facts.get(recipe.address, 0)) / share if share else float("inf")


def _share(taken: int, limit: int | None) -> float:
    return 0.0 if limit is None or not taken else taken / max(1, limit)


def _holds(provider: Provider, tokens: int, requests: int) -> bool:
    return (provider.max_tokens is None or tokens <= provider.max_tokens) and (
        provider.max_requests is None or requests <= provider.max_requests
    )
