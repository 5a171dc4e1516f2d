"""What an organization of PA has used: its tier, its spend cap, and who has no limits (1:3, 2:8.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from httpx import Response

    from tests.unit.mockserver.mock_client import Client

NEW, CUSTOM = "mock-pa-inference-new", "mock-pa-inference-custom"
TIERS = {"start": "mock-pa-inference", "build": "mock-pa-inference-build", "scale": "mock-pa-inference-scale"}
CAPS = {"start": 500, "build": 1_000, "scale": 200_000}
MARKET_WORKSPACE = "/v1/organizations/workspaces/wrkspc_01MockMarketWorkspace001/rate_limits"


def spending(client: Client, key: str, usd: float) -> Response:
    """A message of an organization that has spent so much this month."""
    return client.hello(key=key, scenario=f"usage_history;this_month={usd}")


@pytest.mark.parametrize("tier", CAPS)
def test_a_tier_spends_up_to_its_cap(client: Client, tier: str) -> None:
    assert spending(client, TIERS[tier], CAPS[tier] - 0.01).status_code == 200
    refused = spending(client, TIERS[tier], CAPS[tier])
    assert refused.status_code == 429
    assert refused.json()["error"]["details"]["error_code"] == "enforced_spend_limit_reached"
    assert "retry-after" not in refused.headers


def test_custom_has_no_cap_and_evaluation_one_below_start(client: Client) -> None:
    assert spending(client, CUSTOM, 999_999_999).status_code == 200
    assert spending(client, NEW, CAPS["start"] - 0.01).status_code == 429
    assert spending(client, NEW, 0).status_code == 200


def test_a_new_organization_moves_on_as_its_history_allows(client: Client) -> None:
    def granted(usd: int) -> int:
        answer = client.hello(key=NEW, scenario=f"usage_history;in_all={usd}")
        return int(answer.headers["pa-ratelimit-requests-limit"])

    assert granted(0) < granted(50) == 1_000
    assert (granted(500), granted(5_000)) == (5_000, 10_000)


def test_a_history_leaves_the_tier_of_any_other_alone(client: Client) -> None:
    answer = client.hello(scenario="usage_history;in_all=5000")
    assert answer.headers["pa-ratelimit-requests-limit"] == "1000"


def test_a_customer_of_the_marketplace_has_no_limits_per_workspace(client: Client) -> None:
    assert client.pa("GET", MARKET_WORKSPACE, key="mock-pa-admin-marketplace").json()["data"] == []
