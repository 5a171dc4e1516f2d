"""Plans the other endpoints that an error record names: those that tonight includes and that can be asked here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.reading.record_fields import claimed_endpoints
from catalog_probe.catalog.recognition.endpoints import EndpointIndex
from catalog_probe.probes.planning.obstacles import find_obstacle
from catalog_probe.probes.recipes.recipe import NO_OTHER_ENDPOINTS, EndpointPlan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.files.store import Catalog
    from catalog_probe.catalog.model import Reason, Record
    from catalog_probe.probes.planning.rotation import Rotation
    from catalog_probe.probes.recipes.other_endpoints import MinimalRequests
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Cost, Target


def plan_endpoints(
    others: dict[str, Recipe], record: Record, target: Target, allow: frozenset[Cost], rotation: Rotation
) -> EndpointPlan:
    """Decide what a run sends to the record's other endpoints, as `list_other_endpoints` gives them."""
    if not others:
        return NO_OTHER_ENDPOINTS
    sent: dict[str, Recipe] = {}
    left_out: dict[str, Reason] = {}
    not_drawn: list[str] = []
    for endpoint, recipe in others.items():
        if not rotation.includes(record, endpoint):
            not_drawn.append(endpoint)
            continue
        obstacle = find_obstacle(recipe, target, allow)
        if obstacle is None:
            sent[endpoint] = recipe
        else:
            left_out[endpoint] = obstacle
    return EndpointPlan(sent, left_out, tuple(not_drawn))


def list_other_endpoints(
    recipe: Recipe, record: Record, catalog: Catalog, minimal_requests: MinimalRequests
) -> dict[str, Recipe]:
    """Return the recipe for each endpoint that the record names and its own calls do not ask, if it has one."""
    if recipe.other_endpoints is None:
        return {}
    claimed = claimed_endpoints(record)
    own = own_endpoints(recipe, claimed, catalog)
    recipes = {}
    for endpoint in claimed:
        if endpoint in own:
            continue
        provoked = recipe.other_endpoints(endpoint, minimal_requests.get(endpoint))
        if provoked is not None:
            recipes[endpoint] = recipe.for_endpoint(endpoint, provoked)
    return recipes


def own_endpoints(recipe: Recipe, claimed: Sequence[str], catalog: Catalog) -> frozenset[str]:
    """Return the endpoints that the recipe's own calls ask; steps that name none ask the first of the record."""
    if recipe.endpoint:
        return frozenset({recipe.endpoint})
    index = EndpointIndex.from_records(catalog[endpoint] for endpoint in claimed)
    endpoints = {
        index.find_by_request(call.method, call.path, claimed, streamed=call.stream) for call in recipe.calls.values()
    }
    if recipe.steps is not None:
        endpoints.update(claimed[:1])
    return frozenset(endpoints - {""})
