"""Endless, silent and broken WebSockets are bounded in time and memory."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Close, Outcome, Response
from catalog_probe.probes.wire.websocket import MAX_FRAMES
from tests.harness import hostile, hostile_sockets
from tests.harness.engines import mock_target_at, probe
from tests.harness.hostile import HostileServer, Misbehaviour, always_answer
from tests.harness.hostile_sockets import send_and_close, send_and_hang
from tests.harness.memory import measure_memory

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

CONNECTION_TIME = "pb/errors/live/connection_time_exceeded"
INVALID_TOKEN = "pb/errors/live/invalid_ephemeral_token"
SET_UP = '{"setupComplete": {}}'
GO_AWAY = '{"goAway": {"timeLeft": "0s"}}'

PATIENCE_S = 60.0
"""Far more than three attempts may take, on a machine that has stalled as well; a hang would take for ever."""

MEMORY = 60_000_000
"""Memory limit of server and client together: a few message caps, never the announced 1 GB."""


SOON_S = 1.5
"""The time limit where it must be reached; elsewhere a busy machine must not reach it."""


def met(misbehave: Misbehaviour, address: str = CONNECTION_TIME, timeout_s: float = PATIENCE_S) -> Result:
    """The result of one record on a server whose WebSockets misbehave."""
    with HostileServer(misbehave).serving() as base:
        target = mock_target_at(base, timeout_s=timeout_s)
        target = replace(target, providers={"pb": target.providers["pb"]})
        started = time.monotonic()
        result = probe(target, [address])[address]
        assert time.monotonic() - started < PATIENCE_S
        return result


def response_of(result: Result) -> Response:
    response = result.attempts[-1].exchanges[-1].response
    assert response is not None
    return response


@pytest.mark.parametrize(
    ("misbehave", "reason"),
    [
        (hostile_sockets.send_endless_frames, "stream-endless"),
        (hostile_sockets.send_endless_pings, "stream-endless"),
        (hostile_sockets.send_huge_frame, "stream-endless"),
        (hostile_sockets.send_huge_messages, "stream-endless"),
        (hostile_sockets.accept_with_wrong_key, "protocol-error"),
        (hostile.close, "closed-without-answer"),
        (hostile.send_garbage, "protocol-error"),
        (always_answer(302, location="http://127.0.0.1:1/"), "unasked-redirect"),
        (always_answer(429), "unasked-rate-limit"),
        (always_answer(502, b"<html></html>", "text/html"), "gateway-page"),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", "peer"),
)
def test_an_unreachable_websocket_is_inconclusive_with_its_reason(misbehave: Misbehaviour, reason: str) -> None:
    result = met(misbehave)
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, reason)


@pytest.mark.parametrize(
    ("misbehave", "reason"),
    [
        (hostile_sockets.send_endless_fragments, "stream-endless"),  # whose close nobody answers
        (hostile.hang, "read-timeout"),
        (hostile.send_endless_header, "read-timeout"),
    ],
    ids=lambda value: value if isinstance(value, str) else value.__name__,
)
def test_a_message_that_never_comes_is_inconclusive_with_its_reason(misbehave: Misbehaviour, reason: str) -> None:
    result = met(misbehave, timeout_s=SOON_S)
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, reason)


@pytest.mark.parametrize("said", [(), (SET_UP,)], ids=["nothing", "ready"])
def test_a_socket_that_outlives_its_documented_end_is_drift(said: tuple[str, ...]) -> None:
    """The mock's clock was moved past the documented end, so an open socket differs from it."""
    assert met(send_and_hang(*said), timeout_s=SOON_S).outcome is Outcome.DRIFTED


@pytest.mark.parametrize(
    ("misbehave", "address", "code"),
    [
        (send_and_hang(SET_UP), INVALID_TOKEN, "close-missing"),
        (send_and_hang(), INVALID_TOKEN, "close-missing"),
        (send_and_hang(SET_UP, GO_AWAY), CONNECTION_TIME, "close-missing"),
        (hostile_sockets.send_unknown_frame, INVALID_TOKEN, "stream-malformed"),
        (hostile_sockets.send_invalid_utf8, INVALID_TOKEN, "stream-malformed"),
        (hostile_sockets.reset, INVALID_TOKEN, "close-unclean"),
    ],
    ids=["open and talking", "open and silent", "open after goAway", "no such frame", "no UTF-8", "reset"],
)
def test_events_before_a_broken_end_are_judged(misbehave: Misbehaviour, address: str, code: str) -> None:
    result = met(misbehave, address, timeout_s=SOON_S)
    assert result.outcome is Outcome.DRIFTED, (result.outcome, result.reason)
    assert code in {finding.code for finding in result.drifts}


@pytest.mark.parametrize(
    "misbehave",
    [hostile_sockets.send_huge_frame, hostile_sockets.send_endless_fragments, hostile_sockets.send_huge_messages],
)
def test_memory_is_bounded(misbehave: Misbehaviour) -> None:
    met(always_answer(429))  # which loads what all of them need
    assert measure_memory(lambda: met(misbehave, timeout_s=SOON_S)) < MEMORY


def test_messages_before_a_close_are_read() -> None:
    """The close may have come before we could say our first word; what came before it counts all the same."""
    result = met(send_and_close(SET_UP, GO_AWAY))
    assert result.outcome is Outcome.CONFORMS, (result.outcome, result.reason, result.drifts)
    response = response_of(result)
    heard = [event.event for event in response.events or () if not event.sent]
    assert heard == ["setupComplete", "goAway"]
    assert response.close == Close(1000, "enough", clean=True)


def test_frames_are_counted() -> None:
    response = response_of(met(hostile_sockets.send_endless_frames))
    assert len(response.events or ()) <= MAX_FRAMES
    assert response.ended == "capped"
    assert response.close is None
