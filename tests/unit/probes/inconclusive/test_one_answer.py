"""One answer to everything: what counts as one, when a request without a fault is sent, and what its answer shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.evidence.retention import WHOLE_BYTES, trim_exchange
from catalog_probe.catalog.model import Aspect, Exchange, Finding, Outcome, Reason, Request, Response, Severity
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.probes.judging.control import expect_control
from catalog_probe.probes.judging.inconclusive.key_evidence import (
    EndpointAnswer,
    FaultFreeAnswer,
    FaultFreeResult,
    Fingerprint,
    KeyEvidence,
    Replacement,
)
from catalog_probe.probes.judging.inconclusive.one_answer import (
    MIN_FAULTS,
    add_refusal,
    describe_generic_message,
    find_answer_to_everything,
    find_unclear_answer,
    is_generic,
    judge_fault_free,
    list_suspicions,
)
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from tests.unit.probes.inconclusive.evidence_making import REQUEST, error_body, evidence
from tests.unit.probes.judging_one import known

if TYPE_CHECKING:
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence

SENTENCE = "Requests of this kind cannot be answered today."
MESSAGES, COUNT = "pa/endpoints/messages/create_message", "pa/endpoints/messages/count_tokens"
WORDS = Fingerprint(400, SENTENCE)
HERE, THERE = EndpointAnswer(MESSAGES, WORDS), EndpointAnswer(COUNT, WORDS)
REFUSED = Expected("answer", "pa/errors/general/x", envelope("pa"), 404)
SUCCESS = Expected("answer", MESSAGES, envelope("pa_message"), 200)
STATUS = Finding("status-differs", Aspect.STATUS, Severity.MUST, "", "answer", observed=400)


def refusal(status: int = 400, message: str = SENTENCE) -> Response:
    return Response(status, {}, error_body("invalid_request_error", message), "json")


def judged(outcome: Outcome, endpoint: str = MESSAGES, **more: Any) -> Verdict:
    differs = {"status": "400"} if outcome in (Outcome.DRIFTED, Outcome.FLAKY) else {}
    findings = (STATUS,) if outcome is Outcome.DRIFTED else ()
    return Verdict(outcome, None, findings, (Observation(endpoint, "answer", (), differs),), **more)


DRIFTED, CONFORMS, FLAKY = (judged(each) for each in (Outcome.DRIFTED, Outcome.CONFORMS, Outcome.FLAKY))
BLAMED = replace(judged(Outcome.INCONCLUSIVE), reason=Reason("assumption-failed", "ours"))
UNTRIGGERED = replace(BLAMED, has_unknown_trigger=True)


def answered(verdict: Verdict = DRIFTED, response: Response | None = None, **more: Any) -> Evidence:
    """A fault that was provoked with the lane's key, and answered so."""
    provoked = {"of": known("pa"), "fault": "2:7.3#row", "provokes_refusal": True, **more}
    return evidence(provoked.pop("expected", REFUSED), response or refusal(), verdict, **provoked)


def counted(*observations: Evidence) -> KeyEvidence:
    key = KeyEvidence()
    for each in observations:
        add_refusal(key, each)
    return key


@pytest.mark.parametrize(
    ("faults", "suspicious"),
    [("ab", False), ("abba", False), ("abc", True), ("abcdd", True)],
)
def test_different_faults_are_counted(faults: str, suspicious: bool) -> None:
    key = counted(*(answered(fault=fault) for fault in faults))
    assert list_suspicions(key) == ([HERE] if suspicious else [])
    assert MIN_FAULTS == 3


@pytest.mark.parametrize(
    "other",
    [
        answered(judged(Outcome.DRIFTED, COUNT), fault="c"),
        answered(response=refusal(403), fault="c"),
        answered(response=refusal(message="Another."), fault="c"),
        answered(fault="c", own_key=False),
        answered(BLAMED, fault="c"),
    ],
    ids=["endpoint", "status", "message", "another key", "our own guess"],
)
def test_what_differs_in_anything_else_is_counted_apart(other: Evidence) -> None:
    assert list_suspicions(counted(answered(fault="a"), answered(fault="b"), other)) == []


