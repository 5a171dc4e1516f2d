"""The request and token budget of a provider."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.running.pacing.budget import Budget
from catalog_probe.probes.targets.target import Provider

if TYPE_CHECKING:
    import pytest


def budget_spent(detail: str) -> Reason:
    return Reason(ReasonCode.BUDGET_SPENT, f"providers.pa.{detail}")


def test_requests_are_refused_beyond_the_budget() -> None:
    budget = Budget(Provider("pa", max_requests=2))
    assert [budget.take_request() for _ in range(2)] == [None, None]
    for _ in range(2):  # what was not sent is not counted
        assert budget.take_request() == budget_spent("max_requests = 2; 2 requests sent, 0 tokens reserved")


def test_tokens_are_refused_beyond_the_budget(subtests: pytest.Subtests) -> None:
    for limit in [0, 100]:
        with subtests.test(limit=limit):
            budget = Budget(Provider("pa", max_tokens=limit))
            budget.take_request()
            assert budget.reserve_tokens(limit // 2) is None
            refused = budget_spent(f"max_tokens = {limit}; 1 requests sent, {limit // 2} tokens reserved")
            assert budget.reserve_tokens(limit // 2 + 1) == refused
            assert budget.reserve_tokens(limit // 2) is None, "one that takes less may"
            assert budget.reserve_tokens(1) == budget_spent(
                f"max_tokens = {limit}; 1 requests sent, {limit} tokens reserved"
            )
            assert budget.reserve_tokens(0) is None, "and one that takes none"


def test_budget_without_limits_refuses_nothing() -> None:
    budget = Budget(Provider("pa"))
    assert {budget.take_request() for _ in range(3)} == {budget.reserve_tokens(10**9) for _ in range(3)} == {None}
    assert (budget.requests, budget.tokens) == (3, 3 * 10**9)
