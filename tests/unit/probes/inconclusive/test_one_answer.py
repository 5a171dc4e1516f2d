"""One answer to every request: when it is suspected, and what the fault-free request shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.evidence.retention import WHOLE_BYTES, trim_exchange
from catalog_probe.catalog.model import Aspect, Exchange, Finding, Outcome, Reason, Request, Response, Severity
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.reading.expectations import Expected
from catalog_probe.probes.judging.control import expect_control
from catalog_probe.probes.judging.inconclusive.evidence import (
    EndpointAnswer,
    FaultFreeAnswer,
    FaultFreeResult,
    Fingerprint,
    KeyEvidence,
    Replacement,
)
from catalog_probe.probes.judging.inconclusive.one_answer import (
    MIN_FAULTS,
    add_answer,
    find_answer_to_everything,
    find_unclear_answer,
    judge_fault_free,
    list_suspicions,
    note_shared_message,
)
from catalog_probe.probes.judging.verdict import Verdict
from tests.unit.probes.inconclusive.evidence_making import REQUEST, error_body, make_evidence
from tests.unit.probes.judging_one import load_vocabulary

if TYPE_CHECKING:
    import pytest

    from catalog_probe.probes.judging.inconclusive.evidence import Evidence

SENTENCE = "Requests of this kind cannot be answered today."
MESSAGES, COUNT = "pa/endpoints/messages/create_message", "pa/endpoints/messages/count_tokens"
FINGERPRINT = Fingerprint(400, SENTENCE)
ON_MESSAGES, ON_COUNT = EndpointAnswer(MESSAGES, FINGERPRINT), EndpointAnswer(COUNT, FINGERPRINT)
NOT_FOUND = Expected("answer", "pa/errors/general/x", load_envelope("pa"), 404)
SUCCESS = Expected("answer", MESSAGES, load_envelope("pa_message"), 200)
STATUS = Finding("status-differs", Aspect.STATUS, Severity.MUST, "", "answer", observed=400)


def make_refusal(status: int = 400, message: str = SENTENCE) -> Response:
    return Response(status, {}, error_body("invalid_request_error", message), "json")


def make_verdict(outcome: Outcome, endpoint: str = MESSAGES, **fields: Any) -> Verdict:
    mismatched = {"status": "400"} if outcome in (Outcome.DRIFTED, Outcome.FLAKY) else {}
    findings = (STATUS,) if outcome is Outcome.DRIFTED else ()
    return Verdict(outcome, None, findings, (Observation(endpoint, "answer", (), mismatched),), **fields)


DRIFTED, CONFORMS, FLAKY = (make_verdict(outcome) for outcome in (Outcome.DRIFTED, Outcome.CONFORMS, Outcome.FLAKY))
ASSUMPTION_FAILED = replace(make_verdict(Outcome.INCONCLUSIVE), reason=Reason("assumption-failed", "ours"))
TRIGGER_UNKNOWN = replace(ASSUMPTION_FAILED, has_unknown_trigger=True)


def make_fault_evidence(verdict: Verdict = DRIFTED, response: Response | None = None, **fields: Any) -> Evidence:
    """Return the evidence of a provoked fault with the lane's own key."""
    provoked = {"vocabulary": load_vocabulary("pa"), "fault": "2:7.3#row", **fields}
    return make_evidence(provoked.pop("expected", NOT_FOUND), response or make_refusal(), verdict, **provoked)


def count_refusals(*evidences: Evidence) -> KeyEvidence:
    key = KeyEvidence()
    for evidence in evidences:
        add_answer(key, evidence)
    return key


def test_suspicion_needs_three_different_faults(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, bool]] = [("ab", False), ("abba", False), ("abc", True), ("abcdd", True)]
    for faults, suspicious in cases:
        with subtests.test(faults=faults):
            key = count_refusals(*(make_fault_evidence(fault=fault) for fault in faults))
            assert list_suspicions(key) == ([ON_MESSAGES] if suspicious else [])
            assert MIN_FAULTS == 3


def test_faults_are_counted_by_endpoint_and_answer(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Evidence]] = [
        ("endpoint", make_fault_evidence(make_verdict(Outcome.DRIFTED, COUNT), fault="c")),
        ("status", make_fault_evidence(response=make_refusal(403), fault="c")),
        ("message", make_fault_evidence(response=make_refusal(message="Another."), fault="c")),
        ("another key, whose request provokes no fault of the lane", make_fault_evidence(fault="", own_key=False)),
        ("our own guess", make_fault_evidence(ASSUMPTION_FAILED, fault="c")),
    ]
    for case, evidence in cases:
        with subtests.test(case=case):
            assert (
                list_suspicions(
                    count_refusals(make_fault_evidence(fault="a"), make_fault_evidence(fault="b"), evidence)
                )
                == []
            )


