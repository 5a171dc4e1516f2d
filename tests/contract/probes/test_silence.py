"""A stream, socket or call that answers nothing verifies no record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Close, Event, Outcome, Response
from catalog_probe.catalog.model.assertion import Basis
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.assertions import asserted_expectations, assertions
from tests.harness.captures import judge_response
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.reading.expectations import Expected
    from tests.harness.engines import CleanResults

SENT = Event("setup", {"setup": {}}, sent=True)
ENDINGS = ("complete", "stalled", "cut")
CLOSES = (
    Close(None, "", clean=True),
    Close(1000, "bye", clean=True),
    Close(1006, "", clean=False),
    Close(1008, "bad token", clean=True),
)


def streamed_expectations(protocol: str) -> list[Expected]:
    return [
        expected
        for record in catalog().records
        for expected in asserted_expectations(record, catalog().__getitem__)
        if expected.stream is not None and expected.stream.protocol == protocol
    ]


def iterate_silent_answers(expected: Expected) -> Iterator[Response]:
    """Yield answers whose stream opened and stayed empty."""
    opened = Response(expected.status, events=())
    for ended in ENDINGS:
        yield replace(opened, ended=ended)
        yield replace(opened, ended=ended, events=(SENT,))


def step_outcome(expected: Expected, response: Response) -> Outcome:
    (step,) = judge_response(response, expected).step_verdicts.values()
    return step.outcome


def test_an_empty_stream_never_conforms(subtests: pytest.Subtests) -> None:
    for protocol in ["sse", "websocket"]:
        with subtests.test(protocol=protocol):
            expected_steps = streamed_expectations(protocol)
            assert expected_steps
            matched = [
                (expected.address, expected.label, response.ended)
                for expected in expected_steps
                for response in iterate_silent_answers(expected)
                if step_outcome(expected, response) is Outcome.CONFORMS
            ]
            assert matched == []


def test_a_call_without_a_status_never_conforms() -> None:
    expected_steps = streamed_expectations("grpc")
    assert expected_steps
    outcomes = {step_outcome(expected, Response(200)) for expected in expected_steps}
    assert outcomes == {Outcome.INCONCLUSIVE, Outcome.DRIFTED}


def test_a_close_in_place_of_the_awaited_message_never_conforms() -> None:
    """The handshake alone, answered 101, accepts no token and resumes no session (1:5.2, 1:3)."""
    expected_steps = [
        expected
        for expected in streamed_expectations("websocket")
        if expected.stream and not expected.stream.describes_close
    ]
    assert {"ephemeral_token", "resume_with_handle"} <= {expected.label for expected in expected_steps}
    outcomes = {
        step_outcome(label, Response(101, events=(SENT,), close=close)) for label in expected_steps for close in CLOSES
    }
    assert outcomes == {Outcome.INCONCLUSIVE, Outcome.DRIFTED}


UNPROVEN_CAUSES = ("malformed_message", "expired_resumption_handle", "expired_ephemeral_token")


def test_a_documented_close_conforms_whatever_its_cause(subtests: pytest.Subtests) -> None:
    """A close has a code of 1000 to 1011 and a reason (1:4.2, 1:6); that one comes here at all is assumed."""
    response_cases: list[tuple[Response, Outcome, ReasonCode | None]] = [
        (Response(101, events=(SENT,), close=Close(1007, "bad message")), Outcome.CONFORMS, None),
        (Response(101, events=(SENT,), close=Close(4000, "bad message")), Outcome.DRIFTED, None),
        (Response(101, events=(SENT,), close=Close(None, "bad message")), Outcome.DRIFTED, None),
        (Response(101, events=(SENT,), close=Close(1006, clean=False)), Outcome.DRIFTED, None),
        (Response(101, events=(SENT,), ended="malformed"), Outcome.DRIFTED, None),
        (Response(101, events=(SENT,), ended="stalled"), Outcome.INCONCLUSIVE, ReasonCode.ASSUMPTION_FAILED),
    ]
    for response, outcome, reason in response_cases:
        for slug in UNPROVEN_CAUSES:
            with subtests.test(response=response, slug=slug):
                (expected,) = asserted_expectations(catalog()[f"pb/errors/live/{slug}"], catalog().__getitem__)
                verdict = judge_response(response, expected)
                assert (verdict.outcome, verdict.reason and verdict.reason.code) == (outcome, reason)


@pytest.mark.parametrize("provider", ["pa", "pb", "pc", "pd"])
def test_a_record_of_which_nothing_is_documented_is_not_verified_on_the_mock(
    provider: str, clean: CleanResults
) -> None:
    results = clean(provider)
    for record in catalog().select(provider=provider):
        documented = any(assertion.basis is Basis.DOCUMENTED for assertion in assertions(record, catalog().__getitem__))
        result = results[str(record.address)]
        assert documented or result.outcome in (Outcome.INCONCLUSIVE, Outcome.NOT_PROBED), result.record
        if result.reason is not None and result.reason.code == ReasonCode.NOTHING_OBSERVED:
            assert result.is_beyond_verifying, result.record
