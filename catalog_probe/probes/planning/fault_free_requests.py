"""Which requests without a fault a run may send at most, to learn what an answer to many faults is worth. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.reading.record_fields import claimed_endpoints
from catalog_probe.probes.judging.inconclusive.one_answer import MAX_REQUESTS, MIN_FAULTS
from catalog_probe.probes.planning.obstacles import obstacle
from catalog_probe.probes.recipes.fault_free import fault_free_request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Cost, Target


def at_most(probed: Mapping[str, Recipe], catalog: Catalog, target: Target, allow: frozenset[Cost]) -> list[Recipe]:
    """For as many different faults as make an answer suspicious, on each endpoint of each credential, one request, and
    one more where its answer gets lost.
    """
    faults = Counter(place for recipe in probed.values() for place in _refused(recipe, catalog))
    return [
        found
        for (role, endpoint), count in sorted(faults.items())
        for found in _allowed(endpoint, role, target, allow)
        for _ in range(count // MIN_FAULTS * MAX_REQUESTS)
    ]


def _refused(recipe: Recipe, catalog: Catalog) -> Iterator[tuple[str, str]]:
    """The credential and the endpoint of each cell that may be refused."""
    record = catalog[recipe.address]
    own = (recipe.address,) if record.kind == "endpoints" else claimed_endpoints(record)
    first = recipe.endpoint or next(iter(own), "")
    for endpoint in filter(None, (first, *recipe.endpoint_plan.recipes)):
        yield from ((recipe.credential, endpoint) for _ in recipe.labels)


def _allowed(endpoint: str, role: str, target: Target, allow: frozenset[Cost]) -> Iterable[Recipe]:
    """How the endpoint is asked without a fault with this role's key, if it may be here."""
    found = fault_free_request(endpoint)
    if isinstance(found, Reason):
        return ()
    asked = replace(found, credential=role)
    return () if obstacle(asked, target, allow) is not None else (asked,)
