"""Budgets of requests and tokens are held before each send, also under xdist."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.exchange import CLEANUP
from catalog_probe.mockserver.app import create_app
from catalog_probe.probes.planning.sharding import find_group
from catalog_probe.probes.recipes.book import recipe_book
from tests.harness.command import probe_here, pytest_probes
from tests.harness.engines import catalog, mock_target_at, probe
from tests.harness.live import write_live_target
from tests.harness.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result
    from catalog_probe.probes.targets.target import Target


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with serving(create_app(only=["pa"])) as address:
        yield address


def pa(base: str, **changes: int) -> Target:
    target = mock_target_at(base, **changes)
    return replace(target, providers={"pa": target.providers["pa"]})


def count_sent(results: dict[str, Result]) -> int:
    """Requests sent by attempts; controls and what removes fixtures draw on no budget."""
    sending = (exchange for result in results.values() for attempt in result.attempts for exchange in attempt.exchanges)
    return sum(exchange.label != CLEANUP for exchange in sending)


def test_no_request_is_sent_beyond_the_budget_of_all_lanes_together(base: str) -> None:
    chosen = [str(record.address) for record in catalog().select(provider="pa", kind="endpoints")]
    results = probe(pa(base, max_requests=25), chosen)
    without_budget = [result for result in results.values() if result.reason and result.reason.code == "budget-spent"]
    assert len({result.lane for result in results.values() if result.attempts}) > 1
    assert 20 < count_sent(results) <= 25
    assert without_budget
    assert {result.outcome for result in without_budget} == {Outcome.INCONCLUSIVE}
    assert without_budget[0].reason is not None
    assert "max_requests = 25" in without_budget[0].reason.detail


def test_tokens_are_reserved_before_an_attempt_and_free_probes_go_on(base: str) -> None:
    recipes = recipe_book("pa").recipes
    dear = [address for address, recipe in recipes.items() if recipe.tokens == 400][:4]
    free = "pa/endpoints/models/list_models"
    results = probe(pa(base, max_tokens=900), [*dear, free])
    reasons = [results[address].reason for address in dear]
    outcomes = Counter(reason.code if reason else "seen" for reason in reasons)
    assert outcomes == {"seen": 2, "budget-spent": 2}
    assert results[free].outcome is Outcome.CONFORMS
    for address in dear:
        result = results[address]
        assert bool(result.attempts) == (result.outcome is Outcome.CONFORMS), "nothing is sent for what is not paid for"


def test_lanes_that_share_a_budget_share_a_process(base: str) -> None:
    compliance, models = "pa/errors/compliance/chat_not_found", "pa/endpoints/models/list_models"
    here, live = mock_target_at(base), replace(pa(base), live=True)
    budgeted = mock_target_at(base, max_requests=5)
    assert find_group(compliance, here) != find_group(models, here)
    assert find_group(compliance, budgeted) == find_group(models, budgeted) == "pa"
    assert find_group(compliance, live) == find_group(models, live) == "pa", (
        "live, both draw on one organization's limits"
    )


def test_under_xdist_the_budget_holds_for_the_whole_run(base: str, tmp_path: Path) -> None:
    tonight = write_live_target(tmp_path, {"pa": f"{base}/pa"}, max_requests=6)
    arguments = ("--target", str(tonight.path), "-k", "models or files or agents", "-n", "2")
    ran = pytest_probes(tmp_path / "out", *arguments, environ=tonight.environ)
    assert ran.status == 10, ran.all_output
    assert 0 < count_sent(ran.results) <= 6
    refused = probe_here(tmp_path / "out2", *arguments, "--dist", "load", environ=tonight.environ)
    assert refused.status == 4
    assert "only --dist loadgroup can keep" in refused.all_output
