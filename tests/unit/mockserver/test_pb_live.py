"""PB's live API beyond what the records compare: messages, ages, handles and tokens (1:3, 1:4.2, 2:8.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from websockets.exceptions import InvalidStatus

from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.core.errors import ErrorRow
from catalog_probe.mockserver.pb.live import find_close_code
from tests.harness import patient
from tests.harness.serving import serving
from tests.unit.mockserver.socket_client import SocketClient, open_socket

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

PATH = "/pb/ws/v1beta.GenerativeService.BidiGenerateContent"
TEXT_ONLY = {"responseModalities": ["TEXT"]}


@pytest.fixture(scope="module")
def base() -> Iterator[str]:
    with serving(create_app(only=["pb"])) as address:
        yield address


def live(base: str, session: str = "", path: str = PATH, **headers: str | None) -> AbstractContextManager[SocketClient]:
    """A connection with the inference key unless told otherwise."""
    return open_socket(base, path, **{"x_pb_api_key": "mock-pb-inference", "x_mock_session": session, **headers})


def set_up(socket: SocketClient, **fields: Any) -> None:
    socket.say({"setup": {"model": "models/mock-live", **fields}})
    assert socket.hear() == {"setupComplete": {}}


def speak(socket: SocketClient, text: str) -> list[Any]:
    turns = [{"role": "user", "parts": [{"text": text}]}]
    socket.say({"clientContent": {"turns": turns, "turnComplete": True}})
    return [socket.hear() for _ in range(3)]


def handle_of(base: str, session: str, **headers: Any) -> str:
    with live(base, session, **headers) as socket:
        set_up(socket, sessionResumption={})
        return str(socket.hear()["sessionResumptionUpdate"]["newHandle"])


def create_token(base: str, session: str, **wishes: Any) -> str:
    headers = {"x-pb-api-key": "mock-pb-inference", "x-mock-session": session}
    response = patient.post(f"{base}/pb/v1beta/auth_tokens", headers=headers, json=wishes)
    return str(response.json()["name"])


def test_both_spellings_are_understood_and_may_be_mixed(base: str) -> None:
    with live(base) as socket:
        set_up(socket, generation_config={"responseModalities": ["TEXT"]}, session_resumption={})
        assert "sessionResumptionUpdate" in socket.hear()
        socket.say({"client_content": {"turns": [{"parts": [{"text": "hi"}]}], "turn_complete": True}})
        assert "serverContent" in socket.hear()
        socket.say({"realtime_input": {"text": "hi"}})
        assert "serverContent" in socket.hear_until("serverContent")[-1]


@pytest.mark.parametrize(
    "path",
    [
        "/pb/ws/v1alpha.GenerativeService.BidiGenerateContent",
        "/pb/ws/some.package.v1beta.GenerativeService.BidiGenerateContentConstrained",
    ],
)
def test_any_package_may_be_dialled(base: str, path: str) -> None:
    with live(base, path=path) as socket:
        set_up(socket)


def test_a_path_that_is_none_is_not_found(base: str) -> None:
    with pytest.raises(InvalidStatus) as refused, live(base, path="/pb/ws/nothing"):
        pass
    assert refused.value.response.status_code == 404
    assert b'"NOT_FOUND"' in (refused.value.response.body or b"")


@pytest.mark.parametrize(
    ("message", "close_reason"),
    [
        ({"setup": {"model": "models/mock-live"}, "realtimeInput": {}}, "exactly one"),
        ({"setup": {"model": "models/mock-live", "systemInstruction": {"parts": []}}}, "must not be empty"),
        ({"setup": {"model": "models/mock-live", "generationConfig": {"responseModalities": ["IMAGE"]}}}, "AUDIO"),
        ({"realtimeInput": {"text": "hi"}}, "first message"),
    ],
    ids=str,
)
def test_a_wrong_message_closes_the_socket_with_its_reason(
    base: str, message: dict[str, Any], close_reason: str
) -> None:
    with live(base) as socket:
        socket.say(message)
        _, code, reason = socket.hear_close()
    assert code == 1007
    assert close_reason in reason


@pytest.mark.parametrize(
    ("age", "ends"),
    [("session_age;age=15m", False), ("connection_age;age=10m", True)],
)
def test_time_ends_a_connection_but_no_session_that_is_compressed(base: str, age: str, ends: bool) -> None:
    with live(base, x_mock_scenario=age) as socket:
        set_up(socket, contextWindowCompression={})
        if not ends:
            assert "serverContent" in speak(socket, "still here")[0]
            return
        heard, code, reason = socket.hear_close()
    assert [list(message) for message in heard] == [["goAway"]]
    assert (code, bool(reason)) == (1001, True)


@pytest.mark.parametrize(("clock", "resumes"), [("+1h59m", True), ("+2h", False)])
def test_a_handle_is_good_for_two_hours(base: str, clock: str, resumes: bool) -> None:
    handle = handle_of(base, clock)
    with live(base, clock, x_mock_clock=clock) as socket:
        socket.say({"setup": {"model": "models/mock-live", "sessionResumption": {"handle": handle}}})
        if resumes:
            assert socket.hear() == {"setupComplete": {}}
        else:
            assert socket.hear_close()[1:] == (1007, "The session resumption handle has expired.")


def test_a_handle_of_another_session_and_a_second_setup_are_refused(base: str) -> None:
    handle = handle_of(base, "mine")
    with live(base, "yours") as socket:
        socket.say({"setup": {"model": "models/mock-live", "sessionResumption": {"handle": handle}}})
        assert socket.hear_close()[1:] == (1007, "The session resumption handle is not valid.")
    with live(base, "mine") as socket:
        set_up(socket, sessionResumption={"handle": handle})
        socket.say({"setup": {"model": "models/mock-live"}})
        assert socket.hear_close()[1:] == (1007, "The setup can be sent only once.")


def test_a_resumed_session_is_as_old_as_it_was(base: str) -> None:
    with live(base, "old", x_mock_scenario="session_age;age=14m30s") as socket:
        set_up(socket, sessionResumption={})
        handle = socket.hear()["sessionResumptionUpdate"]["newHandle"]
    with live(base, "old", x_mock_clock="+1h") as socket:
        set_up(socket, sessionResumption={"handle": handle})
        assert float(socket.hear_until("goAway")[-1]["goAway"]["timeLeft"].rstrip("s")) <= 30


def test_a_token_begins_as_many_sessions_as_it_has_uses(base: str) -> None:
    token = create_token(base, "uses")
    for works in (True, False):
        with live(base, "uses", x_pb_api_key=None, authorization=f"Token {token}") as socket:
            socket.say({"setup": {"model": "models/mock-live"}})
            if works:
                assert socket.hear() == {"setupComplete": {}}
            else:
                assert socket.hear_close()[1:] == (1008, "The ephemeral token is used up.")


def test_a_resumption_spends_no_use_of_a_token(base: str) -> None:
    headers: dict[str, Any] = {"x_pb_api_key": None, "authorization": f"Token {create_token(base, 'again')}"}
    handle = handle_of(base, "again", **headers)
    with live(base, "again", **headers) as socket:
        set_up(socket, sessionResumption={"handle": handle})


def test_a_token_may_stand_in_the_address(base: str) -> None:
    token = create_token(base, "address")
    with live(base, "address", f"{PATH}?access_token={token}", x_pb_api_key=None) as socket:
        set_up(socket)


def test_a_reset_has_no_close(base: str) -> None:
    with live(base, x_mock_scenario="connection_reset") as socket:
        set_up(socket)
        socket.say({"realtimeInput": {"text": "hi"}})
        heard, code, _ = socket.hear_close()
    assert (len(heard), code) == (1, 1006)


def test_a_scenario_that_a_connection_does_not_know_is_refused(base: str) -> None:
    with pytest.raises(InvalidStatus) as refused, live(base, x_mock_scenario="prompt_blocked"):
        pass
    assert refused.value.response.status_code == 400
    assert b"mock_error" in (refused.value.response.body or b"")


def test_a_function_is_called_that_the_user_names(base: str) -> None:
    look = {"name": "look", "parameters": {"type": "OBJECT", "properties": {"at": {"type": "STRING", "enum": ["sea"]}}}}
    with live(base) as client:
        set_up(client, tools=[{"functionDeclarations": [look]}])
        client.say({"clientContent": {"turns": [{"role": "user", "parts": [{"text": "look"}]}], "turnComplete": True}})
        (called,) = client.hear()["toolCall"]["functionCalls"]
        assert (called["name"], called["args"]) == ("look", {"at": "sea"})
        client.say({"toolResponse": {"functionResponses": [{"id": called["id"], "name": "look", "response": {}}]}})
        assert client.hear_until("serverContent")


@pytest.mark.parametrize(
    ("status", "close_code"),
    [(400, 1007), (401, 1008), (403, 1008), (404, 1008), (416, 1007), (429, 1011), (500, 1011), (501, 1007)],
)
def test_the_status_of_a_refusal_decides_the_close_code(status: int, close_code: int) -> None:
    assert find_close_code(ErrorRow("2:7.4", status)()) == close_code