def test_what_an_answer_shows_is_asked_for_once_and_not_where_it_is_known() -> None:
    both = [
        answered(judged(Outcome.CONFORMS, endpoint), fault=fault) for endpoint in (MESSAGES, COUNT) for fault in "abc"
    ]
    key = counted(*both)
    assert list_suspicions(key) == [THERE, HERE]
    key.fault_free_answers[THERE] = FaultFreeAnswer(FaultFreeResult.UNKNOWN, "lost")
    assert list_suspicions(key) == [HERE]
    key.fault_free_answers[THERE] = FaultFreeAnswer(FaultFreeResult.SAME, "alike")
    assert list_suspicions(key) == []


LET_THROUGH = {"model": "mock-small", "stop_reason": "end_turn", "usage": {"input_tokens": 4, "output_tokens": 1}}
PORTAL = Response(200, {}, {"error": "captcha_required"}, "json")
THROUGH = Response(200, {}, LET_THROUGH, "json")


@pytest.mark.parametrize(
    ("seen", "faults", "replaced", "plain"),
    [
        (answered(), True, True, False),
        (answered(CONFORMS), True, False, False),
        (answered(FLAKY), True, True, False),
        (answered(UNTRIGGERED), True, True, False),
        (answered(BLAMED), False, False, False),
        (answered(own_key=False, fault="", provokes_refusal=False), False, True, False),
        (answered(expected=SUCCESS, fault="", provokes_refusal=False), False, True, True),
        (answered(BLAMED, expected=SUCCESS, fault="", provokes_refusal=False), False, False, True),
        (answered(judged(Outcome.DRIFTED, "")), False, True, False),
        (answered(response=PORTAL, success=SUCCESS), True, True, False),
        (answered(response=THROUGH, success=SUCCESS), False, True, False),
        (answered(response=PORTAL), False, True, False),
        (answered(CONFORMS, PORTAL), False, False, False),
        (answered(response=Response(300, {}, {}, "json")), False, False, False),
        (answered(response=Response(200, {}, None, events=())), False, False, False),
        (answered(response=Response(200, {}, "Welcome.", "text")), False, False, False),
        (answered(Verdict(Outcome.DRIFTED)), False, False, False),
        (answered(judged(Outcome.INCONCLUSIVE)), False, False, False),
    ],
    ids=[
        "a drift",
        "as documented",
        "flaky, and differs at last",
        "of an assumed trigger",
        "of a guess",
        "another key",
        "in place of a success",
        "a guess in place of a success",
        "on no endpoint",
        "a portal's success",
        "let through",
        "a success that nothing documents",
        "a success as documented",
        "a redirection",
        "a stream",
        "a text",
        "no observation",
        "no verdict",
    ],
)
def test_what_is_counted(seen: Evidence, faults: bool, replaced: bool, plain: bool) -> None:
    key = counted(seen)
    assert (bool(key.faults_by_answer), bool(key.replacements), bool(key.unprovoked_endpoints)) == (
        faults,
        replaced,
        plain,
    )


def test_an_answer_replaced_what_was_stated_where_its_path_is() -> None:
    of_models = Request("GET", "https://provider.example/v1/models")
    nowhere = Request("GET", "https://provider.example/")
    on_no_endpoint = judged(Outcome.DRIFTED, "")
    where = [
        each.endpoint
        for seen in (answered(), answered(request=of_models), answered(on_no_endpoint, request=nowhere))
        for each in counted(seen).replacements[WORDS]
    ]
    assert where == [MESSAGES, "pa/endpoints/models/list_models", "GET https://provider.example/"]
    assert counted(answered()).replacements[WORDS] == {Replacement("2:7.3#row", 404, MESSAGES)}


def test_the_message_of_a_large_answer_is_read_from_what_is_kept_of_it() -> None:
    """Else all large answers of an endpoint would be alike: their beginnings are."""
    words: list[Fingerprint] = []
    for message in ("No such chat.", SENTENCE):
        large = {"padding": "x" * 3 * WHOLE_BYTES, **error_body("invalid_request_error", message)}
        kept = trim_exchange(Exchange("answer", REQUEST, Response(400, {}, large, "json")), REFUSED).response
        assert kept is not None
        words += counted(answered(response=kept)).replacements
    assert [each.message for each in words] == ["No such chat.", SENTENCE]


def fault_free(response: Response | None, on: EndpointAnswer = HERE) -> FaultFreeAnswer:
    exchange = Exchange("twin", REQUEST, response, None if response else Reason("connection-reset"))
    return judge_fault_free(on, exchange, expect_control("pa"), known("pa"))


