"""PD's state: deferred results, budgets, states of keys (1:2.6, 1:3, 2:8.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.unit.mockserver.pd_client import PdClient


def start_deferred(pd: PdClient, **kwargs: Any) -> str:
    request_id = pd.complete({"deferred": True}, **kwargs).json()["request_id"]
    return f"/v1/chat/deferred-completion/{request_id}"


def test_a_deferred_result_is_pending_then_ready_once(pd: PdClient) -> None:
    path = start_deferred(pd)
    pending = pd.ask("GET", path)
    assert (pending.status_code, pending.content) == (202, b"")
    assert pd.ask("GET", path).status_code == 202
    ready = pd.ask("GET", path, clock="+1m")
    assert ready.json()["choices"][0]["message"]["content"] == "The mock heard: Hello"
    assert pd.ask("GET", path, clock="+1m").status_code == 404


def test_a_deferred_result_waits_24_hours(pd: PdClient) -> None:
    in_time, too_late = start_deferred(pd), start_deferred(pd)
    assert pd.ask("GET", in_time, clock="+23h59m").status_code == 200
    assert pd.ask("GET", too_late, clock="+24h1m").status_code == 404


def test_a_deferred_result_belongs_to_its_team_and_session(pd: PdClient) -> None:
    path = start_deferred(pd)
    assert pd.ask("GET", path, key="mock-pd-labs", clock="+1m").status_code == 404
    assert pd.ask("GET", path, clock="+1m", headers={"x-mock-session": "another"}).status_code == 404
    assert pd.ask("GET", path, clock="+1m").status_code == 200


@pytest.mark.parametrize(
    ("key", "states"),
    [
        ("mock-pd-inference", {"api_key_blocked": False, "api_key_disabled": False, "team_blocked": False}),
        ("mock-pd-blocked", {"api_key_blocked": True, "api_key_disabled": False, "team_blocked": False}),
        ("mock-pd-disabled", {"api_key_blocked": False, "api_key_disabled": True, "team_blocked": False}),
        ("mock-pd-team-blocked", {"api_key_blocked": False, "api_key_disabled": False, "team_blocked": True}),
    ],
)
def test_the_key_record_tells_the_state_of_the_key(pd: PdClient, key: str, states: dict[str, bool]) -> None:
    record = pd.ask("GET", "/v1/api-key", key=key).json()
    assert record == {"acls": ["api-key:endpoint:*", "api-key:model:*"], **states}


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
