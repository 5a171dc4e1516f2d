"""What is sent to the other endpoints that an error record names: those that are drawn and can be asked here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.reading.record_fields import claimed_endpoints
from catalog_probe.catalog.recognition.endpoint_index import EndpointIndex
from catalog_probe.probes.planning.obstacles import obstacle
from catalog_probe.probes.recipes.recipe import NO_OTHER_ENDPOINTS, EndpointPlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Reason, Record
    from catalog_probe.probes.planning.rotation import Drawing
    from catalog_probe.probes.recipes.other_endpoints import MinimalRequests
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Cost, Target


def spread(
    others: dict[str, Recipe], record: Record, target: Target, allow: frozenset[Cost], drawing: Drawing
) -> EndpointPlan:
    """What of the record's other endpoints, as `elsewhere` gives them, is sent in a run."""
    if not others:
        return NO_OTHER_ENDPOINTS
    cells: dict[str, Recipe] = {}
    left_out: dict[str, Reason] = {}
    not_drawn: list[str] = []
    for endpoint, cell in others.items():
        if not drawing.draws(record, endpoint):
            not_drawn.append(endpoint)
            continue
        reason = obstacle(cell, target, allow)
        if reason is None:
            cells[endpoint] = cell
        else:
            left_out[endpoint] = reason
    return EndpointPlan(cells, left_out, tuple(not_drawn))


def elsewhere(recipe: Recipe, record: Record, catalog: Catalog, shapes: MinimalRequests) -> dict[str, Recipe]:
    """The recipe on each endpoint that the record names and its own calls do not ask, as far as it can be made."""
    return dict(_elsewhere(recipe, record, catalog, shapes))


def _elsewhere(
    recipe: Recipe, record: Record, catalog: Catalog, shapes: MinimalRequests
) -> Iterator[tuple[str, Recipe]]:
    if recipe.other_endpoints is None:
        return
    claimed = claimed_endpoints(record)
    own = asked_first(recipe, claimed, catalog)
    for endpoint in claimed:
        provoked = recipe.other_endpoints(endpoint, shapes.get(endpoint)) if endpoint not in own else None
        if provoked is not None:
            yield endpoint, recipe.for_endpoint(endpoint, provoked)


def asked_first(recipe: Recipe, claimed: Sequence[str], catalog: Catalog) -> frozenset[str]:
    """The endpoints that the recipe's own calls ask. Steps that name none ask the first that the record names."""
    if recipe.endpoint:
        return frozenset({recipe.endpoint})
    templates = EndpointIndex.from_records(catalog[each] for each in claimed)
    found = {
        templates.find_by_request(call.method, call.path, claimed, streamed=call.stream)
        for call in recipe.calls.values()
    }
    if recipe.steps is not None:
        found.update(claimed[:1])
    return frozenset(found - {""})
