"""PA's limits: rates of requests and tokens, spending, budgets of the compliance API (2:7.2, 2:7.3, 2:8.2)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pa.keys import SpendingStatus
from catalog_probe.mockserver.pa.scenarios import next_month, refuse_spenders
from tests.unit.mockserver.mock_client import Client, make_message

if TYPE_CHECKING:
    from httpx import Response

ADMIN = "mock-pa-admin"
LIMITS = "/v1/organizations/rate_limits"
WORKSPACES = "/v1/organizations/workspaces"


def read_refusal(response: Response) -> tuple[int, str, str | None]:
    """Return status, type and advice to retry of a refusal."""
    return response.status_code, response.json()["error"]["type"], response.headers.get("x-should-retry")


def test_three_cheap_requests_exhaust_a_tight_organization(client: Client) -> None:
    def count_tokens(**kwargs: Any) -> Response:
        request_body = make_message({"max_tokens": ...})
        return client.pa("POST", "/v1/messages/count_tokens", json=request_body, key="mock-pa-tight", **kwargs)

    assert [count_tokens().status_code for _ in range(2)] == [200, 200]
    refused = count_tokens()
    assert read_refusal(refused) == (429, "rate_limit_error", "true")
    assert 1 <= int(refused.headers["retry-after"]) <= 30
    assert refused.headers["pa-ratelimit-requests-limit"] == "2"
    assert refused.headers["pa-ratelimit-requests-remaining"] == "0"
    assert count_tokens(session="another").status_code == 200
    assert count_tokens(clock="+31s").status_code == 200


def test_each_model_class_has_a_budget_of_its_own(client: Client) -> None:
    for model in ("mock-small", "mock-large"):
        statuses = [client.hello({"model": model}, key="mock-pa-tight").status_code for _ in range(3)]
        assert statuses == [200, 200, 429]


def test_output_tokens_are_charged_as_generated_and_input_as_sent(client: Client) -> None:
    before = client.hello(key="mock-pa-tight").headers
    answer = client.hello({"messages": [{"role": "user", "content": "word " * 4000}]}, key="mock-pa-tight")
    after, sent = answer.headers, answer.json()["usage"]["input_tokens"]
    taken = int(before["pa-ratelimit-input-tokens-remaining"]) - int(after["pa-ratelimit-input-tokens-remaining"])
    assert sent - 400 < taken <= sent  # the bucket refills a little meanwhile
    assert after["pa-ratelimit-tokens-limit"] in ("4000", "20000")


@pytest.mark.parametrize("how", [{"key": "mock-pa-coding-assistant"}, {"scenario": "acceleration_limit;retry_after=7"}])
def test_other_limits_get_429_with_retry_after(client: Client, how: dict[str, Any]) -> None:
    response = client.hello(**how)
    assert read_refusal(response) == (429, "rate_limit_error", "true")
    assert int(response.headers["retry-after"]) >= 1


@pytest.mark.parametrize(
    ("key", "says"),
    [("mock-pa-organization-limit", "API usage limits"), ("mock-pa-workspace-limit", "workspace API usage limits")],
)
def test_a_self_set_spend_limit_gets_400_with_its_fixed_phrase(client: Client, key: str, says: str) -> None:
    response = client.hello(key=key)
    assert read_refusal(response) == (400, "invalid_request_error", "false")
    message = response.json()["error"]["message"]
    assert message.startswith("You have reached your specified")
    assert says in message
    assert client.pa("GET", "/v1/models", key=key).status_code == 200


def test_the_spend_cap_gets_429_that_waiting_does_not_mend(client: Client) -> None:
    response = client.hello(key="mock-pa-spend-cap")
    assert read_refusal(response) == (429, "rate_limit_error", "false")
    assert "retry-after" not in response.headers
    assert response.json()["error"]["details"] == {"error_code": "enforced_spend_limit_reached"}


def test_the_spend_cap_is_lifted_when_the_month_is_over(client: Client) -> None:
    """Each month ends within 31 days (1:3, 2:8.2)."""
    assert client.hello(key="mock-pa-spend-cap", clock="+31d").status_code == 200


def test_the_next_month_begins_at_midnight_utc() -> None:
    assert rfc3339(next_month(1_767_200_000)) == "2026-01-01T00:00:00Z"
    assert rfc3339(next_month(1_769_904_000)) == "2026-03-01T00:00:00Z"


def test_the_spend_cap_is_lifted_on_the_first_of_the_next_month_at_midnight_utc() -> None:
    reached_at = datetime(2026, 12, 17, 9, tzinfo=UTC).timestamp()
    lifted_at = datetime(2027, 1, 1, tzinfo=UTC).timestamp()
    with pytest.raises(Refusal):
        refuse_spenders(SpendingStatus.SPEND_CAP, lifted_at - 1, reached_at)
    refuse_spenders(SpendingStatus.SPEND_CAP, lifted_at, reached_at)


@pytest.mark.parametrize(
    "spending_status",
    [SpendingStatus.ORGANIZATION_LIMIT, SpendingStatus.WORKSPACE_LIMIT, SpendingStatus.CODING_ASSISTANT_LIMIT],
)
def test_other_spending_limits_are_never_lifted(spending_status: SpendingStatus) -> None:
    reached_at, later = (datetime(2027, month, 2, tzinfo=UTC).timestamp() for month in (1, 2))
    with pytest.raises(Refusal):
        refuse_spenders(spending_status, later, reached_at)


def test_the_limits_of_a_workspace_are_those_that_it_keeps(client: Client) -> None:
    def list_limits(workspace: str, key: str = ADMIN) -> dict[str, int]:
        response = client.pa("GET", f"{WORKSPACES}/{workspace}/rate_limits", key=key)
        return {limit["id"]: limit["value"] for limit in response.json()["data"]}

    limited = "wrkspc_01MockSlowWorkspace00001"
    assert list_limits(limited) == {"messages/requests": 1}
    answers = [client.hello(key="mock-pa-slow-workspace") for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 429]
    for workspace in ("wrkspc_01MockCodingAssistant001", "wrkspc_01MockDefaultWorkspace01"):
        assert list_limits(workspace) == {}
    assert list_limits("wrkspc_01MockMarketWorkspace001", "mock-pa-admin-marketplace") == {}


def ask_compliance(client: Client, path: str, key: str, clock: str | None = None) -> Response:
    return client.pa("GET", f"/v1/compliance{path}", key=key, clock=clock)


def test_the_compliance_budget_is_shared_by_keys_and_linked_organizations(client: Client) -> None:
    first, second = "mock-pa-compliance-narrow", "mock-pa-compliance-narrow-too"
    answers = [
        ask_compliance(client, path, key)
        for path in ("/activities", "/organizations", "/groups")
        for key in (first, second)
    ]
    assert [answer.status_code for answer in answers] == [200] * 6
    answer = ask_compliance(client, "/activities", second)
    assert read_refusal(answer)[:2] == (429, "rate_limit_error")
    assert answer.headers["pa-ratelimit-requests-limit"] == "6"
    assert answer.headers["pa-ratelimit-requests-remaining"] == "0"
    assert answer.headers["pa-ratelimit-requests-reset"].endswith("Z")
    assert int(answer.headers["retry-after"]) > 1
    assert ask_compliance(client, "/activities", second, f"+{answer.headers['retry-after']}s").status_code == 200
    assert ask_compliance(client, "/activities", "mock-pa-compliance").status_code == 200


def test_the_second_compliance_budget_is_for_remote_sessions_and_says_one_second(client: Client) -> None:
    key = "mock-pa-compliance-narrow"
    statuses = [ask_compliance(client, "/apps/remote-sessions", key).status_code for _ in range(2)]
    refusal = ask_compliance(client, "/apps/remote-sessions", key)
    assert statuses == [200, 200]
    assert read_refusal(refusal)[:2] == (429, "rate_limit_error")
    assert refusal.headers["retry-after"] == "1"
    assert ask_compliance(client, "/apps/chats", key).status_code == 200
