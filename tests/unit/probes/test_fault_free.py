"""The request without a fault: when it is sent, how often, and that each answer of a lane is asked about once."""

from __future__ import annotations

import asyncio

import pytest

from catalog_probe.catalog.model import Exchange, Reason, Response
from catalog_probe.probes.judging.inconclusive.key_evidence import (
    EndpointAnswer,
    FaultFreeResult,
    Fingerprint,
    KeyEvidence,
)
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running.fault_free import ask_fault_free
from tests.unit.probes.inconclusive.evidence_making import REQUEST, error_body
from tests.unit.probes.judging_one import known

MESSAGES, SENTENCE = "pa/endpoints/messages/create_message", "Not today."
ON = EndpointAnswer(MESSAGES, Fingerprint(400, SENTENCE))


def answer(status: int, message: str = "") -> Exchange:
    return Exchange("twin", REQUEST, Response(status, {}, error_body("invalid_request_error", message), "json"))


LOST = Exchange("twin", REQUEST, None, Reason("connection-reset"))
NOT_ALLOWED = ProbeStopped(Reason("cost-not-allowed", "--allow billable"))


def ask(answers: list[Exchange | ProbeStopped], faults: str = "abc", times: int = 1) -> tuple[KeyEvidence, list[str]]:
    """What is known of a key in the end, and the endpoints that were asked."""
    asked: list[str] = []
    key = KeyEvidence(faults_by_answer={ON: set(faults)})
    left = list(answers)

    async def send(endpoint: str) -> Exchange:
        asked.append(endpoint)
        came = left.pop(0)
        if isinstance(came, ProbeStopped):
            raise came
        return came

    for _ in range(times):
        asyncio.run(ask_fault_free(key, send, "pa", known("pa")))
    return key, asked


@pytest.mark.parametrize(
    ("answers", "shows"),
    [
        ([answer(200)], FaultFreeResult.DIFFERENT),
        ([answer(400, SENTENCE)], FaultFreeResult.SAME),
        ([LOST, answer(200)], FaultFreeResult.DIFFERENT),
        ([answer(529, "busy"), answer(400, SENTENCE)], FaultFreeResult.SAME),
        ([LOST, LOST], FaultFreeResult.UNKNOWN),
        ([NOT_ALLOWED], FaultFreeResult.UNKNOWN),
    ],
    ids=["success", "alike", "lost once", "busy once", "lost twice", "not allowed"],
)
def test_it_is_sent_once_more_where_its_answer_got_lost_and_never_a_third_time(
    answers: list[Exchange | ProbeStopped], shows: FaultFreeResult
) -> None:
    key, asked = ask(answers, times=2)
    assert key.fault_free_answers[ON].result is shows
    assert asked == [MESSAGES] * len(answers)


def test_why_it_was_not_sent_is_told() -> None:
    key, _ = ask([NOT_ALLOWED])
    where = f"{MESSAGES} without a fault: cost-not-allowed: --allow billable"
    assert key.fault_free_answers[ON].detail == f"{where}; different faults got: {SENTENCE}"


def test_it_is_not_sent_for_two_faults() -> None:
    key, asked = ask([], "ab")
    assert (key.fault_free_answers, asked) == ({}, [])