def test_fault_free_request_is_needed_until_its_result_is_known() -> None:
    evidences = [
        make_fault_evidence(make_verdict(Outcome.CONFORMS, endpoint), fault=fault)
        for endpoint in (MESSAGES, COUNT)
        for fault in "abc"
    ]
    key = count_refusals(*evidences)
    assert list_suspicions(key) == [ON_COUNT, ON_MESSAGES]
    key.fault_free_answers[ON_COUNT] = FaultFreeAnswer(FaultFreeResult.UNKNOWN, "lost")
    assert list_suspicions(key) == [ON_MESSAGES]
    key.fault_free_answers[ON_COUNT] = FaultFreeAnswer(FaultFreeResult.SAME, "alike")
    assert list_suspicions(key) == []


MESSAGE = {"model": "mock-small", "stop_reason": "end_turn", "usage": {"input_tokens": 4, "output_tokens": 1}}
PORTAL = Response(200, {}, {"error": "captcha_required"}, "json")
ACCEPTED = Response(200, {}, MESSAGE, "json")


def test_answer_is_counted(subtests: pytest.Subtests) -> None:
    success: dict[str, Any] = {"expected": SUCCESS, "fault": ""}
    cases: list[tuple[str, Evidence, bool, bool]] = [
        ("a drift", make_fault_evidence(), True, True),
        ("as documented", make_fault_evidence(CONFORMS), True, False),
        ("flaky, and differs at last", make_fault_evidence(FLAKY), True, True),
        ("of an assumed trigger", make_fault_evidence(TRIGGER_UNKNOWN), True, True),
        ("of a guess", make_fault_evidence(ASSUMPTION_FAILED), False, False),
        ("another key", make_fault_evidence(own_key=False, fault=""), False, True),
        ("in place of a success", make_fault_evidence(**success), False, True),
        ("a guess in place of a success", make_fault_evidence(ASSUMPTION_FAILED, **success), False, True),
        ("another key in place of a success", make_fault_evidence(own_key=False, **success), False, False),
        ("on no endpoint", make_fault_evidence(make_verdict(Outcome.DRIFTED, "")), False, True),
        ("a success in its place", make_fault_evidence(response=PORTAL), False, True),
        ("a success as documented", make_fault_evidence(CONFORMS, PORTAL), False, False),
        ("a redirection", make_fault_evidence(response=Response(300, {}, {}, "json")), False, False),
        ("a stream", make_fault_evidence(response=Response(200, {}, None, events=())), False, False),
        ("a text", make_fault_evidence(response=Response(200, {}, "Welcome.", "text")), False, True),
        ("no verdict", make_fault_evidence(make_verdict(Outcome.INCONCLUSIVE)), False, False),
    ]
    for case, evidence, is_fault_counted, replaces in cases:
        with subtests.test(case=case):
            key = count_refusals(evidence)
            assert (bool(key.faults_by_answer), bool(key.replacements)) == (is_fault_counted, replaces)


def test_replacement_has_the_endpoint_of_its_path() -> None:
    models_request = Request("GET", "https://provider.example/v1/models")
    other_request = Request("GET", "https://provider.example/")
    without_endpoint = make_verdict(Outcome.DRIFTED, "")
    endpoints = [
        replacement.endpoint
        for evidence in (
            make_fault_evidence(),
            make_fault_evidence(request=models_request),
            make_fault_evidence(without_endpoint, request=other_request),
        )
        for replacement in count_refusals(evidence).replacements[FINGERPRINT]
    ]
    assert endpoints == [MESSAGES, "pa/endpoints/models/list_models", "GET https://provider.example/"]
    assert count_refusals(make_fault_evidence()).replacements[FINGERPRINT] == {Replacement(404, MESSAGES)}


def test_message_of_a_trimmed_answer_is_read_from_kept_values() -> None:
    """The beginnings of all large answers are alike, so they cannot be the fingerprint."""
    fingerprints: list[Fingerprint] = []
    for message in ("No such chat.", SENTENCE):
        body = {"padding": "x" * 3 * WHOLE_BYTES, **error_body("invalid_request_error", message)}
        trimmed = trim_exchange(Exchange("answer", REQUEST, Response(400, {}, body, "json")), NOT_FOUND).response
        assert trimmed is not None
        fingerprints += count_refusals(make_fault_evidence(response=trimmed)).replacements
    assert [fingerprint.message for fingerprint in fingerprints] == ["No such chat.", SENTENCE]


