"""The example transport retries as the catalog advises, in virtual time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.httpx_retry import Retry, report_errors
from catalog_probe.mockserver.app import create_app
from tests.harness import patient
from tests.harness.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx


@pytest.fixture(scope="module")
def mock() -> Iterator[str]:
    with serving(create_app(only=["pa", "pc"])) as address:
        yield address


def asking(mock: str, provider: str, scenario: str, waits: list[float]) -> httpx.Client:
    keys = {"x-api-key": "mock-pa-inference", "pa-version": "2023-06-01", "authorization": "Bearer mock-pc-inference"}
    return patient.client(
        base_url=f"{mock}/{provider}",
        headers={**keys, "x-mock-scenario": scenario, "x-mock-session": f"{provider}-{scenario}"},
        transport=Retry(provider, sleep=waits.append, chance=lambda: 0.0),
    )


MESSAGE = {"model": "pa-small", "max_tokens": 1, "messages": [{"role": "user", "content": "hello"}]}


def test_passing_failures_are_retried_until_success(mock: str) -> None:
    waits: list[float] = []
    with asking(mock, "pa", "overloaded;times=2", waits) as client:
        answer = client.post("/v1/messages", json=MESSAGE)
    assert answer.status_code != 529
    assert waits == [0.5, 1.0]


def test_it_gives_up_after_the_documented_attempts(mock: str) -> None:
    waits: list[float] = []
    with asking(mock, "pa", "overloaded", waits) as client:
        assert client.post("/v1/messages", json=MESSAGE).status_code == 529
    assert waits == [0.5, 1.0]


def test_errors_that_must_be_corrected_are_not_retried(mock: str) -> None:
    waits: list[float] = []
    told: list[str] = []
    with asking(mock, "pc", "none", waits) as client:
        client.headers.pop("x-mock-scenario")
        client.event_hooks = {"response": [report_errors("pc", told.append)]}
        assert client.post("/v1/responses", json={"input": "hello"}).status_code == 400
    assert waits == []
    assert told == ["POST /pc/v1/responses: 400, pc/errors/request/missing_required_parameter"]
