"""PC's limits: requests, tokens, spending, vector stores, and the headers (2:7.5, 2:8.4)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.unit.mockserver.mock_client import PcClient, read_error, read_refusal

if TYPE_CHECKING:
    from httpx import Response

FAMILIES = ("requests", "tokens")
DURATION = re.compile(r"(\d+m)?\d+s|\d+ms")


def limits_of(answer: Response, family: str) -> tuple[int, int, str]:
    limit, remaining, reset = (
        answer.headers[f"x-ratelimit-{name}-{family}"] for name in ("limit", "remaining", "reset")
    )
    return int(limit), int(remaining), reset


@pytest.mark.parametrize("family", FAMILIES)
def test_a_success_has_the_remaining_limits(pc: PcClient, family: str) -> None:
    limit, remaining, reset = limits_of(pc.respond(), family)
    assert remaining < limit
    assert DURATION.fullmatch(reset)


def test_a_project_limit_has_headers_of_its_own(pc: PcClient) -> None:
    assert "x-ratelimit-limit-project-tokens" not in pc.respond().headers
    assert limits_of(pc.respond(key="mock-pc-project-limit"), "project-tokens")[0] == 100_000


def test_failed_requests_count_too(pc: PcClient) -> None:
    for _ in range(2):
        assert pc.respond({"model": ...}, key="mock-pc-tight").status_code == 400
    refused = pc.respond(key="mock-pc-tight")
    assert read_refusal(refused)[:2] == (429, "rate_limit_exceeded")
    assert read_error(refused)["type"] == "rate_limit_error"
    assert 0 < int(refused.headers["retry-after"]) <= 60
    assert limits_of(refused, "requests")[1] == 0
    assert pc.respond(key="mock-pc-tight", clock="+1m").status_code == 200


def test_the_larger_of_max_tokens_and_the_prompt_counts(pc: PcClient) -> None:
    first, second = (pc.respond({"max_output_tokens": 19_000}, key="mock-pc-tight") for _ in range(2))
    assert first.status_code == 200
    assert read_refusal(second)[:2] == (
        429,
        "rate_limit_exceeded",
    )


def test_traffic_may_grow_by_half_in_a_quarter_of_an_hour(pc: PcClient) -> None:
    ask = {"model": "mock-verbose", "max_output_tokens": 500_000}
    assert [pc.respond(ask).status_code for _ in range(3)] == [200, 200, 429]
    assert read_refusal(pc.respond(ask))[:2] == (429, "slow_down")
    assert [pc.respond(ask, clock="+5m").status_code for _ in range(4)] == [200, 200, 200, 429]


@pytest.mark.parametrize(
    ("key", "type_", "code"),
    [
        ("mock-pc-quota", "insufficient_quota", "insufficient_quota"),
        ("mock-pc-credit", "invalid_request_error", "credit_balance_exhausted"),
        ("mock-pc-organization-spend", "invalid_request_error", "organization_spend_limit_exceeded"),
        ("mock-pc-project-spend", "invalid_request_error", "project_spend_limit_exceeded"),
        ("mock-pc-usage", "invalid_request_error", "organization_usage_limit_exceeded"),
        ("mock-pc-hard-limit", "invalid_request_error", "billing_hard_limit_reached"),
    ],
)
def test_each_spending_limit_has_its_own_error(pc: PcClient, key: str, type_: str, code: str) -> None:
    for answer in (pc.respond(key=key), pc.complete(key=key)):
        assert answer.status_code == 429
        assert (read_error(answer)["type"], read_error(answer)["code"]) == (type_, code)
        assert "retry-after" not in answer.headers
    assert pc.ask("GET", "/v1/models", key=key).status_code == 200


def test_a_spend_limit_of_nothing_ends_spending(pc: PcClient) -> None:
    def limit(amount: int) -> Response:
        return pc.ask("POST", "/v1/organization/spend_limit", json={"limit_usd": amount}, key="mock-pc-admin")

    assert limit(0).status_code == 200
    assert read_refusal(pc.respond())[:2] == (429, "organization_spend_limit_exceeded")
    assert limit(10).status_code == 200
    assert pc.respond().status_code == 200
    refused = pc.ask("POST", "/v1/organization/spend_limit", json={"limit_usd": 1})
    assert read_refusal(refused)[:2] == (403, "insufficient_permissions")


def test_files_and_file_batches_share_a_budget(pc: PcClient) -> None:
    base = "/v1/vector_stores/vs_mock"
    batch = {"file_ids": ["file-mock-notes"]}

    def used_up() -> int:
        for count in range(3_000):  # the budget refills meanwhile, five a second
            files = pc.ask("GET", f"{base}/files")
            if files.status_code == 429:
                assert read_refusal(files)[1] == "rate_limit_exceeded"
                return 2 * count
            if pc.ask("POST", f"{base}/file_batches", json=batch).status_code == 429:
                return 2 * count + 1
        return 0

    assert used_up() >= 300
    assert pc.ask("GET", f"{base}/files", clock="+1m").status_code == 200
