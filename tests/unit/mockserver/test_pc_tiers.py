"""PC's usage tiers and their limits (2:8.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.unit.mockserver.mock_client import PcClient

BATCH = {"endpoint": "/v1/responses", "completion_window": "24h"}


@pytest.mark.parametrize(
    ("model", "first", "last"),
    [
        ("mock-old", ("500", "10000"), ("10000", "1000000")),
        ("mock-small", ("500", "200000"), ("30000", "150000000")),
        ("mock-large", ("500", "30000"), ("10000", "30000000")),
    ],
)
def test_headers_have_the_limits_of_the_tier(pc: PcClient, model: str, first: Any, last: Any) -> None:
    for key, granted in (("mock-pc-paid-5", first), ("mock-pc-paid-1000", last)):
        headers = pc.complete({"model": model}, key=key).headers
        assert tuple(headers[f"x-ratelimit-limit-{what}"] for what in ("requests", "tokens")) == granted


def test_a_model_has_a_queue_of_its_own(pc: PcClient) -> None:
    def queue(model: str) -> int:
        body = {**BATCH, "input_file_id": f"file-mock-batch-{model}"}
        return pc.ask("POST", "/v1/batches", json=body, key="mock-pc-tight").status_code

    assert [queue("small") for _ in range(21)] == [200] * 20 + [429]
    assert queue("large") == 200


def test_long_context_has_a_table_of_its_own(pc: PcClient) -> None:
    def limit(tokens: int) -> str:
        ask = {"model": "mock-verbose", "input": "x" * 4 * tokens, "max_output_tokens": 16}
        return str(pc.respond(ask, clock="+1h").headers["x-ratelimit-limit-tokens"])

    assert limit(272_000) == "150000000"
    assert limit(272_001) == "75000000"


def test_only_so_many_live_sessions_are_open_at_a_time(pc: PcClient) -> None:
    def open_session() -> int:
        return pc.ask("POST", "/v1/live/sessions", json={"model": "mock-realtime"}, key="mock-pc-tight").status_code

    assert [open_session(), open_session()] == [200, 429]
