"""Each endpoint with errors has a fault-free request that succeeds, or a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from catalog_probe.catalog.files.manifest import providers
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import http_status_of
from catalog_probe.probes.planning.reach import find_obstacle
from catalog_probe.probes.recipes.book import FAULT_FREE, fault_free_request
from catalog_probe.probes.recipes.performing import perform_recipe
from catalog_probe.probes.running.attempt_probe import AttemptProbe
from catalog_probe.probes.running.lane import Lane
from catalog_probe.probes.running.limits import Budget
from catalog_probe.probes.targets.target import Cost
from catalog_probe.probes.wire.redaction import Redactor
from tests.harness.engines import CleanResults, catalog
from tests.harness.recipes import load_recipes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.catalog.model import Response
    from catalog_probe.probes.recipes.recipe import Recipe
    from catalog_probe.probes.targets.target import Provider, Target

ENDPOINTS = [str(record.address) for record in catalog().select(kind="endpoints")]
FAULT_FREE_RECIPES = [
    (endpoint, recipe) for endpoint in ENDPOINTS if not isinstance(recipe := fault_free_request(endpoint), Reason)
]


def refused_endpoints(result: Result) -> set[str]:
    """The endpoints at which a record's probe was refused."""
    endpoint_by_label = {observation.label: observation.endpoint for observation in result.observations}
    refused = {
        exchange.label
        for attempt in result.attempts
        for exchange in attempt.exchanges
        if exchange.response is not None and (http_status_of(exchange.response, result.address.provider) or 0) >= 400
    }
    return {endpoint_by_label[label] for label in refused & endpoint_by_label.keys()} - {""}


@pytest.mark.parametrize("name", providers())
def test_each_endpoint_with_errors_has_a_fault_free_request_or_a_reason(name: str, clean: CleanResults) -> None:
    results = clean(name).values()
    judged = [result for result in results if result.outcome is Outcome.CONFORMS]
    endpoints = set().union(*map(refused_endpoints, judged))
    assert len(endpoints) > 5
    undeclared = [
        endpoint
        for endpoint in sorted(endpoints)
        if isinstance(reason := fault_free_request(endpoint), Reason)
        and "no request without a fault is declared" in reason.detail
    ]
    assert undeclared == []


def test_declared_endpoints_exist_and_have_no_second_declaration() -> None:
    declared = [address for name in ("pa", "pc", "pd") for address in load_recipes(name).NO_FAULT_FREE_REQUEST]
    with_request = [endpoint.address for name in ("pc", "pd") for endpoint in load_recipes(name).FAULT_FREE_REQUESTS]
    assert set(declared) | set(with_request) <= set(ENDPOINTS)
    assert not set(declared) & set(with_request)
    assert all(
        isinstance(found := fault_free_request(endpoint), Reason) and found.code == ReasonCode.NO_RECIPE
        for endpoint in declared
    )


@pytest.mark.parametrize("name", providers())
def test_each_fault_free_request_succeeds(name: str, mock_target: Target) -> None:
    own_recipes = {endpoint: recipe for endpoint, recipe in FAULT_FREE_RECIPES if endpoint.startswith(f"{name}/")}
    obstacles = {
        endpoint: find_obstacle(recipe, mock_target, frozenset(Cost)) for endpoint, recipe in own_recipes.items()
    }
    assert {endpoint: reason for endpoint, reason in obstacles.items() if reason is not None} == {}
    answers = anyio.run(ask_all, own_recipes, mock_target.providers[name], Redactor.for_target(mock_target))
    statuses = {endpoint: http_status_of(answer, name) for endpoint, answer in answers.items() if answer is not None}
    assert statuses.keys() == own_recipes.keys()
    assert {endpoint: answers[endpoint] for endpoint, status in statuses.items() if (status or 0) >= 400} == {}


async def ask_all(recipes: Mapping[str, Recipe], provider: Provider, redactor: Redactor) -> dict[str, Response | None]:
    """Return what each endpoint answers to its fault-free request, with one lane per credential."""
    lanes: dict[str, Lane] = {}
    answers = {}
    try:
        for endpoint, recipe in recipes.items():
            role = recipe.credential
            if role not in lanes:
                lanes[role] = Lane(provider, role, redactor, Budget(provider), mock=True)
            probe = AttemptProbe(endpoint, role, lanes[role], f"twins/{endpoint}/1")
            await perform_recipe(recipe, probe)
            await probe.remove_all()
            answers[endpoint] = next(exchange.response for exchange in probe.exchanges if exchange.label == FAULT_FREE)
    finally:
        for lane in lanes.values():
            await lane.aclose()
    return answers


def test_fault_free_requests_ask_their_own_endpoint() -> None:
    assert {recipe.address for _, recipe in FAULT_FREE_RECIPES} == {endpoint for endpoint, _ in FAULT_FREE_RECIPES}
    assert len(FAULT_FREE_RECIPES) > len(catalog().select(kind="endpoints")) // 2
