"""Capacity besides the plain limits: fast mode, commitments, caps per second, tokens per day (2:8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from httpx import Response

from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.pa.conversation import InputTokens
from catalog_probe.mockserver.pa.limits import burn_down
from tests.unit.mockserver.mock_client import Client, PbClient, PdClient

HELLO = {"model": "mock-small", "max_tokens": 8, "messages": [{"role": "user", "content": "hello"}]}
FAST = {"model": "mock-large", "speed": "fast"}
COMMITTED = "mock-pa-priority"
LONG = [{"role": "user", "content": "word " * 30_000}]


Ask = Callable[..., Response]
"""Sends a message with some fields set otherwise, with a key and at a time."""


@pytest.fixture
def pa() -> Ask:
    client = Client(create_app(only=["pa"]))

    def message(
        fields: Mapping[str, Any] | None = None, key: str = "mock-pa-inference", clock: str | None = None
    ) -> Response:
        headers = {"x-api-key": key, "pa-version": "2023-06-01"} | ({"x-mock-clock": clock} if clock else {})
        return client.send("POST", "/pa/v1/messages", headers=headers, json={**HELLO, **(fields or {})})

    return message


def families(response: Response) -> set[str]:
    """The stems of the limits that an answer tells of; each is there with limit, remaining and reset."""
    stems = {name.rpartition("-")[0] for name in response.headers if name.endswith("-remaining")}
    for stem in stems:
        assert int(response.headers[f"{stem}-limit"]) >= int(response.headers[f"{stem}-remaining"])
        assert datetime.fromisoformat(response.headers[f"{stem}-reset"]).tzinfo
    return stems


def remaining(response: Response, stem: str) -> int:
    return int(response.headers[f"{stem}-remaining"])


PLAIN = {f"pa-ratelimit-{family}" for family in ("requests", "tokens", "input-tokens", "output-tokens")}


def test_fast_headers_come_with_fast_mode_alone(pa: Ask) -> None:
    assert families(pa({"model": "mock-large"})) == PLAIN
    assert families(pa(FAST)) == PLAIN | {"pa-fast-input-tokens", "pa-fast-output-tokens"}


def test_fast_mode_has_limits_of_its_own(pa: Ask) -> None:
    before, after = pa({"model": "mock-large"}), pa(FAST)
    assert remaining(after, "pa-ratelimit-input-tokens") >= remaining(before, "pa-ratelimit-input-tokens")
    assert remaining(after, "pa-fast-input-tokens") < 50_000
    assert pa({**FAST, "messages": LONG}).status_code == 200
    refused = pa({**FAST, "messages": LONG})
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1
    assert pa({"model": "mock-large", "messages": LONG}).status_code == 200


def test_priority_headers_come_with_a_commitment_and_a_model_that_it_covers(pa: Ask) -> None:
    priority = {"pa-priority-input-tokens", "pa-priority-output-tokens"}
    assert families(pa(key=COMMITTED)) == PLAIN | priority
    assert families(pa({"model": "mock-large"}, key=COMMITTED)) == PLAIN
    assert families(pa()) == PLAIN


def test_auto_uses_priority_while_it_suffices_and_standard_only_opts_out(pa: Ask) -> None:
    def tier(**fields: Any) -> str:
        return str(pa(fields, key=COMMITTED).json()["usage"]["service_tier"])

    assert tier() == "priority"
    assert tier(service_tier="auto") == "priority"
    assert tier(service_tier="standard_only") == "standard"
    assert tier(messages=LONG) == "priority"
    assert tier(messages=LONG) == "standard"
    assert tier() == "priority"


@pytest.mark.parametrize(
    ("measured", "body", "burnt"),
    [
        (InputTokens(100, 0, 0), {}, 100),
        (InputTokens(0, 0, 100), {}, 10),
        (InputTokens(0, 100, 0), {}, 125),
        (InputTokens(0, 100, 0, hourly=True), {}, 200),
        (InputTokens(100, 0, 0), {"inference_geo": "us"}, 110),
        (InputTokens(100, 0, 0), {"inference_geo": "global"}, 100),
    ],
)
def test_tokens_burn_a_commitment_down_at_their_rates(measured: InputTokens, body: dict[str, str], burnt: int) -> None:
    assert burn_down(measured, body) == pytest.approx(burnt)


def make_cached_blocks(text: str) -> list[dict[str, Any]]:
    block = {"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}
    return [{"role": "user", "content": [block, {"type": "text", "text": "and now?"}]}]


@pytest.mark.parametrize(("model", "counts"), [("mock-small", False), ("mock-small-retired", True)])
def test_cache_reads_count_for_the_retired_class_alone(pa: Ask, model: str, counts: bool) -> None:
    fields = {"model": model, "messages": make_cached_blocks("word " * 4_000)}
    written = pa(fields)
    read = pa(fields)
    assert read.json()["usage"]["cache_read_input_tokens"] >= 5_000
    taken = remaining(written, "pa-ratelimit-input-tokens") - remaining(read, "pa-ratelimit-input-tokens")
    assert (taken > 3_000) is counts


def test_output_tokens_count_as_generated(pa: Ask) -> None:
    before = remaining(pa(), "pa-ratelimit-output-tokens")
    answer = pa({"max_tokens": 50_000})
    assert answer.json()["usage"]["output_tokens"] < 1_000
    assert before - remaining(answer, "pa-ratelimit-output-tokens") < 1_000


def test_a_pd_key_may_be_capped_by_the_second_and_by_tokens() -> None:
    client = PdClient(create_app(only=["pd"]))

    def status(key: str, clock: str | None = None) -> int:
        return client.complete(key=key, clock=clock).status_code

    assert [status("mock-pd-capped-second") for _ in range(2)] == [200, 429]
    assert status("mock-pd-capped-second", "+2s") == 200
    assert [status("mock-pd-capped-tokens") for _ in range(2)] == [200, 429]
    assert status("mock-pd-capped-tokens", "+1m") == 200


def test_pd_counts_requests_by_the_second_and_sends_no_header_of_it() -> None:
    client = PdClient(create_app(only=["pd"]))
    answers = [client.complete() for _ in range(12)]
    assert [answer.status_code for answer in answers[:8]] == [200] * 8
    refused = next(answer for answer in answers if answer.status_code == 429)
    assert not [name for name in refused.headers if "limit" in name or name == "retry-after"]


def test_pb_s_tokens_of_a_day_come_back_at_midnight_pacific() -> None:
    client = PbClient()
    for _ in range(30):
        refused = client.generate("mock-premium", key="mock-pb-tight")
        if refused.status_code == 429:
            break
    quota = refused.json()["error"]["details"][1]["violations"][0]["quotaId"]
    assert quota == "GenerateTokensPerDayPerProjectPerModel"
    now = datetime.now(UTC).astimezone(ZoneInfo("America/Los_Angeles"))
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), now.tzinfo)
    seconds = int((midnight.astimezone(UTC) - now.astimezone(UTC)).total_seconds()) + 5
    assert client.generate("mock-premium", key="mock-pb-tight", clock=f"+{seconds}s").status_code == 200


@pytest.mark.parametrize("tier", ["flex", "priority"])
def test_pb_s_service_tiers_have_limits_of_their_own(tier: str) -> None:
    client = PbClient()
    assert [client.generate(key="mock-pb-tight").status_code for _ in range(3)] == [200, 200, 429]
    answer = client.generate(key="mock-pb-tight", fields={"serviceTier": tier})
    assert answer.status_code == 200
    assert answer.headers["x-pb-service-tier"] == tier