def judge_fault_free_answer(response: Response | None, suspicion: EndpointAnswer = ON_MESSAGES) -> FaultFreeAnswer:
    exchange = Exchange("twin", REQUEST, response, None if response else Reason("connection-reset"))
    return judge_fault_free(suspicion, exchange, expect_control("pa"), load_vocabulary("pa"))


def test_fault_free_result(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Response | None, FaultFreeResult]] = [
        ("success", ACCEPTED, FaultFreeResult.DIFFERENT),
        ("alike", make_refusal(), FaultFreeResult.SAME),
        ("other words", make_refusal(message="max_tokens: field required"), FaultFreeResult.DIFFERENT),
        ("another status", make_refusal(403), FaultFreeResult.DIFFERENT),
        ("499", make_refusal(499), FaultFreeResult.DIFFERENT),
        ("fault", make_refusal(500), FaultFreeResult.UNKNOWN),
        ("overload", make_refusal(529), FaultFreeResult.UNKNOWN),
        ("limit", make_refusal(429, "slow down"), FaultFreeResult.UNKNOWN),
        ("timeout", make_refusal(408, "too slow"), FaultFreeResult.UNKNOWN),
        ("none", None, FaultFreeResult.UNKNOWN),
    ]
    for case, response, result in cases:
        with subtests.test(case=case):
            assert judge_fault_free_answer(response).result is result


def test_fault_free_answer_quotes_the_answer() -> None:
    request = f"POST {REQUEST.url} without a fault"
    assert judge_fault_free_answer(None).detail == f"{request} was not answered: connection-reset"
    assert judge_fault_free_answer(make_refusal()).detail == f"{request} was answered alike: 400: {SENTENCE}"
    wordless = EndpointAnswer(MESSAGES, Fingerprint(403, ""))
    assert (
        judge_fault_free_answer(Response(403, {}, None, "empty"), wordless).detail
        == f"{request} was answered alike: 403: no words"
    )


def test_ids_and_times_are_ignored_in_comparing_answers() -> None:
    suspicion = EndpointAnswer(MESSAGES, Fingerprint(400, "no credit since {time} (request {id})"))
    message = "no credit since 2026-11-21T10:00:00Z (request req_011CSHoEeqs5C35K2UUqR7Fy)"
    assert judge_fault_free_answer(make_refusal(message=message), suspicion).result is FaultFreeResult.SAME


def test_answer_to_everything_applies_to_all_endpoints(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Verdict]] = [
        ("drift", DRIFTED),
        ("match", CONFORMS),
        ("flaky", FLAKY),
        ("guess", ASSUMPTION_FAILED),
    ]
    for case, verdict in cases:
        with subtests.test(case=case):
            key = KeyEvidence(fault_free_answers={ON_COUNT: FaultFreeAnswer(FaultFreeResult.SAME, "why")})
            assert find_answer_to_everything(make_fault_evidence(verdict, key=key)) == Reason(
                "one-answer-to-everything", "why"
            )
            another = make_fault_evidence(response=make_refusal(message="Another."), key=key)
            assert find_answer_to_everything(another) is None
            generic = KeyEvidence(fault_free_answers={ON_COUNT: FaultFreeAnswer(FaultFreeResult.DIFFERENT, "several")})
            assert find_answer_to_everything(make_fault_evidence(verdict, key=generic)) is None


PORTAL_FINGERPRINT = Fingerprint(200, '{"error": "captcha_required"}')
THREE_REFUSALS = {Replacement(400, MESSAGES), Replacement(401, COUNT), Replacement(404, COUNT)}
REFUSALS_AND_SUCCESS = {*THREE_REFUSALS, Replacement(200, COUNT)}


def on_one_endpoint(replacements: set[Replacement]) -> set[Replacement]:
    return {replacement._replace(endpoint=COUNT) for replacement in replacements}


