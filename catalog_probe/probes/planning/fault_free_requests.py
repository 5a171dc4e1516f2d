"""The fault-free requests that a run may send at most, when many faults get the same answer. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.reading.record_fields import claimed_endpoints
from catalog_probe.probes.judging.inconclusive.one_answer import MAX_REQUESTS, MIN_FAULTS
from catalog_probe.probes.planning.obstacles import find_obstacle
from catalog_probe.probes.recipes.fault_free import fault_free_request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Cost, Target


def list_fault_free_requests(
    probed: Mapping[str, Recipe], catalog: Catalog, target: Target, allow: frozenset[Cost]
) -> list[Recipe]:
    """List the fault-free requests that may be needed, each as often as it may be sent.

    For each endpoint and credential there is one for every `MIN_FAULTS` different faults, and one more if its answer
    gets lost.
    """
    fault_counts = Counter(key for recipe in probed.values() for key in _list_refusals(recipe, catalog))
    return [
        recipe
        for (role, endpoint), count in sorted(fault_counts.items())
        for recipe in _list_allowed(endpoint, role, target, allow)
        for _ in range(count // MIN_FAULTS * MAX_REQUESTS)
    ]


def _list_refusals(recipe: Recipe, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """Yield credential and endpoint of each label that may be refused."""
    record = catalog[recipe.address]
    own = (recipe.address,) if record.kind == "endpoints" else claimed_endpoints(record)
    first = recipe.endpoint or next(iter(own), "")
    for endpoint in filter(None, (first, *recipe.endpoint_plan.recipes)):
        yield from ((recipe.credential, endpoint) for _ in recipe.labels)


def _list_allowed(endpoint: str, role: str, target: Target, allow: frozenset[Cost]) -> Iterable[Recipe]:
    """List the fault-free request of an endpoint with this role's key, if it may be sent here."""
    recipe = fault_free_request(endpoint)
    if isinstance(recipe, Reason):
        return ()
    recipe = replace(recipe, credential=role)
    return () if find_obstacle(recipe, target, allow) is not None else (recipe,)