@pytest.mark.parametrize(
    ("response", "shows"),
    [
        (THROUGH, FaultFreeResult.DIFFERENT),
        (refusal(), FaultFreeResult.SAME),
        (refusal(message="max_tokens: field required"), FaultFreeResult.DIFFERENT),
        (refusal(403), FaultFreeResult.DIFFERENT),
        (refusal(499), FaultFreeResult.DIFFERENT),
        (refusal(500), FaultFreeResult.UNKNOWN),
        (refusal(529), FaultFreeResult.UNKNOWN),
        (refusal(429, "slow down"), FaultFreeResult.UNKNOWN),
        (refusal(408, "too slow"), FaultFreeResult.UNKNOWN),
        (None, FaultFreeResult.UNKNOWN),
    ],
    ids=["success", "alike", "other words", "another status", "499", "fault", "overload", "limit", "timeout", "none"],
)
def test_what_a_fault_free_request_shows(response: Response | None, shows: FaultFreeResult) -> None:
    assert fault_free(response).result is shows


def test_a_fault_free_answer_says_what_came() -> None:
    where = f"POST {REQUEST.url} without a fault"
    assert fault_free(None).detail == f"{where} was not answered: connection-reset"
    assert fault_free(refusal()).detail == f"{where} was answered alike: 400: {SENTENCE}"
    wordless = EndpointAnswer(MESSAGES, Fingerprint(403, ""))
    assert fault_free(Response(403, {}, None, "empty"), wordless).detail == f"{where} was answered alike: 403: no words"


def test_ids_and_times_make_no_two_answers_of_one() -> None:
    on = EndpointAnswer(MESSAGES, Fingerprint(400, "no credit since {time} (request {id})"))
    said = "no credit since 2026-11-21T10:00:00Z (request req_011CSHoEeqs5C35K2UUqR7Fy)"
    assert fault_free(refusal(message=said), on).result is FaultFreeResult.SAME


def shown(key: KeyEvidence, seen: Evidence) -> bool:
    return find_answer_to_everything(replace(seen, key=key)) is not None


@pytest.mark.parametrize("verdict", [DRIFTED, CONFORMS, FLAKY, BLAMED], ids=["drift", "match", "flaky", "guess"])
def test_what_was_shown_on_one_endpoint_holds_for_the_same_words_on_every_other(verdict: Verdict) -> None:
    key = KeyEvidence(fault_free_answers={THERE: FaultFreeAnswer(FaultFreeResult.SAME, "why")})
    assert find_answer_to_everything(answered(verdict, key=key)) == Reason("one-answer-to-everything", "why")
    assert not shown(key, answered(response=refusal(message="Another.")))
    generic = KeyEvidence(fault_free_answers={THERE: FaultFreeAnswer(FaultFreeResult.DIFFERENT, "several")})
    assert not shown(generic, answered(verdict))


FAULTY = {Replacement(fault, 404, MESSAGES) for fault in "abc"}
ON_BOTH = {Replacement("a", 404, MESSAGES), Replacement("b", 404, COUNT), Replacement("", 200, COUNT)}
ALLOWED = Fingerprint(200, '{"error": "captcha_required"}')
TOLD_APART = {Replacement("", status, endpoint) for status, endpoint in ((400, MESSAGES), (401, COUNT), (404, COUNT))}


@pytest.mark.parametrize(
    ("key", "everything"),
    [
        (KeyEvidence(replacements={WORDS: FAULTY | ON_BOTH}, unprovoked_endpoints={WORDS: {COUNT}}), True),
        (KeyEvidence(replacements={WORDS: FAULTY | ON_BOTH}), False),
        (KeyEvidence(replacements={WORDS: ON_BOTH}, unprovoked_endpoints={WORDS: {COUNT}}), False),
        (
            KeyEvidence(
                replacements={WORDS: ON_BOTH}, unprovoked_endpoints={WORDS: {COUNT}}, faults_by_answer={HERE: {"c"}}
            ),
            True,
        ),
        (KeyEvidence(replacements={WORDS: FAULTY}, unprovoked_endpoints={WORDS: {MESSAGES}}), False),
    ],
    ids=["on several endpoints", "no plain one", "too few", "one of them as documented", "on one endpoint"],
)
def test_what_came_to_faults_and_to_a_request_without_one_came_to_everything(
    key: KeyEvidence, everything: bool
) -> None:
    assert shown(key, answered()) is everything