def test_replacing_refusals_and_a_success_proves_one_answer_to_everything(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, set[Replacement], bool]] = [
        ("on two endpoints", REFUSALS_AND_SUCCESS, True),
        ("no success is refused", THREE_REFUSALS, False),
        ("two statuses of refusals", REFUSALS_AND_SUCCESS - {Replacement(404, COUNT)}, False),
        ("one endpoint was removed", on_one_endpoint(REFUSALS_AND_SUCCESS), False),
    ]
    for case, replacements, is_proven in cases:
        with subtests.test(case=case):
            reason = find_answer_to_everything(
                make_fault_evidence(key=KeyEvidence(replacements={FINGERPRINT: replacements}))
            )
            proof = f"{COUNT} without a fault was answered alike: 400: {SENTENCE}"
            assert reason == (Reason("one-answer-to-everything", proof) if is_proven else None)


def test_one_success_in_place_of_refusals_proves_one_answer_to_everything(subtests: pytest.Subtests) -> None:
    """A 404 that becomes a success on three endpoints is a drift to report."""
    cases: list[tuple[str, set[Replacement], bool]] = [
        ("of three statuses", THREE_REFUSALS, True),
        ("of two statuses", THREE_REFUSALS - {Replacement(404, COUNT)}, False),
        ("of two statuses and a success", REFUSALS_AND_SUCCESS - {Replacement(404, COUNT)}, False),
        ("of one endpoint", on_one_endpoint(THREE_REFUSALS), False),
        ("of one status", {replacement._replace(status=404) for replacement in THREE_REFUSALS}, False),
    ]
    for case, replacements, is_proven in cases:
        with subtests.test(case=case):
            key = KeyEvidence(replacements={PORTAL_FINGERPRINT: replacements})
            reason = find_answer_to_everything(make_fault_evidence(response=PORTAL, key=key))
            proof = 'each request that should be refused (400, 401, 404) was answered alike: 200: {"error": '
            assert (reason.detail.startswith(proof) if reason is not None else False) is is_proven


UNKNOWN_ANSWERS = {ON_MESSAGES: FaultFreeAnswer(FaultFreeResult.UNKNOWN, "why")}
DRIFTED_ON_COUNT = make_verdict(Outcome.DRIFTED, COUNT)
WITH_ANOTHER_KEY: dict[str, Any] = {"own_key": False, "fault": ""}


def test_unclear_answer_is_no_drift(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Evidence, bool]] = [
        ("on that endpoint", make_fault_evidence(), True),
        ("as documented there", make_fault_evidence(CONFORMS), True),
        ("on another endpoint", make_fault_evidence(DRIFTED_ON_COUNT), True),
        (
            "a guess",
            make_fault_evidence(replace(ASSUMPTION_FAILED, observations=DRIFTED_ON_COUNT.observations)),
            True,
        ),
        ("as documented elsewhere", make_fault_evidence(make_verdict(Outcome.CONFORMS, COUNT)), False),
        ("other words", make_fault_evidence(DRIFTED_ON_COUNT, make_refusal(message="Another.")), False),
        ("another key", make_fault_evidence(DRIFTED_ON_COUNT, **WITH_ANOTHER_KEY), True),
    ]
    for case, evidence, is_unclear in cases:
        with subtests.test(case=case):
            reason = find_unclear_answer(replace(evidence, key=KeyEvidence(fault_free_answers=UNKNOWN_ANSWERS)))
            assert reason == (Reason("twin-not-allowed", "why") if is_unclear else None)


def test_unclear_answer_stays_unclear_if_generic_elsewhere() -> None:
    generic = FaultFreeAnswer(FaultFreeResult.DIFFERENT, "several")
    on_models = make_fault_evidence(make_verdict(Outcome.DRIFTED, "pa/endpoints/models/list_models"))
    for answers in ({**UNKNOWN_ANSWERS, ON_COUNT: generic}, {ON_COUNT: generic, **UNKNOWN_ANSWERS}):
        key = KeyEvidence(fault_free_answers=answers)
        assert find_unclear_answer(replace(on_models, key=key)) == Reason("twin-not-allowed", "why")
        assert find_unclear_answer(make_fault_evidence(DRIFTED_ON_COUNT, key=key)) is None


def test_generic_message_is_noted_on_its_endpoint() -> None:
    key = KeyEvidence(fault_free_answers={ON_MESSAGES: FaultFreeAnswer(FaultFreeResult.DIFFERENT, "why")})
    assert note_shared_message(make_fault_evidence(make_verdict(Outcome.CONFORMS, COUNT), key=key)) is None
    finding = note_shared_message(make_fault_evidence(CONFORMS, key=key))
    assert finding is not None
    assert (finding.code, finding.severity, finding.label, finding.message, finding.observed) == (
        "generic-message",
        Severity.INFO,
        "answer",
        "why",
        SENTENCE,
    )
