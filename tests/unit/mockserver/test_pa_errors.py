"""PA's errors, provoked as a client does, with status, envelope and headers of 2:7.1 and 2:7.3."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.pa.auth.keys import SpendingStatus
from catalog_probe.mockserver.pa.causes import refuse_spenders
from tests.unit.mockserver.mock_client import Client, make_message

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from httpx import Response

WHERE = "/v1/messages"
USER = {"role": "user", "content": "Hello"}
TOOL_USE = {"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}


def check_error(response: Response, status: int, kind: str, *, retry: str | None = "false", org: bool = True) -> str:
    assert response.status_code == status, response.text
    answer = response.json()
    assert answer["type"] == "error"
    assert answer["error"]["type"] == kind
    assert answer["error"]["message"]
    assert answer["request_id"] == response.headers["request-id"]
    assert response.headers.get("x-should-retry") == retry
    assert ("pa-organization-id" in response.headers) is org
    return str(answer["error"]["message"])


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"max_tokens": ...}, "max_tokens: Field required"),
        ({"messages": ...}, "messages: Field required"),
        ({"model": ...}, "model: Field required"),
        ({"max_tokens": "16"}, "max_tokens: Input should be a valid integer"),
        ({"max_tokens": True}, "max_tokens: Input should be a valid integer"),
        ({"max_tokens": 0}, "max_tokens: Input should be greater than or equal to 1"),
        ({"max_tokens": 64_001}, "max_tokens: 64001 > 64000"),
        ({"temperature": 1.5}, "temperature: Input should be less than or equal to 1"),
        ({"temperature": -0.1}, "temperature: Input should be greater than or equal to 0"),
        ({"temperature": "hot"}, "temperature: Input should be a valid number"),
        ({"top_k": 1.5}, "top_k: Input should be a valid integer"),
        ({"top_k": "many"}, "top_k: Input should be a valid integer"),
        ({"model": "mock-large", "temperature": 0.5, "top_p": 0.5}, "`temperature` and `top_p` cannot both"),
        ({"messages": []}, "messages: at least one message is required"),
        ({"messages": "Hello"}, "messages: Input should be a valid list"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": [{"type": "text"}]}]}, "messages.0.content.0.text: Field required"),
        ({"tools": [{**SEARCH, "max_uses": 0}]}, "tools.0.max_uses"),
        ({"messages": [{"role": "user", "content": "x" * 900_000}]}, "prompt is too long"),
        ({"model": "mock-large", "messages": [USER, {"role": "assistant", "content": "I"}]}, "prefill"),
        ({"thinking": {"type": "adaptive"}}, "adaptive thinking is not supported"),
        ({"messages": [USER, {"role": "assistant", "content": [TOOL_USE]}, USER]}, "`tool_use` ids were found without"),
        ({"messages": [USER, {"role": "assistant", "content": [TOOL_USE]}]}, "`tool_use` ids were found without"),
        ({"inference_geo": "us"}, "does not support the `inference_geo` parameter"),
        ({"speed": "fast"}, "does not support the `speed` parameter"),
        ({"betas": ["x"]}, "betas: Extra inputs are not permitted"),
        ({"output_format": {}}, "output_format: Extra inputs are not permitted"),
        ({"service_tier": "best"}, "service_tier: Input should be 'auto' or 'standard_only'"),
        ({"thinking": {"type": "enabled", "budget_tokens": 10}}, "budget_tokens"),
    ],
)
def test_a_body_that_is_not_as_documented_gets_400(client: Client, changes: dict[str, Any], says: str) -> None:
    message = check_error(client.hello(changes), 400, "invalid_request_error")
    assert says in message


@pytest.mark.parametrize("content", ["{", "", '{"a": NaN}', "[" * 100_000, b"\xff\xfe{}"])
def test_a_body_that_is_no_json_gets_400(client: Client, content: bytes | str) -> None:
    message = check_error(client.pa("POST", WHERE, content=content), 400, "invalid_request_error")
    assert "not valid JSON" in message


def test_server_tools_are_rejected_by_count_tokens(client: Client) -> None:
    request_body = {**make_message({"max_tokens": ...}), "tools": [SEARCH]}
    message = check_error(client.pa("POST", f"{WHERE}/count_tokens", json=request_body), 400, "invalid_request_error")
    assert "Server tools" in message
    assert "web_search" in message


def test_count_tokens_does_not_know_max_tokens(client: Client) -> None:
    response = client.pa("POST", f"{WHERE}/count_tokens", json=make_message())
    assert "max_tokens: Extra inputs" in check_error(response, 400, "invalid_request_error")


@pytest.mark.parametrize("key", ["mock-pa-inference", None])
def test_the_removed_completion_path_always_points_to_messages(client: Client, key: str | None) -> None:
    response = client.pa("POST", "/v1/complete", key=key, version=None)
    assert "/v1/messages" in check_error(response, 400, "invalid_request_error", org=key is not None)


@pytest.mark.parametrize(
    ("version", "says"),
    [(None, "required"), ("yesterday", "not a valid version"), ("2023-01-01", "not allowed for this endpoint")],
)
def test_the_version_header_is_required_and_checked(client: Client, version: str | None, says: str) -> None:
    assert says in check_error(client.hello(version=version), 400, "invalid_request_error")


def test_a_legacy_version_is_allowed_where_the_endpoint_is_old_enough(client: Client) -> None:
    assert client.pa("GET", "/v1/models", version="2023-01-01").status_code == 200


def test_an_unexpected_beta_value_gets_400(client: Client) -> None:
    response = client.hello(headers={"pa-beta": "files-api-2025-04-14,warp-drive-2030-01-01"})
    message = check_error(response, 400, "invalid_request_error")
    assert "warp-drive" in message
    assert "files-api" not in message


@pytest.mark.parametrize("key", [None, "", "nonsense", "mock-pa-unknown", "mock-pa-revoked", "mock-pa-expired"])
def test_a_key_that_cannot_be_used_gets_401_without_an_organization(client: Client, key: str | None) -> None:
    response = client.hello(key=key)
    assert "invalid x-api-key" in check_error(response, 401, "authentication_error", org=False)
    assert "pa-workspace-id" not in response.headers


def test_bad_request_signing_gets_401(client: Client) -> None:
    headers = {"authorization": "PA4-HMAC-SHA256 Credential=x, Signature=y"}
    assert "signature" in check_error(client.hello(key=None, headers=headers), 401, "authentication_error", org=False)


def test_a_bearer_token_is_as_good_as_the_key_header(client: Client) -> None:
    assert client.hello(key=None, headers={"authorization": "Bearer mock-pa-inference"}).status_code == 200


@pytest.mark.parametrize("key", ["mock-pa-restricted", "mock-pa-lookup", "mock-pa-admin"])
def test_a_key_without_permission_gets_403(client: Client, key: str) -> None:
    check_error(client.hello(key=key), 403, "permission_error")


def test_permission_is_per_resource(client: Client) -> None:
    assert client.pa("GET", "/v1/models", key="mock-pa-lookup").status_code == 200
    check_error(client.pa("GET", "/v1/models", key="mock-pa-restricted"), 403, "permission_error")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/nowhere"),
        ("GET", "/v1/models/mock-none"),
        ("GET", "/v1/files/file_none"),
        ("GET", "/v1/files/file_none/content"),
        ("GET", "/v1/messages/batches/msgbatch_none"),
        ("GET", "/v1/agents/agent_none"),
        ("GET", "/"),
    ],
)
def test_unknown_paths_and_ids_get_404(client: Client, method: str, path: str) -> None:
    check_error(client.pa(method, path), 404, "not_found_error")


def test_an_unknown_model_gets_404_in_messages_and_count_tokens(client: Client) -> None:
    check_error(client.hello({"model": "mock-none"}), 404, "not_found_error")
    counted = make_message({"model": "mock-none", "max_tokens": ...})
    check_error(client.pa("POST", f"{WHERE}/count_tokens", json=counted), 404, "not_found_error")


def test_a_wrong_method_is_one_of_the_other_4xx(client: Client) -> None:
    check_error(client.pa("PUT", WHERE), 405, "invalid_request_error")


@pytest.mark.parametrize(
    ("scenario", "status", "kind", "retry"),
    [
        ("payment_problem", 402, "billing_error", "false"),
        ("internal_error", 500, "api_error", None),
        ("upstream_timeout", 504, "timeout_error", None),
        ("overloaded", 529, "overloaded_error", None),
    ],
)
@pytest.mark.parametrize("method", ["GET /v1/models", "POST /v1/messages"])
def test_causes_that_only_the_provider_can_bring_about(
    client: Client, scenario: str, status: int, kind: str, retry: str | None, method: str
) -> None:
    verb, path = method.split()
    response = client.pa(verb, path, scenario=scenario, json=make_message() if verb == "POST" else None)
    check_error(response, status, kind, retry=retry)


@pytest.mark.parametrize(
    ("key", "says"),
    [("mock-pa-organization-limit", "API usage limits"), ("mock-pa-workspace-limit", "workspace API usage limits")],
)
def test_a_self_set_spend_limit_gets_400_with_its_fixed_phrase(client: Client, key: str, says: str) -> None:
    message = check_error(client.hello(key=key), 400, "invalid_request_error")
    assert message.startswith("You have reached your specified")
    assert says in message
    assert client.pa("GET", "/v1/models", key=key).status_code == 200


def test_the_spend_cap_gets_429_that_waiting_does_not_mend(client: Client) -> None:
    response = client.hello(key="mock-pa-spend-cap")
    check_error(response, 429, "rate_limit_error", retry="false")
    assert "retry-after" not in response.headers
    assert response.json()["error"]["details"] == {"error_code": "enforced_spend_limit_reached"}


def test_the_spend_cap_is_lifted_when_the_month_is_over(client: Client) -> None:
    """Each month ends within 31 days (1:3, 2:8.2)."""
    assert client.hello(key="mock-pa-spend-cap", clock="+31d").status_code == 200


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


@pytest.mark.parametrize(
    "how",
    [
        {"key": "mock-pa-coding-assistant"},
        {"scenario": "acceleration_limit;retry_after=7"},
    ],
)
def test_other_limits_get_429_with_retry_after(client: Client, how: dict[str, Any]) -> None:
    response = client.hello(**how)
    check_error(response, 429, "rate_limit_error", retry="true")
    assert int(response.headers["retry-after"]) >= 1


def test_a_duplicate_name_and_a_stale_version_get_409(client: Client) -> None:
    agent_body = {"name": "one", "model": "mock-small"}
    agent = client.pa("POST", "/v1/agents", json=agent_body).json()
    check_error(client.pa("POST", "/v1/agents", json=agent_body), 409, "conflict_error", retry="true")
    path = f"/v1/agents/{agent['id']}"
    assert client.pa("POST", path, json={"version": 1, "system": "x"}).json()["version"] == 2
    stale = client.pa("POST", path, json={"version": 1, "system": "y"})
    check_error(stale, 409, "conflict_error", retry="true")


@pytest.mark.parametrize(
    ("path", "megabytes"),
    [("/v1/messages", 32), ("/v1/messages/count_tokens", 32), ("/v1/messages/batches", 256), ("/v1/files", 500)],
)
def test_a_body_over_the_limit_is_refused_before_it_is_read(client: Client, path: str, megabytes: int) -> None:
    limit = megabytes * 1024 * 1024

    async def never() -> AsyncIterator[bytes]:
        raise AssertionError("the body was read")
        yield b""

    declared = {"content-length": str(limit + 1)}
    check_error(client.pa("POST", path, content=never(), headers=declared), 413, "request_too_large")


def test_a_chunked_body_is_counted_while_it_is_read(client: Client) -> None:
    sent = 0

    async def chunks() -> AsyncIterator[bytes]:
        nonlocal sent
        while sent < 40:
            sent += 1
            yield b" " * 1024 * 1024

    check_error(client.pa("POST", WHERE, content=chunks()), 413, "request_too_large")
