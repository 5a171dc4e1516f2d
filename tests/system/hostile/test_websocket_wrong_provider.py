"""A WebSocket provider wrong in one thing: the verdict names it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model import Aspect, Outcome, Severity
from tests.harness.engines import mock_target_at, probe
from tests.harness.serving import serving
from tests.harness.wrong_sockets import (
    SpoilMessage,
    WrongSockets,
    change_close,
    cut_instead_of_close,
    edit_frames,
    never_close,
    refuse_handshake,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Message, Scope, Send

    from catalog_probe.catalog.evidence.results import Result

pytestmark = pytest.mark.usefixtures("short_silence")

CONNECTION_TIME = "pb/errors/live/connection_time_exceeded"
INVALID_TOKEN = "pb/errors/live/invalid_ephemeral_token"
EXPIRED_HANDLE = "pb/errors/live/expired_resumption_handle"
CONNECT = "pb/endpoints/live/connect"
LIMIT = "pc/errors/websocket/connection_limit_reached"
STEERED = "pc/errors/websocket/steered"
COMPLETED = "pc/errors/websocket/response_already_completed"
RESPONSES = "pc/endpoints/websocket/responses"


def probe_spoiled(spoil: SpoilMessage, address: str) -> Result:
    """The result of one record on the mock whose WebSockets are spoiled."""
    with serving(WrongSockets(spoil)) as base:
        return probe(mock_target_at(base), [address])[address]


def rename_message(old: str, new: str) -> SpoilMessage:
    return edit_frames(lambda message: {new: message[old]} if old in message else message)


def drop_message(name: str) -> SpoilMessage:
    return edit_frames(lambda message: None if name in message else message)


def replace_message(name: str, other: Any) -> SpoilMessage:
    return edit_frames(lambda message: other if name in message else message)


async def refuse_resumption(message: Message, send: Send, scope: Scope) -> None:
    """Close later connections that resume with a handle."""
    later = any(name == b"x-mock-clock" for name, _ in scope["headers"])
    if later and message["type"] == "websocket.send":
        message = {"type": "websocket.close", "code": 1008, "reason": "no"}
    await send(message)


async def rename_setup_for_tokens(message: Message, send: Send, scope: Scope) -> None:
    """Rename the setup message on connections that an ephemeral token opened."""
    by_token = any(name == b"authorization" for name, _ in scope["headers"])
    await (rename_message("setupComplete", "ready")(message, send, scope) if by_token else send(message))


@dataclass(frozen=True)
class SocketMismatch:
    """A spoiled socket, the record that observes it, and the finding that must report it."""

    spoil: SpoilMessage
    address: str
    aspect: Aspect
    code: str


def edit_event(event: str, change: Callable[[Any], Any]) -> SpoilMessage:
    """Change the data of one event."""
    return edit_frames(lambda message: change(message) if message.get("type") == event else message)


def flatten_error(message: Any) -> Any:
    """Flatten the error as a stream would send it; WebSockets nest it."""
    return {"type": "error", **{name: message["error"][name] for name in ("code", "message", "param")}}


def change_error(**changes: Any) -> Callable[[Any], Any]:
    return lambda message: {**message, "error": {**message["error"], **changes}}


async def close_before_the_end(message: Message, send: Send, scope: Scope) -> None:
    """Close where the terminal event should come."""
    if '"type":"response.completed"' in message.get("text", ""):
        message = {"type": "websocket.close", "code": 1000, "reason": "that was it"}
    await send(message)


UNAVAILABLE = {"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT", "details": []}}

DRIFTS = {
    "wrong event name": SocketMismatch(
        rename_message("goAway", "farewell"), CONNECTION_TIME, Aspect.EVENT, "event-missing"
    ),
    "close without goAway": SocketMismatch(drop_message("goAway"), CONNECTION_TIME, Aspect.EVENT, "event-missing"),
    "goAway that is no JSON": SocketMismatch(
        replace_message("goAway", "go away!"), CONNECTION_TIME, Aspect.EVENT, "stream-malformed"
    ),
    "wrong close code": SocketMismatch(change_close(code=4001), CONNECTION_TIME, Aspect.CLOSE, "close-code-differs"),
    "close without a reason": SocketMismatch(
        change_close(reason=""), CONNECTION_TIME, Aspect.CLOSE, "close-reason-missing"
    ),
    "unclean close": SocketMismatch(cut_instead_of_close, CONNECTION_TIME, Aspect.CLOSE, "close-unclean"),
    "no close": SocketMismatch(never_close, CONNECTION_TIME, Aspect.CLOSE, "close-missing"),
    "no close where only that is awaited": SocketMismatch(never_close, INVALID_TOKEN, Aspect.CLOSE, "close-missing"),
    "HTTP error instead of a close": SocketMismatch(
        refuse_handshake(402, UNAVAILABLE), INVALID_TOKEN, Aspect.EVENT, "stream-not-started"
    ),
    "HTTP status instead of 101": SocketMismatch(
        refuse_handshake(402, UNAVAILABLE), INVALID_TOKEN, Aspect.STATUS, "status-differs"
    ),
    "another code": SocketMismatch(
        edit_event("error", change_error(code="too_old")), LIMIT, Aspect.CODE, "code-differs"
    ),
    "another type": SocketMismatch(
        edit_event("error", change_error(type="server_error")), LIMIT, Aspect.TYPE, "type-differs"
    ),
    "another status in the frame": SocketMismatch(
        edit_event("error", lambda message: {**message, "status": 429}), LIMIT, Aspect.CODE, "code-differs"
    ),
    "error as HTTP status instead of an event": SocketMismatch(
        refuse_handshake(402, UNAVAILABLE), LIMIT, Aspect.EVENT, "stream-not-started"
    ),
    "another reason": SocketMismatch(
        edit_event(
            "response.incomplete",
            lambda message: {**message, "response": {**message["response"], "incomplete_details": {"reason": "bored"}}},
        ),
        STEERED,
        Aspect.BODY,
        "field-differs",
    ),
    "failure without its code": SocketMismatch(
        edit_event("response.inject.failed", change_error(code=None)), COMPLETED, Aspect.BODY, "field-differs"
    ),
    # "Resumption handle valid 2 h" (2:8.1) promises that it is accepted, whatever event says so.
    "a handle that resumes nothing": SocketMismatch(refuse_resumption, CONNECT, Aspect.EVENT, "stream-not-started"),
}

MISMATCHED_ASSUMPTIONS = {
    "flat error": SocketMismatch(edit_event("error", flatten_error), LIMIT, Aspect.BODY, "body-shape"),
    "goAway of another shape": SocketMismatch(
        replace_message("goAway", {"goAway": "soon"}), CONNECTION_TIME, Aspect.BODY, "field-differs"
    ),
    "another name where clients wait": SocketMismatch(rename_setup_for_tokens, CONNECT, Aspect.EVENT, "event-missing"),
}
"""Assumed assertions: a mismatch resolves the assumption."""

UNOBSERVED = {
    "wrong event name of an error": (edit_event("error", lambda message: {**message, "type": "failure"}), LIMIT),
}
"""The documents name no event of the answer (1:6, 1:4.2): if the assumed one does not come, nothing was observed."""


@pytest.mark.parametrize("wrong", DRIFTS.values(), ids=DRIFTS.keys())
def test_one_wrong_thing_is_drift_with_its_code(wrong: SocketMismatch) -> None:
    result = probe_spoiled(wrong.spoil, wrong.address)
    assert result.outcome is Outcome.DRIFTED, (result.outcome, result.reason)
    assert (wrong.aspect, wrong.code) in {(finding.aspect, finding.code) for finding in result.drifts}


@pytest.mark.parametrize("wrong", MISMATCHED_ASSUMPTIONS.values(), ids=MISMATCHED_ASSUMPTIONS.keys())
def test_a_mismatched_assumption_is_reported_but_no_drift(wrong: SocketMismatch) -> None:
    result = probe_spoiled(wrong.spoil, wrong.address)
    assert result.outcome is Outcome.CONFORMS, (result.outcome, result.reason)
    told = [finding for finding in result.findings if (finding.aspect, finding.code) == (wrong.aspect, wrong.code)]
    assert {finding.severity for finding in told} == {Severity.SHOULD}
    assert ": assumed " in told[0].message


@pytest.mark.parametrize(("spoil", "address"), UNOBSERVED.values(), ids=UNOBSERVED.keys())
def test_an_answer_whose_assumed_event_does_not_come_is_inconclusive(spoil: SpoilMessage, address: str) -> None:
    result = probe_spoiled(spoil, address)
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "nothing-observed")


def test_a_socket_that_closes_before_its_last_event_is_inconclusive() -> None:
    result = probe_spoiled(close_before_the_end, RESPONSES)
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "nothing-observed")


def test_a_handshake_that_blames_our_request_is_inconclusive() -> None:
    result = probe_spoiled(refuse_handshake(400, UNAVAILABLE), INVALID_TOKEN)
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "assumption-failed")


async def close_as_retired(message: Message, send: Send, scope: Scope) -> None:
    """Close each connection in place of its first message."""
    if message["type"] == "websocket.send":
        message = {"type": "websocket.close", "code": 1008, "reason": "models/live-1 is retired"}
    await send(message)


def test_a_closed_setup_reports_its_code_and_reason() -> None:
    result = probe_spoiled(close_as_retired, EXPIRED_HANDLE)
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "setup-failed")
    assert result.reason is not None
    assert result.reason.detail.endswith("no sessionResumptionUpdate; closed with 1008: models/live-1 is retired")


def test_close_and_messages_have_separate_verdicts() -> None:
    only_close = probe_spoiled(change_close(code=4001), CONNECTION_TIME)
    assert {finding.aspect for finding in only_close.drifts} == {Aspect.CLOSE}
    only_event = probe_spoiled(drop_message("goAway"), CONNECTION_TIME)
    assert {finding.aspect for finding in only_event.drifts} == {Aspect.EVENT}


@pytest.mark.parametrize(
    "change",
    [lambda message: message, lambda message: {"traceId": "t_1", **message}, lambda message: {**message, "type": "x"}],
    ids=["unspoiled", "unknown member in front", "unknown member named type"],
)
def test_a_message_is_known_by_its_known_member(change: Callable[[Any], Any]) -> None:
    assert probe_spoiled(edit_frames(change), CONNECTION_TIME).outcome is Outcome.CONFORMS


def test_an_overload_at_the_handshake_is_inconclusive() -> None:
    result = probe_spoiled(refuse_handshake(503, UNAVAILABLE), INVALID_TOKEN)
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "unasked-overload")
