"""Each endpoint whose errors are provoked can be asked without a fault, or says why not; and then it succeeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anyio
import pytest

from catalog.model import Outcome, Reason
from catalog.model.codes import ReasonCode
from catalog.reading.grpc_statuses import status_of
from catalog.reading.manifest import providers
from catalog.reading.store import Catalog
from probes.elicit.performing import perform
from probes.elicit.twins import TWIN, twin
from probes.planning.obstacles import obstacle
from probes.recipes import pa, pc, pd
from probes.running.attempt_probe import AttemptProbe
from probes.running.budget import Budget
from probes.running.lane import Lane
from probes.target.target import NOWHERE_KEY, Cost, Target
from probes.wire.redact import Redactor
from tests.harness.engines import Clean, catalog

if TYPE_CHECKING:
    from catalog.evidence.results import Result
    from catalog.model import Exchange
    from probes.elicit.recipe import Recipe

ENDPOINTS = [str(record.address) for record in Catalog.load().select(kind="endpoints")]
WITH_TWIN = [(each, found) for each in ENDPOINTS if not isinstance(found := twin(each), Reason)]


def refusing(result: Result) -> set[str]:
    """The endpoints at which a record's probe was refused."""
    asked = {look.label: look.endpoint for look in result.looks}
    refused = {
        each.label
        for attempt in result.attempts
        for each in attempt.exchanges
        if each.response is not None and (status_of(each.response, result.address.provider) or 0) >= 400
    }
    return {asked[label] for label in refused & asked.keys()} - {""}


@pytest.mark.parametrize("name", providers())
def test_each_endpoint_that_takes_errors_has_one_or_a_reason(name: str, clean: Clean) -> None:
    results = clean(name).values()
    judged = [result for result in results if result.outcome is Outcome.CONFORMS]
    endpoints = set().union(*map(refusing, judged))
    assert len(endpoints) > 5
    undeclared = [
        each
        for each in sorted(endpoints)
        if isinstance(found := twin(each), Reason) and "no request without a fault is declared" in found.detail
    ]
    assert undeclared == []


def test_each_that_is_declared_is_an_endpoint_without_another() -> None:
    declared = [address for package in (pa, pc, pd) for address in package.NO_TWIN]
    made = [each.address for package in (pc, pd) for each in package.TWINS]
    assert set(declared) | set(made) <= set(ENDPOINTS)
    assert not set(declared) & set(made)
    assert all(isinstance(found := twin(each), Reason) and found.code == ReasonCode.NO_RECIPE for each in declared)


@pytest.mark.parametrize(("endpoint", "recipe"), WITH_TWIN, ids=[endpoint for endpoint, _ in WITH_TWIN])
def test_it_succeeds(endpoint: str, recipe: Recipe, mock_target: Target) -> None:
    assert obstacle(recipe, mock_target, frozenset(Cost)) is None
    exchange = anyio.run(asked, endpoint, recipe, mock_target)
    assert exchange.response is not None
    assert (status_of(exchange.response, endpoint.partition("/")[0]) or 0) < 400, exchange.response


async def asked(endpoint: str, recipe: Recipe, target: Target) -> Exchange:
    provider = target.providers[recipe.provider]
    lane = Lane(provider, recipe.credential, Redactor.of(target, public=[NOWHERE_KEY]), Budget(provider), mock=True)
    probe = AttemptProbe(endpoint, recipe.credential, lane, f"twins/{endpoint}/1")
    try:
        await perform(recipe, probe)
        await probe.remove_all()
    finally:
        await lane.aclose()
    return next(each for each in probe.exchanges if each.label == TWIN)


def test_a_success_is_of_the_endpoint_itself() -> None:
    assert {recipe.address for _, recipe in WITH_TWIN} == {endpoint for endpoint, _ in WITH_TWIN}
    assert len(WITH_TWIN) > len(catalog().select(kind="endpoints")) // 2
