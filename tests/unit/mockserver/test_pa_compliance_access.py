"""Access to PA's compliance API: key types, states, scopes, budgets (1:5.1, 2:7.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.unit.mockserver.compliance_client import CHAT, DELETE, IDLE, ORGANIZATION, READ, Compliance, read_refusal

if TYPE_CHECKING:
    from httpx import Response

    from tests.unit.mockserver.mock_client import Client

AUDIT = "mock-pa-compliance-audit"
ACTIVITIES, ORG_DATA, USER_DATA = "/activities", "/organizations", "/apps/chats"
SETTINGS = f"/organizations/{ORGANIZATION}/settings"
UNAUTHENTICATED = (401, "authentication_error")
FORBIDDEN = (403, "permission_error")


@pytest.fixture
def api(client: Client) -> Compliance:
    return Compliance(client)


def comparable(response: Response) -> tuple[int, dict[str, str], dict[str, Any]]:
    """The whole answer, but for what is new in each."""
    body = response.json()
    del body["request_id"]
    headers = {name: value for name, value in response.headers.items() if name not in ("request-id", "date")}
    return response.status_code, headers, body


@pytest.mark.parametrize("path", [ACTIVITIES, ORG_DATA, USER_DATA, f"/apps/chats/{CHAT}/messages"])
@pytest.mark.parametrize("key", [None, "mock-pa-inference"])
def test_a_stranger_is_answered_as_on_an_unknown_path(api: Compliance, path: str, key: str | None) -> None:
    assert comparable(api.get(path, key=key)) == comparable(api.get("/no-such-path", key=key))


@pytest.mark.parametrize("key", [None, "mock-pa-inference"])
def test_a_stranger_learns_of_no_path_by_a_wrong_method(api: Compliance, key: str | None) -> None:
    assert comparable(api.delete(ACTIVITIES, key=key)) == comparable(api.delete("/no-such-path", key=key))
    assert api.delete(ACTIVITIES, key="no-such-key").status_code == 401
    assert api.delete(ACTIVITIES).status_code == 405


def test_a_bearer_token_is_no_key_here(api: Compliance) -> None:
    assert read_refusal(api.get(ACTIVITIES, key=None, headers={"authorization": f"Bearer {READ}"}))[0] == 404


@pytest.mark.parametrize("key", [None, "mock-pa-inference"])
def test_the_settings_endpoint_alone_answers_strangers_401(api: Compliance, key: str | None) -> None:
    answer = api.get(SETTINGS, key=key)
    assert read_refusal(answer) == UNAUTHENTICATED
    assert "pa-organization-id" not in answer.headers


@pytest.mark.parametrize("key", ["no-such-key", "mock-pa-compliance-deactivated", "mock-pa-admin-expired"])
def test_a_key_that_cannot_be_used_gets_401_without_organization(api: Compliance, key: str) -> None:
    answer = api.get(ACTIVITIES, key=key)
    assert read_refusal(answer) == UNAUTHENTICATED
    assert "x-api-key" in answer.json()["error"]["message"]
    assert "pa-organization-id" not in answer.headers
    assert answer.headers["x-should-retry"] == "false"


@pytest.mark.parametrize(
    ("key", "allowed"),
    [
        (READ, {ACTIVITIES, ORG_DATA, USER_DATA}),
        (AUDIT, {ACTIVITIES, ORG_DATA, USER_DATA}),
        ("mock-pa-compliance-activities", {ACTIVITIES}),
        ("mock-pa-compliance-org-data", {ORG_DATA}),
        ("mock-pa-compliance-user-data", {USER_DATA}),
        ("mock-pa-compliance-retired", set()),
        ("mock-pa-admin", {ACTIVITIES}),
        (DELETE, set()),
    ],
)
def test_each_scope_opens_its_endpoints_alone(api: Compliance, key: str, allowed: set[str]) -> None:
    for path in (ACTIVITIES, ORG_DATA, USER_DATA):
        answer = api.get(path, key=key)
        if path in allowed:
            assert answer.status_code == 200
            assert answer.headers["pa-organization-id"]
        else:
            assert read_refusal(answer) == FORBIDDEN


@pytest.mark.parametrize("key", [READ, AUDIT])
def test_no_read_scope_deletes(api: Compliance, key: str) -> None:
    assert read_refusal(api.delete(f"/apps/projects/{IDLE}", key=key)) == FORBIDDEN
    assert api.get(f"/apps/projects/{IDLE}").status_code == 200


def test_the_retired_scope_is_named(api: Compliance) -> None:
    assert "retired" in api.get(SETTINGS, key="mock-pa-compliance-retired").json()["error"]["message"]


@pytest.mark.parametrize("key", ["mock-pa-compliance-not-enabled", "mock-pa-compliance-dormant-parent"])
@pytest.mark.parametrize("path", [ACTIVITIES, SETTINGS, USER_DATA])
def test_every_endpoint_fails_while_the_api_is_not_enabled(api: Compliance, key: str, path: str) -> None:
    assert read_refusal(api.get(path, key=key)) == (400, "invalid_request_error")


def test_one_parent_sees_nothing_of_another(api: Compliance) -> None:
    key = "mock-pa-compliance-elsewhere"
    assert api.get("/apps/chats", key=key).json()["data"] == []
    assert read_refusal(api.get(f"/apps/chats/{CHAT}/messages", key=key)) == (404, "not_found_error")


def test_the_budget_is_shared_by_keys_and_linked_organizations(api: Compliance) -> None:
    first, second = "mock-pa-compliance-narrow", "mock-pa-compliance-narrow-too"
    answers = [api.get(path, key=key) for path in (ACTIVITIES, ORG_DATA) for key in (first, second)]
    assert [answer.status_code for answer in answers] == [200] * 4
    answer = api.get(ACTIVITIES, key=second)
    assert read_refusal(answer) == (429, "rate_limit_error")
    assert answer.headers["pa-ratelimit-requests-limit"] == "4"
    assert answer.headers["pa-ratelimit-requests-remaining"] == "0"
    assert answer.headers["pa-ratelimit-requests-reset"].endswith("Z")
    assert int(answer.headers["retry-after"]) > 1
    assert api.get(ACTIVITIES, key=second, clock=f"+{answer.headers['retry-after']}s").status_code == 200
    assert api.get(ACTIVITIES).status_code == 200


def test_the_second_budget_is_for_remote_sessions_and_says_one_second(api: Compliance) -> None:
    key = "mock-pa-compliance-narrow"
    statuses = [api.get("/apps/remote-sessions", key=key).status_code for _ in range(2)]
    refusal = api.get("/apps/remote-sessions", key=key)
    assert statuses == [200, 200]
    assert read_refusal(refusal) == (429, "rate_limit_error")
    assert refusal.headers["retry-after"] == "1"
    assert api.get(USER_DATA, key=key).status_code == 200


@pytest.mark.parametrize(("kind", "status"), [("bad_gateway", 502), ("down", 503), ("slow", 504), ("overloaded", 529)])
def test_trouble_upstream_has_no_envelope(api: Compliance, kind: str, status: int) -> None:
    answer = api.get(ACTIVITIES, scenario=f"upstream_trouble;kind={kind}")
    assert answer.status_code == status
    assert not answer.headers["content-type"].startswith("application/json")


def test_version_is_checked_here_too(api: Compliance) -> None:
    assert read_refusal(api.get(ACTIVITIES, version=None)) == (400, "invalid_request_error")
