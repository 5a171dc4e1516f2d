"""Over a WebSocket, a provider that is deliberately wrong in one thing: the verdict must say in which."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from harness.engines import mock_target_at, probe
from harness.serving import serving
from harness.wrong_sockets import (
    Message,
    Send,
    SpoilMessage,
    WrongSockets,
    closing,
    cutting,
    frames,
    never_closing,
    refusing,
)

from catalog.evidence import Aspect, Outcome, Result

CONNECTION_TIME = "pb/errors/live/connection_time_exceeded"
INVALID_TOKEN = "pb/errors/live/invalid_ephemeral_token"
CONNECT = "pb/endpoints/live/connect"


def seen(spoil: SpoilMessage, address: str) -> Result:
    """The result of one record on the mock whose WebSockets are spoiled; it is quick to lose patience."""
    with serving(WrongSockets(spoil)) as base:
        return probe(mock_target_at(base, timeout_s=1.0), [address])[address]


def renamed(old: str, new: str) -> SpoilMessage:
    return frames(lambda message: {new: message[old]} if old in message else message)


def without(name: str) -> SpoilMessage:
    return frames(lambda message: None if name in message else message)


def instead(name: str, other: Any) -> SpoilMessage:
    return frames(lambda message: other if name in message else message)


async def never_resuming(message: Message, send: Send, scope: Any) -> None:
    """Close connections that come later with a handle."""
    later = any(name == b"x-mock-clock" for name, _ in scope["headers"])
    if later and message["type"] == "websocket.send":
        message = {"type": "websocket.close", "code": 1008, "reason": "no"}
    await send(message)


@dataclass(frozen=True)
class Wrong:
    """A spoil, the record it is seen on, and the finding that must be told of it."""

    spoil: SpoilMessage
    address: str
    aspect: Aspect
    code: str


UNAVAILABLE = {"error": {"code": 400, "message": "m", "status": "INVALID_ARGUMENT", "details": []}}

WRONG = {
    "wrong event name": Wrong(renamed("goAway", "farewell"), CONNECTION_TIME, Aspect.EVENT, "event-missing"),
    "close without goAway": Wrong(without("goAway"), CONNECTION_TIME, Aspect.EVENT, "event-missing"),
    "goAway of another shape": Wrong(
        instead("goAway", {"goAway": "soon"}), CONNECTION_TIME, Aspect.BODY, "field-differs"
    ),
    "goAway that is no JSON": Wrong(instead("goAway", "go away!"), CONNECTION_TIME, Aspect.EVENT, "stream-malformed"),
    "wrong close code": Wrong(closing(code=4001), CONNECTION_TIME, Aspect.CLOSE, "close-code-differs"),
    "close without a reason": Wrong(closing(reason=""), CONNECTION_TIME, Aspect.CLOSE, "close-reason-missing"),
    "unclean close": Wrong(cutting, CONNECTION_TIME, Aspect.CLOSE, "close-unclean"),
    "no close": Wrong(never_closing, CONNECTION_TIME, Aspect.CLOSE, "close-missing"),
    "no close where only that is awaited": Wrong(never_closing, INVALID_TOKEN, Aspect.CLOSE, "close-missing"),
    "HTTP error instead of a close": Wrong(
        refusing(400, UNAVAILABLE), INVALID_TOKEN, Aspect.EVENT, "stream-not-started"
    ),
    "HTTP status instead of 101": Wrong(refusing(400, UNAVAILABLE), INVALID_TOKEN, Aspect.STATUS, "status-differs"),
    "a close instead of the answer": Wrong(never_resuming, CONNECT, Aspect.EVENT, "event-missing"),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_told(wrong: Wrong) -> None:
    result = seen(wrong.spoil, wrong.address)
    assert result.outcome is Outcome.DRIFTED, (result.outcome, result.reason)
    assert (wrong.aspect, wrong.code) in {(finding.aspect, finding.code) for finding in result.drifts}


def test_the_verdict_on_the_close_stands_apart_from_that_on_the_messages() -> None:
    only_close = seen(closing(code=4001), CONNECTION_TIME)
    assert {finding.aspect for finding in only_close.drifts} == {Aspect.CLOSE}
    only_event = seen(without("goAway"), CONNECTION_TIME)
    assert {finding.aspect for finding in only_event.drifts} == {Aspect.EVENT}


def test_nothing_wrong_conforms() -> None:
    assert seen(frames(lambda message: message), CONNECTION_TIME).outcome is Outcome.CONFORMS


def test_an_overload_at_the_handshake_says_nothing_of_the_record() -> None:
    result = seen(refusing(503, UNAVAILABLE), INVALID_TOKEN)
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "unasked-overload")