@pytest.mark.parametrize(
    ("replaced", "everything"),
    [
        (TOLD_APART, True),
        (set(sorted(TOLD_APART)[:2]), False),
        ({each._replace(endpoint=COUNT) for each in TOLD_APART}, False),
        ({each._replace(status=404) for each in TOLD_APART}, False),
    ],
    ids=["in place of all", "too few", "on one endpoint", "in place of one status"],
)
def test_one_success_in_place_of_refusals_of_several_statuses_is_nobody_s(
    replaced: set[Replacement], everything: bool
) -> None:
    """That nothing is refused any more which is not there (404, on three endpoints) is to be told."""
    assert shown(KeyEvidence(replacements={ALLOWED: replaced}), answered(response=PORTAL)) is everything
    assert not shown(KeyEvidence(replacements={WORDS: replaced}), answered())


IN_DOUBT = {HERE: FaultFreeAnswer(FaultFreeResult.UNKNOWN, "why")}
ELSEWHERE = judged(Outcome.DRIFTED, COUNT)
WITH_ANOTHER_KEY: dict[str, Any] = {"own_key": False, "fault": "", "provokes_refusal": False}


@pytest.mark.parametrize(
    ("key", "seen", "doubted"),
    [
        ({}, answered(), True),
        ({}, answered(CONFORMS), True),
        ({}, answered(ELSEWHERE), True),
        ({}, answered(replace(BLAMED, observations=ELSEWHERE.observations)), True),
        ({}, answered(judged(Outcome.CONFORMS, COUNT)), False),
        ({}, answered(ELSEWHERE, refusal(message="Another.")), False),
        ({}, answered(ELSEWHERE, **WITH_ANOTHER_KEY), False),
        ({"replacements": {WORDS: {Replacement("a", 404, MESSAGES)}}}, answered(ELSEWHERE, **WITH_ANOTHER_KEY), True),
        ({"replacements": {WORDS: {Replacement("", 404, MESSAGES)}}}, answered(ELSEWHERE, **WITH_ANOTHER_KEY), False),
        ({"unprovoked_endpoints": {WORDS: {MESSAGES}}}, answered(ELSEWHERE, **WITH_ANOTHER_KEY), True),
    ],
    ids=[
        "on that endpoint",
        "as documented there",
        "on another endpoint",
        "a guess",
        "as documented elsewhere",
        "other words",
        "another key",
        "another key, where they replaced others",
        "another key alone",
        "another key, where they replaced a success",
    ],
)
def test_words_in_doubt_are_no_drift(key: dict[str, Any], seen: Evidence, doubted: bool) -> None:
    reason = find_unclear_answer(replace(seen, key=KeyEvidence(fault_free_answers=IN_DOUBT, **key)))
    assert reason == (Reason("twin-not-allowed", "why") if doubted else None)


def test_what_is_in_doubt_stays_so_though_elsewhere_it_was_only_generic() -> None:
    generic = FaultFreeAnswer(FaultFreeResult.DIFFERENT, "several")
    on_a_third = answered(judged(Outcome.DRIFTED, "pa/endpoints/models/list_models"))
    for both in ({**IN_DOUBT, THERE: generic}, {THERE: generic, **IN_DOUBT}):
        key = KeyEvidence(fault_free_answers=both)
        assert find_unclear_answer(replace(on_a_third, key=key)) == Reason("twin-not-allowed", "why")
        assert find_unclear_answer(answered(ELSEWHERE, key=key)) is None


def test_a_generic_message_is_told_on_its_endpoint() -> None:
    key = KeyEvidence(fault_free_answers={HERE: FaultFreeAnswer(FaultFreeResult.DIFFERENT, "why")})
    seen = answered(CONFORMS, key=key)
    assert is_generic(seen)
    assert not is_generic(answered(judged(Outcome.CONFORMS, COUNT), key=key))
    told = describe_generic_message(seen)
    assert (told.code, told.severity, told.label, told.message, told.observed) == (
        "generic-message",
        Severity.INFO,
        "answer",
        "why",
        SENTENCE,
    )
