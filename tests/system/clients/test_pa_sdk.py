"""PA's official SDK on the mock works and raises what it would raise live."""

from __future__ import annotations

import datetime
from contextlib import closing
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest

from catalog_probe.mockserver.pa.models import MODELS
from tests.harness.sdk import Session, serving_provider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

sdk = pytest.importorskip("anthropic", reason="the official SDK of PA is not installed (dependency group `clients`)")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

HELLO: dict[str, Any] = {"model": "mock-small", "max_tokens": 32, "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture(scope="module")
def mock(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, str]]:
    """A mock that speaks as the SDK does: its prefix is the SDK's name, its version the one that the SDK sends."""
    prefix = f"{sdk.__name__}-"
    version = sdk.Anthropic(api_key="unused").default_headers[f"{prefix}version"]
    with serving_provider("pa", tmp_path_factory.mktemp("mock"), header_prefix=prefix, versions=[version]) as addresses:
        yield addresses


class PaClients(Session):
    """Makes SDK clients in a session of their own."""

    def client(self, key: str = "mock-pa-inference", **mock: str) -> Any:
        headers = self.headers(**mock)
        return self.keep(sdk.Anthropic(api_key=key, base_url=self.base_url, default_headers=headers, max_retries=2))


@pytest.fixture
def pa(mock: Mapping[str, str], request: pytest.FixtureRequest) -> Iterator[PaClients]:
    """The SDK in a session named after the test."""
    with closing(PaClients(mock, request.node.name)) as clients:
        yield clients


def test_it_lists_models_with_every_field(pa: PaClients) -> None:
    models = list(pa.client().models.list(limit=2))
    assert [model.id for model in models] == list(MODELS), "walked to the end, two a page"
    for model in models:
        type(model).model_validate(model.model_dump())


def test_it_generates(pa: PaClients) -> None:
    message = pa.client().messages.create(**HELLO)
    type(message).model_validate(message.model_dump())
    assert message.content[0].text == "The mock heard: Hello"
    assert message.usage.output_tokens > 0
    assert message._request_id.startswith("req_")


def test_it_reads_an_answer_into_models_of_pydantic(pa: PaClients) -> None:
    """Every field that the SDK sends has an example that the SDK itself can parse."""
    pydantic = pytest.importorskip("pydantic")
    reading: Any = pydantic.create_model("Reading", id=UUID, at=datetime.datetime, value=(float | None, ...))
    day = pydantic.create_model("Day", date=datetime.date, readings=list[reading], step=datetime.timedelta)
    day_answer = pa.client().messages.parse(**{**HELLO, "max_tokens": 999}, output_format=day).parsed_output
    assert isinstance(day_answer.readings[0].id, UUID)
    assert (day_answer.date, day_answer.readings[0].value) == (datetime.date(2026, 1, 31), 1.5)


def test_it_streams(pa: PaClients) -> None:
    with pa.client().messages.stream(**HELLO) as stream:
        assert "".join(stream.text_stream) == "The mock heard: Hello"
        assert stream.get_final_message().stop_reason == "end_turn"


def test_it_counts_tokens(pa: PaClients) -> None:
    asked = {name: value for name, value in HELLO.items() if name != "max_tokens"}
    assert pa.client().messages.count_tokens(**asked).input_tokens > 0


def test_it_runs_a_batch(pa: PaClients) -> None:
    created = pa.client().messages.batches.create(requests=[{"custom_id": "one", "params": HELLO}])
    later = pa.client(clock="+2m").messages.batches
    assert [batch.id for batch in later.list()] == [created.id]
    (result,) = later.results(created.id)
    assert result.result.message.stop_reason == "end_turn"


def test_it_keeps_files_and_agents(pa: PaClients) -> None:
    beta = pa.client().beta
    uploaded = beta.files.upload(file=("a.txt", b"hello", "text/plain"))
    assert [file.id for file in beta.files.list()] == [uploaded.id]
    assert beta.files.download(uploaded.id).read() == b"hello"
    agent = beta.agents.create(name="one", model="mock-small")
    assert [found.name for found in beta.agents.list()] == ["one"]
    with pytest.raises(sdk.ConflictError):
        pa.client().with_options(max_retries=0).beta.agents.create(name=agent.name, model="mock-small")


@pytest.mark.parametrize(
    ("key", "changes", "raised"),
    [
        ("mock-pa-inference", {"max_tokens": 0}, "BadRequestError"),
        ("mock-pa-unknown", {}, "AuthenticationError"),
        ("mock-pa-restricted", {}, "PermissionDeniedError"),
        ("mock-pa-inference", {"model": "mock-none"}, "NotFoundError"),
        ("mock-pa-spend-cap", {}, "RateLimitError"),
    ],
)
def test_what_is_final_is_raised_at_once(pa: PaClients, key: str, changes: dict[str, Any], raised: str) -> None:
    with pytest.raises(getattr(sdk, raised)) as caught:
        pa.client(key).messages.create(**{**HELLO, **changes})
    assert caught.value.request_id.startswith("req_")
    assert pa.requests() == 1


def test_too_large_a_body_is_raised_as_413(pa: PaClients) -> None:
    with pytest.raises(sdk.APIStatusError) as caught:
        pa.client().messages.create(**{**HELLO, "system": "x" * (33 * 1024 * 1024)})
    assert caught.value.status_code == 413
    assert type(caught.value).__name__ in ("RequestTooLargeError", "ContentTooLargeError")


def test_a_rate_limit_is_retried_no_sooner_than_it_says(pa: PaClients) -> None:
    raw = pa.client(scenario="acceleration_limit;retry_after=1;times=1").messages.with_raw_response.create(**HELLO)
    assert raw.retries_taken == 1
    assert pa.requests() == 2


def test_a_rate_limit_that_stays_is_raised(pa: PaClients, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("time.sleep", waited.append)
    with pytest.raises(sdk.RateLimitError):
        pa.client(scenario="acceleration_limit;retry_after=9").messages.create(**HELLO)
    assert waited == [9.0, 9.0]
    assert pa.requests() == 3


@pytest.mark.parametrize(
    ("scenario", "raised"),
    [("internal_error", "InternalServerError"), ("overloaded", "OverloadedError"), ("upstream_timeout", None)],
)
def test_a_failure_of_the_provider_is_retried_and_then_raised(
    pa: PaClients, monkeypatch: pytest.MonkeyPatch, scenario: str, raised: str | None
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    with pytest.raises(sdk.APIStatusError) as caught:
        pa.client(scenario=scenario).messages.create(**HELLO)
    assert raised is None or type(caught.value).__name__ == raised
    assert pa.requests() == 3


def test_a_stream_that_fails_raises_with_status_200(pa: PaClients) -> None:
    client = pa.client(scenario="overloaded_mid_stream")
    with pytest.raises(sdk.APIStatusError) as caught, client.messages.stream(**HELLO) as stream:
        list(stream.text_stream)
    assert caught.value.status_code == 200
    assert caught.value.body["error"]["type"] == "overloaded_error"
    assert pa.requests() == 1
