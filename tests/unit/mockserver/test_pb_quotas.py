"""PB's quotas: dimensions, windows, service tiers, and the 429 that says no (2:7.1, 2:8.3)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from catalog_probe.mockserver.pb.limits import EXHAUSTIBLE_QUOTAS
from tests.unit.mockserver.pb_client import PbClient, code_of, status_of

if TYPE_CHECKING:
    import httpx

TIGHT = "mock-pb-tight"
LONG = [{"parts": [{"text": "word " * 400}]}]


@pytest.fixture
def client() -> PbClient:
    return PbClient()


def violation(response: httpx.Response) -> dict[str, object]:
    """The one violation that a 429 names, whose form must be as documented."""
    assert status_of(response) == (429, "RESOURCE_EXHAUSTED")
    assert "retry-after" not in response.headers
    assert response.headers["x-pb-service-tier"]
    assert re.search(r"Please retry in \d+\.\d+s\.", response.json()["error"]["message"])
    help_entry, failure = response.json()["error"]["details"]
    assert help_entry["links"]
    (found,) = failure["violations"]
    assert found.keys() == {"quotaMetric", "quotaId", "quotaDimensions"}
    assert found["quotaDimensions"].keys() == {"model", "location"}
    return dict(found)


def delay(response: httpx.Response) -> float:
    """The seconds that the message of a 429 names."""
    found = re.search(r"retry in ([\d.]+)s", response.json()["error"]["message"])
    assert found
    return float(found[1])


def test_requests_per_minute_come_back_with_time(client: PbClient) -> None:
    assert [client.generate(key=TIGHT).status_code for _ in range(2)] == [200, 200]
    refused = client.generate(key=TIGHT)
    assert violation(refused)["quotaId"] == "GenerateRequestsPerMinutePerProjectPerModel"
    assert 0 < delay(refused) <= 30
    assert client.generate(key=TIGHT, clock="+31s").status_code == 200


def test_limits_belong_to_the_project_and_the_model(client: PbClient) -> None:
    for _ in range(2):
        client.generate(key=TIGHT)
    assert client.generate(key="mock-pb-tight-other").status_code == 429
    assert client.generate("mock-pro", key=TIGHT).status_code == 200
    assert client.generate().status_code == 200
    assert client.generate(key=TIGHT, session="another").status_code == 200


def test_input_tokens_per_minute(client: PbClient) -> None:
    assert client.generate("mock-pro", key=TIGHT, fields={"contents": LONG}).status_code == 200
    refused = client.generate("mock-pro", key=TIGHT, fields={"contents": LONG})
    assert violation(refused)["quotaMetric"] == "generate_content_input_tokens"


def test_images_per_minute(client: PbClient) -> None:
    assert client.generate("mock-image", key=TIGHT).status_code == 200
    assert violation(client.generate("mock-image", key=TIGHT))["quotaMetric"] == "generate_content_images"


def test_requests_per_day_come_back_at_midnight_in_the_pacific(client: PbClient) -> None:
    for _ in range(2):
        client.generate("mock-legacy", key=TIGHT)
    refused = client.generate("mock-legacy", key=TIGHT)
    assert violation(refused)["quotaId"] == "GenerateRequestsPerDayPerProjectPerModel"
    resumes = (datetime.now(UTC) + timedelta(seconds=delay(refused))).astimezone(ZoneInfo("America/Los_Angeles"))
    assert (resumes + timedelta(seconds=30)).time() < time(0, 1)
    assert client.generate("mock-legacy", key=TIGHT, clock="+25h").status_code == 200


def test_spending_has_a_rolling_window_of_ten_minutes(client: PbClient) -> None:
    key = "mock-pb-thrifty"
    assert client.generate(key=key, fields={"contents": LONG}).status_code == 200
    refused = client.generate(key=key)
    assert violation(refused)["quotaMetric"] == "generate_content_spend"
    assert 590 < delay(refused) <= 600
    assert client.generate(key=key, clock="+9m").status_code == 429
    assert client.generate(key=key, clock="+11m").status_code == 200


@pytest.mark.parametrize("quota", EXHAUSTIBLE_QUOTAS)
def test_a_quota_that_only_money_or_days_use_up_is_a_scenario(client: PbClient, quota: str) -> None:
    refused = client.generate(scenario=f"quota_used_up;quota={quota}")
    assert status_of(refused) == (429, "RESOURCE_EXHAUSTED")
    assert EXHAUSTIBLE_QUOTAS[quota].quota.metric in refused.json()["error"]["message"]


def test_a_paid_model_on_the_free_tier_shows_limit_0(client: PbClient) -> None:
    refused = client.generate("mock-premium", key="mock-pb-free")
    violation(refused)
    assert "limit: 0, model: mock-premium" in refused.json()["error"]["message"]


def test_priority_overflows_into_standard(client: PbClient) -> None:
    served = [
        client.generate(key=TIGHT, fields={"serviceTier": "priority"}).headers["x-pb-service-tier"] for _ in range(3)
    ]
    assert served == ["priority", "standard", "standard"]
    assert violation(client.generate(key=TIGHT, fields={"serviceTier": "priority"}))


def test_flex_can_be_shed_and_others_cannot(client: PbClient) -> None:
    flex = {"serviceTier": "FLEX"}
    assert client.generate(fields=flex).json()["usageMetadata"]["serviceTier"] == "flex"
    assert violation(client.generate(fields=flex, scenario="flex_capacity_shed"))
    assert status_of(client.generate(fields=flex, scenario="flex_capacity_unavailable")) == (503, "UNAVAILABLE")
    assert "mock_error" in client.generate(scenario="flex_capacity_shed").json()


def test_preview_models_are_stricter(client: PbClient) -> None:
    """Their share of the free tier's sixty requests a minute is six."""
    found = [client.generate("mock-pro-preview", key="mock-pb-free").status_code for _ in range(7)]
    assert found == [200] * 6 + [429]


def test_interactions_name_the_quota_in_their_own_words(client: PbClient) -> None:
    for model, times, code in (("mock-lite", 2, "rate_limit_exceeded"), ("mock-legacy", 2, "quota_exceeded")):
        for _ in range(times):
            assert client.interact({"model": model}, key=TIGHT).status_code == 200
        assert code_of(client.interact({"model": model}, key=TIGHT)) == (429, code)
    shed = client.interact({"service_tier": "flex"}, scenario="flex_capacity_shed")
    assert code_of(shed) == (429, "too_many_requests")
