"""The WebSocket mode of PC's official SDK on the mock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.mockserver.app import create_app
from tests.harness.serving import serving

if TYPE_CHECKING:
    from collections.abc import Iterator

sdk = pytest.importorskip("openai", reason="the official SDK of PC is not installed (dependency group `clients`)")

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

MODEL = "mock-small"


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with serving(create_app(only=["pc"], list_requests=True)) as address:
        yield address


@pytest.fixture
def client(base: str) -> Iterator[Any]:
    with sdk.OpenAI(api_key="mock-pc-inference", base_url=f"{base}/pc/v1") as made:
        yield made


def until(connection: Any, kind: str) -> list[Any]:
    """The events up to the first of a kind."""
    events: list[Any] = []
    while not events or events[-1].type != kind:
        events.append(connection.recv())
    return events


def test_a_response(client: Any) -> None:
    with client.responses.connect() as connection:
        connection.response.create(model=MODEL, input="hello")
        completed = until(connection, "response.completed")[-1]
    assert completed.response.output_text == "The mock heard: hello"


def test_a_row_in_the_address_reaches_the_socket(base: str) -> None:
    address = f"{base}/pc@address~2-7.5-insufficient_quota~times=1/v1"
    with sdk.OpenAI(api_key="mock-pc-inference", base_url=address) as client, client.responses.connect() as connection:
        connection.response.create(model=MODEL, input="hello")
        assert until(connection, "error")[-1].error.code == "insufficient_quota"


def test_responses_go_on_from_each_other(client: Any) -> None:
    with client.responses.connect() as connection:
        connection.response.create(model=MODEL, input="hello", store=False)
        first = until(connection, "response.completed")[-1].response
        connection.response.create(model=MODEL, input="again", previous_response_id=first.id)
        assert until(connection, "response.completed")[-1].response.previous_response_id == first.id


def test_steering(client: Any) -> None:
    with client.responses.connect() as connection:
        connection.response.create(model=MODEL, input="count to 900")
        made = until(connection, "response.created")[-1].response
        connection.response.steer(input="stop", previous_response_id=made.id)
        assert until(connection, "response.steer.accepted")[-1].steer.previous_response_id == made.id
        assert until(connection, "response.incomplete")[-1].response.incomplete_details.reason == "steered"
        assert until(connection, "response.completed")[-1].response.previous_response_id == made.id


def test_injecting_into_a_completed_response(client: Any) -> None:
    with client.beta.responses.connect() as connection:
        connection.response.create(model=MODEL, input="hello")
        done = until(connection, "response.completed")[-1].response
        connection.response.inject(response_id=done.id, input=[{"role": "user", "content": "more"}])
        failed = connection.recv()
    assert (failed.type, failed.error.code) == ("response.inject.failed", "response_already_completed")


def test_a_lost_previous_response(client: Any) -> None:
    with client.responses.connect() as connection:
        connection.response.create(model=MODEL, input="hello", previous_response_id="resp_lost")
        told = connection.recv()
    assert (told.type, told.status, told.error.code) == ("error", 400, "previous_response_not_found")
    assert told.error.param == "previous_response_id"


def test_the_limit_of_sixty_minutes(client: Any) -> None:
    headers = {"x-mock-scenario": "session_age;age=60m"}
    with client.responses.connect(extra_headers=headers) as connection:
        told = connection.recv()
    assert told.error.code == "websocket_connection_limit_reached"


def test_an_error_nobody_handles_is_raised(client: Any) -> None:
    with client.responses.connect() as connection:
        connection.response.create(model="no-such-model", input="hello")
        with pytest.raises(sdk.OpenAIError, match="model_not_found"):
            connection.dispatch_events()


def test_a_bad_key(base: str) -> None:
    client = sdk.OpenAI(api_key="no-such-key", base_url=f"{base}/pc/v1")
    with client, pytest.raises(Exception, match="401"), client.responses.connect():
        pass


@pytest.mark.parametrize("scenario", ["hang", "close_without_answer"])
def test_errors_of_the_client_are_retried_twice(base: str, scenario: str) -> None:
    """A timeout is a connection error of its own kind; both are retried (2:7.5, 2:8.1)."""
    raised = {"hang": sdk.APITimeoutError, "close_without_answer": sdk.APIConnectionError}
    headers = {"x-mock-scenario": scenario, "x-mock-session": scenario}
    with sdk.OpenAI(api_key="mock-pc-inference", base_url=f"{base}/pc/v1", timeout=0.2) as client:
        assert (client.max_retries, sdk.DEFAULT_TIMEOUT.read) == (2, 600)
        with pytest.raises(raised[scenario]):
            client.models.list(extra_headers=headers)
        counted = client.with_options(timeout=5).get(
            f"{base}/__mock__/requests?session={scenario}", cast_to=dict[str, Any]
        )
    assert counted["total"] == 3
