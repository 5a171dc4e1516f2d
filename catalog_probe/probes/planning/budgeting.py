"""Which recipes fit a provider's budget, and in which order it is spent: most facts first. Pure."""

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
class BudgetPlan:
    """The order in which recipes draw on a budget, and which do not fit if each is sent once."""

    order: tuple[str, ...]
    left_out: tuple[str, ...] = ()
    """Addresses, the first to be left out first."""

    @property
    def ranks(self) -> Mapping[str, int]:
        return {address: rank for rank, address in enumerate(self.order)}


def plan_budget(recipes: Sequence[Recipe], provider: Provider, catalog: Catalog) -> BudgetPlan:
    """Decide how a provider's budget is spent on these recipes; if all fit, in the given order.

    Raises:
        CatalogError: the facts of the provider cannot be read.
    """
    tokens, requests = sum(recipe.tokens for recipe in recipes), sum(recipe.requests for recipe in recipes)
    if _fits(provider, tokens, requests):
        return BudgetPlan(tuple(recipe.address for recipe in recipes))
    facts = count_facts(provider.name, catalog)
    ordered = sorted(recipes, key=lambda recipe: (-_facts_per_share(recipe, facts, provider), recipe.address))
    spent_tokens = spent_requests = 0
    left_out = []
    for recipe in ordered:
        if _fits(provider, spent_tokens + recipe.tokens, spent_requests + recipe.requests):
            spent_tokens, spent_requests = spent_tokens + recipe.tokens, spent_requests + recipe.requests
        else:
            left_out.append(recipe.address)
    return BudgetPlan(tuple(recipe.address for recipe in ordered), tuple(reversed(left_out)))


def count_facts(provider: str, catalog: Catalog) -> Mapping[str, int]:
    """Count the facts with an effect on the wire that each record checks, by its address."""
    checks = load_fact_checks(provider, catalog)
    counts: Counter[str] = Counter()
    for fact in checks.facts:
        if fact.wire is Wire.YES:
            counts.update({assertion.address for assertion in checks.assertions_for(fact)})
    return counts


def _facts_per_share(recipe: Recipe, facts: Mapping[str, int], provider: Provider) -> float:
    """Return the facts of a recipe for the share of the budget that it takes; infinite if it takes nothing."""
    share = max(_share(recipe.tokens, provider.max_tokens), _share(recipe.requests, provider.max_requests))
    return (1 + facts.get(recipe.address, 0)) / share if share else float("inf")


def _share(amount: int, limit: int | None) -> float:
    return 0.0 if limit is None or not amount else amount / max(1, limit)


def _fits(provider: Provider, tokens: int, requests: int) -> bool:
    return (provider.max_tokens is None or tokens <= provider.max_tokens) and (
        provider.max_requests is None or requests <= provider.max_requests
    )
