"""The request without its fault: where there is one, and what its answer shows."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Exchange, Reason, Response
from catalog_probe.probes.judging.inconclusive.evidence import EndpointAnswer, FaultFreeResult, Fingerprint, KeyEvidence
from catalog_probe.probes.judging.inconclusive.one_answer import MAX_REQUESTS, MIN_FAULTS
from catalog_probe.probes.planning.plan import make_plan
from catalog_probe.probes.planning.plan_text import list_fault_free_requests
from catalog_probe.probes.recipes.probe import ProbeStopped
from catalog_probe.probes.running.fault_free import ask_fault_free
from catalog_probe.probes.targets.target import Cost
from tests.harness.engines import FIRST_ENDPOINTS, catalog, mock_target_at
from tests.unit.probes.inconclusive.evidence_making import REQUEST, error_body
from tests.unit.probes.judging_one import load_vocabulary

if TYPE_CHECKING:
    import pytest


MESSAGES, SENTENCE = "pa/endpoints/messages/create_message", "Not today."
SUSPICION = EndpointAnswer(MESSAGES, Fingerprint(400, SENTENCE))


def make_answer(status: int, message: str = "") -> Exchange:
    return Exchange("twin", REQUEST, Response(status, {}, error_body("invalid_request_error", message), "json"))


LOST = Exchange("twin", REQUEST, None, Reason("connection-reset"))
NOT_ALLOWED = ProbeStopped(Reason("cost-not-allowed", "--allow billable"))


def ask(answers: list[Exchange | ProbeStopped], faults: str = "abc", times: int = 1) -> tuple[KeyEvidence, list[str]]:
    """Return the evidence of the key in the end, and the endpoints that were asked."""
    asked_endpoints: list[str] = []
    key = KeyEvidence(faults_by_answer={SUSPICION: set(faults)})
    remaining = list(answers)

    async def send(endpoint: str) -> Exchange:
        asked_endpoints.append(endpoint)
        outcome = remaining.pop(0)
        if isinstance(outcome, ProbeStopped):
            raise outcome
        return outcome

    for _ in range(times):
        asyncio.run(ask_fault_free(key, send, "pa", load_vocabulary("pa")))
    return key, asked_endpoints


def test_lost_fault_free_answer_is_asked_once_more(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, list[Exchange | ProbeStopped], FaultFreeResult]] = [
        ("success", [make_answer(200)], FaultFreeResult.DIFFERENT),
        ("alike", [make_answer(400, SENTENCE)], FaultFreeResult.SAME),
        ("lost once", [LOST, make_answer(200)], FaultFreeResult.DIFFERENT),
        ("busy once", [make_answer(529, "busy"), make_answer(400, SENTENCE)], FaultFreeResult.SAME),
        ("lost twice", [LOST, LOST], FaultFreeResult.UNKNOWN),
        ("not allowed", [NOT_ALLOWED], FaultFreeResult.UNKNOWN),
    ]
    for case, answers, result in cases:
        with subtests.test(case=case):
            key, asked_endpoints = ask(answers, times=2)
            assert key.fault_free_answers[SUSPICION].result is result
            assert asked_endpoints == [MESSAGES] * len(answers)


def test_reason_for_not_sending_is_kept() -> None:
    key, _ = ask([NOT_ALLOWED])
    request = f"{MESSAGES} without a fault: cost-not-allowed: --allow billable"
    assert key.fault_free_answers[SUSPICION].detail == f"{request}; different faults got: {SENTENCE}"


def test_two_faults_need_no_fault_free_request() -> None:
    key, asked_endpoints = ask([], "ab")
    assert (key.fault_free_answers, asked_endpoints) == ({}, [])


TARGET = mock_target_at("http://127.0.0.1:1")
ALL_COSTS = frozenset(Cost)
FAULT_ADDRESSES = [
    str(record.address) for record in catalog().records if str(record.address).startswith("pa/errors/invalid_request/")
]


def test_fault_free_requests_are_counted_by_number_of_faults() -> None:
    probed = make_plan(catalog(), TARGET, ALL_COSTS, FAULT_ADDRESSES, FIRST_ENDPOINTS).probed
    requests = list_fault_free_requests(probed, catalog(), TARGET, ALL_COSTS)
    assert 0 < len(requests) <= sum(len(recipe.labels) for recipe in probed.values()) // MIN_FAULTS * MAX_REQUESTS
    assert {request.lane for request in requests} <= {recipe.lane for recipe in probed.values()}
    assert all(request.requests == 1 for request in requests)


def test_no_fault_free_request_if_not_allowed_or_few_faults() -> None:
    probed = make_plan(catalog(), TARGET, ALL_COSTS, FAULT_ADDRESSES, FIRST_ENDPOINTS).probed
    assert list_fault_free_requests(probed, catalog(), TARGET, frozenset()) == []
    single_label = {address: recipe for address, recipe in probed.items() if len(recipe.labels) == 1}
    assert list_fault_free_requests(dict(list(single_label.items())[:2]), catalog(), TARGET, ALL_COSTS) == []
