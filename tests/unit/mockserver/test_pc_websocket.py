"""PC's responses over WebSocket beyond what the records compare: state, queue, messages, causes (1:6, 2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import InvalidStatus

from catalog_probe.mockserver.app import create_app
from tests.harness import patient
from tests.harness.serving import serving
from tests.unit.mockserver.socket_client import SocketClient, open_socket

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

KEY = "Bearer mock-pc-inference"
LONG = "count to 900"


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with serving(create_app(only=["pc"])) as address:
        yield address


def open_session(
    base: str, session: str = "", path: str = "/pc/v1/responses", **headers: str | None
) -> AbstractContextManager[SocketClient]:
    return open_socket(base, path, **{"authorization": KEY, "x_mock_session": session, **headers})


def make_create(text: str = "hello", **fields: Any) -> dict[str, Any]:
    return {"type": "response.create", "model": "mock-small", "input": text} | fields


def respond(client: SocketClient, **fields: Any) -> dict[str, Any]:
    """The whole response to a request."""
    client.say(make_create(**fields))
    response: dict[str, Any] = client.hear_until("response.completed")[-1]["response"]
    return response


def start(client: SocketClient, **fields: Any) -> str:
    """The id of a response that is being made."""
    client.say(make_create(LONG, **fields))
    return str(client.hear_until("response.created")[-1]["response"]["id"])


def test_only_an_active_response_can_be_steered(base: str) -> None:
    with open_session(base) as client:
        done_id = respond(client)["id"]
        for response_id, code in ((done_id, "response_already_completed"), ("resp_none", "response_not_found")):
            client.say({"type": "response.steer", "previous_response_id": response_id, "input": "stop"})
            failed = client.hear()
            assert (failed["type"], failed["error"]["code"]) == ("response.steer.failed", code)


def test_input_is_injected_into_an_active_response(base: str) -> None:
    item = {"type": "message", "role": "user", "content": "more"}
    with open_session(base) as client:
        response_id = start(client, max_output_tokens=64)
        client.say({"type": "response.inject", "response_id": response_id, "input": [item]})
        assert client.hear_until("response.inject.created")[-1]["response_id"] == response_id
        assert client.hear_until("response.incomplete")


def test_a_request_during_a_response_is_queued(base: str) -> None:
    with open_session(base) as client:
        start(client, max_output_tokens=32)
        client.say(make_create("next"))
        client.hear_until("response.incomplete")
        assert client.hear_until("response.completed")[-1]["response"]["status"] == "completed"


@pytest.mark.parametrize(
    ("store", "same_socket", "is_known"), [(True, False, True), (False, True, True), (False, False, False)]
)
def test_a_previous_response_is_known_if_stored_or_on_the_same_socket(
    base: str, store: bool, same_socket: bool, is_known: bool
) -> None:
    session = f"{store}{same_socket}"
    with open_session(base, session) as first:
        response_id = respond(first, store=store)["id"]
        if same_socket:
            assert respond(first, previous_response_id=response_id)["previous_response_id"] == response_id
            return
    with open_session(base, session) as second:
        second.say(make_create(previous_response_id=response_id))
        answer = second.hear()
    if is_known:
        assert answer["type"] == "response.created"
    else:
        assert answer == {
            "type": "error",
            "status": 400,
            "error": {
                "message": f"Previous response with id '{response_id}' not found.",
                "type": "invalid_request_error",
                "param": "previous_response_id",
                "code": "previous_response_not_found",
            },
        }


@pytest.mark.parametrize(
    ("message", "code", "param"),
    [
        ("no JSON", "invalid_json", None),
        ({"type": ["response.create"]}, "invalid_type", "type"),
        ({"model": "mock-small", "input": "hi"}, "missing_required_parameter", "type"),
        (
            {"type": "response.steer", "previous_response_id": "r", "input": [{"content": [None]}]},
            "invalid_type",
            "input[0].content[0]",
        ),
    ],
    ids=str,
)
def test_a_wrong_message_is_an_error_and_the_socket_stays_open(
    base: str, message: dict[str, Any] | str, code: str, param: str | None
) -> None:
    with open_session(base) as client:
        client.say(message)
        answer = client.hear()
        assert answer["type"] == "error"
        assert set(answer["error"]) == {"message", "type", "param", "code"}
        assert (answer["error"]["code"], answer["error"]["param"]) == (code, param)
        assert respond(client)["status"] == "completed"


def test_the_limit_comes_by_itself(base: str) -> None:
    with open_session(base, x_mock_scenario="session_age;age=59m59s900ms") as client:
        assert client.hear()["error"]["code"] == "websocket_connection_limit_reached"


def test_http_and_sockets_know_the_same_stored_responses(base: str) -> None:
    headers = {"authorization": KEY, "x-mock-session": "both"}
    with open_session(base, "both") as client:
        response = respond(client)
        fetched = patient.get(f"{base}/pc/v1/responses/{response['id']}", headers=headers)
        body = {"model": "mock-small", "input": "over HTTP"}
        created = patient.post(f"{base}/pc/v1/responses", headers=headers, json=body)
        assert respond(client, previous_response_id=created.json()["id"])["status"] == "completed"
    assert fetched.json() == response


def test_another_path_has_no_body(base: str) -> None:
    with pytest.raises(InvalidStatus) as refused, open_session(base, path="/pc/v1/elsewhere"):
        pass
    assert (refused.value.response.status_code, refused.value.response.body or b"") == (404, b"")


@pytest.mark.parametrize(
    ("scenario", "code", "failed"),
    [("cyber_safeguard", "cyber_policy", False), ("internal_error", "server_error", True)],
)
def test_a_response_fails_after_it_began(base: str, scenario: str, code: str, failed: bool) -> None:
    with open_session(base, scenario, x_mock_scenario=f"{scenario};when=mid_stream;times=1") as client:
        client.say(make_create())
        events = client.hear_until("error")
        assert [event["type"] for event in events] == ["response.created", "response.in_progress", "error"]
        assert events[-1]["error"]["code"] == code
        if failed:
            assert client.hear()["response"]["error"]["code"] == code
        client.say(make_create())
        assert client.hear_until("response.completed")


def test_requests_on_a_socket_are_counted_towards_the_limits(base: str) -> None:
    with open_session(base, "tight", authorization="Bearer mock-pc-tight") as client:
        for _ in range(2):
            client.say(make_create())
            assert client.hear_until("response.completed")
        client.say(make_create())
        assert client.hear()["error"]["code"] == "rate_limit_exceeded"


def test_a_scenario_of_the_handshake_applies_to_its_number_of_responses(base: str) -> None:
    with open_session(base, "times", x_mock_scenario="rate_limited;times=1, overloaded;times=1") as client:
        for status in (429, 503):
            client.say(make_create())
            assert client.hear()["status"] == status
        client.say(make_create())
        assert client.hear_until("response.completed")


def test_a_cause_that_waits_strikes_the_next_response(base: str) -> None:
    with open_session(base, "waits") as client:
        patient.post(f"{base}/__mock__/next?session=waits", content="overloaded")
        client.say(make_create())
        assert client.hear()["status"] == 503


def test_a_cause_that_finds_nothing_on_the_socket_is_not_ignored(base: str) -> None:
    with open_session(base, "nothing", x_mock_scenario="usage_policy_violation") as client:
        client.say(make_create())
        assert "nothing to act on" in client.hear()["mock_error"]


def test_a_function_is_called_over_the_socket(base: str) -> None:
    tool = {"type": "function", "name": "look", "parameters": {"type": "object", "properties": {"at": {"enum": [7]}}}}
    with open_session(base) as client:
        client.say(make_create("please look", tools=[tool]))
        called = client.hear_until("response.completed")[-1]["response"]
        (item,) = called["output"]
        assert (item["type"], item["name"], item["arguments"]) == ("function_call", "look", '{"at": 7}')
        output = {"type": "function_call_output", "call_id": item["call_id"], "output": "a cat"}
        client.say(make_create(input=[output], tools=[tool], previous_response_id=called["id"]))
        response = client.hear_until("response.completed")[-1]["response"]
        assert response["output"][0]["content"][0]["text"] == "The mock heard: a cat"
