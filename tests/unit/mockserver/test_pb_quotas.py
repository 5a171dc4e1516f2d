"""PB's quotas: dimensions, windows, service tiers and the 429 (2:7.1, 2:8.3)."""

from __future__ import annotations

import re
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

import pytest

from catalog_probe.mockserver.pb.limits import EXHAUSTIBLE_QUOTAS
from tests.unit.mockserver.mock_client import PbClient, read_code, read_status

if TYPE_CHECKING:
    import httpx

TIGHT = "mock-pb-tight"
LONG = [{"parts": [{"text": "word " * 400}]}]


def violation(response: httpx.Response) -> dict[str, object]:
    """The one violation that a 429 names, whose form must be as documented."""
    assert read_status(response) == (429, "RESOURCE_EXHAUSTED")
    assert "retry-after" not in response.headers
    assert response.headers["x-pb-service-tier"]
    assert re.search(r"Please retry in \d+\.\d+s\.", response.json()["error"]["message"])
    help_entry, failure = response.json()["error"]["details"]
    assert help_entry["links"]
    (quota_violation,) = failure["violations"]
    assert quota_violation.keys() == {"quotaMetric", "quotaId", "quotaDimensions"}
    assert quota_violation["quotaDimensions"].keys() == {"model", "location"}
    return dict(quota_violation)


def delay(response: httpx.Response) -> float:
    """The seconds that the message of a 429 names."""
    match = re.search(r"retry in ([\d.]+)s", response.json()["error"]["message"])
    assert match
    return float(match[1])


def test_requests_per_minute_come_back_with_time(pb: PbClient) -> None:
    assert [pb.generate(key=TIGHT).status_code for _ in range(2)] == [200, 200]
    refused = pb.generate(key=TIGHT)
    assert violation(refused)["quotaId"] == "GenerateRequestsPerMinutePerProjectPerModel"
    assert 0 < delay(refused) <= 30
    assert pb.generate(key=TIGHT, clock="+31s").status_code == 200


def test_a_limit_that_somebody_else_used_up_is_told_alike(pb: PbClient) -> None:
    """It is refused before its body is read, which might name a service tier."""
    assert violation(pb.generate(scenario="rate_limited"))["quotaId"] == "GenerateRequestsPerMinutePerProjectPerModel"


def test_limits_belong_to_the_project_and_the_model(pb: PbClient) -> None:
    for _ in range(2):
        pb.generate(key=TIGHT)
    assert pb.generate(key="mock-pb-tight-other").status_code == 429
    assert pb.generate("mock-pro", key=TIGHT).status_code == 200
    assert pb.generate().status_code == 200
    assert pb.generate(key=TIGHT, session="another").status_code == 200


def test_input_tokens_per_minute(pb: PbClient) -> None:
    assert pb.generate("mock-pro", key=TIGHT, fields={"contents": LONG}).status_code == 200
    refused = pb.generate("mock-pro", key=TIGHT, fields={"contents": LONG})
    assert violation(refused)["quotaMetric"] == "generate_content_input_tokens"


def test_images_per_minute(pb: PbClient) -> None:
    assert pb.generate("mock-image", key=TIGHT).status_code == 200
    assert violation(pb.generate("mock-image", key=TIGHT))["quotaMetric"] == "generate_content_images"


def test_requests_per_day_come_back_at_midnight_in_the_pacific(pb: PbClient) -> None:
    for _ in range(2):
        pb.generate("mock-legacy", key=TIGHT)
    refused = pb.generate("mock-legacy", key=TIGHT)
    assert violation(refused)["quotaId"] == "GenerateRequestsPerDayPerProjectPerModel"
    resumes = (datetime.now(UTC) + timedelta(seconds=delay(refused))).astimezone(ZoneInfo("America/Los_Angeles"))
    assert (resumes + timedelta(seconds=30)).time() < time(0, 1)
    assert pb.generate("mock-legacy", key=TIGHT, clock="+25h").status_code == 200


def test_spending_has_a_rolling_window_of_ten_minutes(pb: PbClient) -> None:
    key = "mock-pb-thrifty"
    assert pb.generate(key=key, fields={"contents": LONG}).status_code == 200
    refused = pb.generate(key=key)
    assert violation(refused)["quotaMetric"] == "generate_content_spend"
    assert 590 < delay(refused) <= 600
    assert pb.generate(key=key, clock="+9m").status_code == 429
    assert pb.generate(key=key, clock="+11m").status_code == 200


@pytest.mark.parametrize("quota", EXHAUSTIBLE_QUOTAS)
def test_a_quota_that_only_money_or_days_use_up_is_a_scenario(pb: PbClient, quota: str) -> None:
    refused = pb.generate(scenario=f"quota_used_up;quota={quota}")
    assert read_status(refused) == (429, "RESOURCE_EXHAUSTED")
    assert EXHAUSTIBLE_QUOTAS[quota].quota.metric in refused.json()["error"]["message"]


def test_a_paid_model_on_the_free_tier_shows_limit_0(pb: PbClient) -> None:
    refused = pb.generate("mock-premium", key="mock-pb-free")
    violation(refused)
    assert "limit: 0, model: mock-premium" in refused.json()["error"]["message"]


def test_priority_overflows_into_standard(pb: PbClient) -> None:
    served = [pb.generate(key=TIGHT, fields={"serviceTier": "priority"}).headers["x-pb-service-tier"] for _ in range(3)]
    assert served == ["priority", "standard", "standard"]
    assert violation(pb.generate(key=TIGHT, fields={"serviceTier": "priority"}))


def test_flex_can_be_shed_and_others_cannot(pb: PbClient) -> None:
    flex = {"serviceTier": "FLEX"}
    assert pb.generate(fields=flex).json()["usageMetadata"]["serviceTier"] == "flex"
    assert violation(pb.generate(fields=flex, scenario="flex_capacity_shed"))
    assert read_status(pb.generate(fields=flex, scenario="flex_capacity_unavailable")) == (503, "UNAVAILABLE")
    assert "mock_error" in pb.generate(scenario="flex_capacity_shed").json()


def test_preview_models_are_stricter(pb: PbClient) -> None:
    """Their share of the free tier's sixty requests a minute is six."""
    statuses = [pb.generate("mock-pro-preview", key="mock-pb-free").status_code for _ in range(7)]
    assert statuses == [200] * 6 + [429]


def test_interactions_name_the_quota_in_their_own_words(pb: PbClient) -> None:
    for model, times, code in (("mock-lite", 2, "rate_limit_exceeded"), ("mock-legacy", 2, "quota_exceeded")):
        for _ in range(times):
            assert pb.interact({"model": model}, key=TIGHT).status_code == 200
        assert read_code(pb.interact({"model": model}, key=TIGHT)) == (429, code)
    shed = pb.interact({"service_tier": "flex"}, scenario="flex_capacity_shed")
    assert read_code(shed) == (429, "too_many_requests")


def test_a_batch_that_has_ended_makes_room_for_another(pb: PbClient) -> None:
    def start_batch(clock: str | None = None) -> bool:
        requests = {"requests": {"requests": [{"request": {"contents": LONG}}]}}
        body = {"batch": {"displayName": "one", "inputConfig": requests}}
        path = "/v1/models/mock-lite:batchGenerateContent"
        return pb.ask("POST", path, json=body, clock=clock).status_code == 200

    assert all(start_batch() for _ in range(100))
    assert not start_batch()
    assert start_batch("+61s")
