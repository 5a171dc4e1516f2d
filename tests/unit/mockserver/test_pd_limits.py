"""PD's limits: rates by model, caps by key, credit, budgets of sessions (1:3, 2:8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.unit.mockserver.mock_client import PdClient


@pytest.mark.parametrize("key", ["mock-pd-tight", "mock-pd-tight-tokens", "mock-pd-capped"])
def test_a_limit_lets_one_through_and_is_429_without_retry_after(pd: PdClient, key: str) -> None:
    assert pd.complete(key=key).status_code == 200
    refused = pd.complete(key=key)
    assert (refused.status_code, refused.json()["code"]) == (429, "resource-exhausted")
    assert "retry-after" not in refused.headers
    assert not [name for name in refused.headers if "ratelimit" in name]
    assert pd.complete(key=key, clock="+3m").status_code == 200


def test_rate_limits_are_per_model_and_the_cap_of_a_key_is_not(pd: PdClient) -> None:
    for key, status in (("mock-pd-tight", 200), ("mock-pd-capped", 429)):
        assert pd.complete(key=key).status_code == 200
        assert pd.complete({"model": "mock-reasoning"}, key=key).status_code == status


def test_only_generation_is_counted(pd: PdClient) -> None:
    for _ in range(3):
        assert pd.ask("GET", "/v1/models", key="mock-pd-tight").status_code == 200
        assert pd.ask("POST", "/v1/tokenize-text", key="mock-pd-tight", json={"text": "hi"}).status_code == 200
    assert pd.complete(key="mock-pd-tight").status_code == 200


def test_without_credit_nothing_is_generated_until_there_is_some(pd: PdClient) -> None:
    assert pd.ask("GET", "/v1/models", key="mock-pd-depleted").status_code == 200
    for clock in (None, "+2d"):
        assert pd.complete(key="mock-pd-depleted", clock=clock).status_code == 429


def test_sessions_have_budgets_of_their_own(pd: PdClient) -> None:
    for session in ("one", "two"):
        assert pd.complete(key="mock-pd-tight", headers={"x-mock-session": session}).status_code == 200
