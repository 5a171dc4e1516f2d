"""Refusals as settlement counts them: what was answered, to which fault, and what is left out of the count."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.evidence.retention import WHOLE, kept_exchange
from catalog_probe.catalog.model import Exchange, Outcome, Reason, Response
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.probes.judging.inconclusive.settlement import Refusal, refusals
from catalog_probe.probes.judging.verdicts.record_verdict import record_verdict
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from tests.unit.probes.test_settlement import (
    ASKED,
    BLAMED,
    COUNT,
    EMPTY,
    EXPECTED,
    KNOWN,
    MESSAGES,
    PLACE,
    SAID,
    answer,
    body,
    judged,
)

PROMISED = replace(EXPECTED, message_pattern="(?i)credit balance")


def found(expected: Expected, exchange: Exchange, outcome: Outcome = Outcome.CONFORMS) -> tuple[Refusal, ...]:
    verdict = (
        record_verdict({PLACE: judged(outcome)}) if outcome.conclusive else record_verdict({PLACE: Verdict(outcome)})
    )
    return tuple(refusals([expected], verdict, {PLACE: exchange}, "pa:inference", {"answer": "2:7.3#row"}, KNOWN))


def test_a_refusal_is_known_by_what_was_answered() -> None:
    assert found(EXPECTED, answer(400, EMPTY)) == (Refusal(PLACE, SAID, "2:7.3#row", page=False, provoked=True),)


@pytest.mark.parametrize(("otherwise", "counted"), [({"body": "absent"}, 1), ({}, 0)], ids=["it drifts", "it conforms"])
def test_of_attempts_that_differ_the_last_is_a_refusal_where_it_drifts(otherwise: dict[str, str], counted: int) -> None:
    flaky = Verdict(Outcome.FLAKY, observations=(Observation(MESSAGES, "answer", mismatched=otherwise),))
    cells = record_verdict({PLACE: flaky})
    said = tuple(refusals([EXPECTED], cells, {PLACE: answer(400, EMPTY)}, "pa:inference", {}, KNOWN))
    assert [(each.said, each.drifts) for each in said] == [(SAID, True)] * counted


def test_a_refusal_of_what_has_no_fault_or_no_endpoint_is_of_no_fault() -> None:
    nowhere = replace(judged(), observations=(Observation("", "answer", ("body",)),))
    others = {("other", ""): judged(label="other"), ("answer", COUNT): nowhere}
    stated = [EXPECTED, replace(EXPECTED, label="other")]
    exchanges = dict.fromkeys(others, answer(400, EMPTY))
    said = tuple(refusals(stated, record_verdict(others), exchanges, "pa:inference", {"answer": "2:7.3#row"}, KNOWN))
    assert [(each.place, each.said.endpoint, each.fault, each.provoked) for each in said] == [
        (("other", ""), MESSAGES, "", False),
        (("answer", COUNT), "", "", True),
    ]


def test_what_is_left_out_hides_no_other_refusal() -> None:
    cells = {(label, ""): judged(label=label) for label in ("lost", "fine", "unseen", "answer")}
    cells["unseen", ""] = Verdict(Outcome.CONFORMS)
    exchanges = {("fine", ""): answer(200), ("unseen", ""): answer(400, EMPTY), PLACE: answer(400, EMPTY)}
    stated = [replace(EXPECTED, label=label) for label, _ in cells]
    said = refusals(stated, record_verdict(cells), exchanges, "pa:inference", {}, KNOWN)
    assert [each.place for each in said] == [PLACE]


SUCCESS = Expected("success", MESSAGES, envelope("pa_message"), 200)

PORTAL = {"error": "captcha_required", "url": "https://portal.example"}

LET_THROUGH = {"model": "mock-small", "stop_reason": "end_turn", "usage": {"input_tokens": 4, "output_tokens": 1}}


def answered_200(content: object) -> Exchange:
    return Exchange("answer", ASKED, Response(200, {}, content, "json"))


@pytest.mark.parametrize(
    ("content", "success", "fault"),
    [(PORTAL, SUCCESS, "row"), (LET_THROUGH, SUCCESS, ""), (PORTAL, None, "")],
    ids=["no success of the endpoint", "a success of it", "nothing is documented of one"],
)
def test_what_is_no_success_of_its_endpoint_counts_as_a_refusal(
    content: object, success: Expected | None, fault: str
) -> None:
    (said,) = refusals(
        [EXPECTED],
        record_verdict({PLACE: judged(Outcome.DRIFTED)}),
        {PLACE: answered_200(content)},
        "pa:inference",
        {"answer": "row"},
        KNOWN,
        success=lambda endpoint: success if endpoint == MESSAGES else None,
    )
    assert (said.said.status, said.fault, said.provoked, said.plain) == (200, fault, True, False)


def test_what_came_in_place_of_a_success_is_known_from_what_another_key_or_a_fault_was_told() -> None:
    labels = {"plain": 200, "answer": 400, "with another key": 200}
    cells = {(label, ""): judged(Outcome.DRIFTED, label) for label in labels}
    said = refusals(
        [replace(EXPECTED, label=label, status=status) for label, status in labels.items()],
        record_verdict(cells),
        {place: answer(403, EMPTY) for place in cells},
        "pa:inference",
        {"answer": "row"},
        KNOWN,
        with_another_key={"with another key"},
    )
    assert [(each.place[0], each.plain, each.fault, each.where) for each in said] == [
        ("plain", True, "", MESSAGES),
        ("answer", False, "row", MESSAGES),
        ("with another key", False, "", MESSAGES),
    ]


def test_an_endpoint_of_which_nothing_but_a_refusal_is_documented_is_asked_with_a_fault() -> None:
    removed = replace(EXPECTED, label="success")
    cells = {("success", ""): judged(Outcome.DRIFTED, "success")}
    (said,) = refusals(
        [removed], record_verdict(cells), {("success", ""): answer(403, EMPTY)}, "pa:inference", {}, KNOWN
    )
    assert (said.provoked, said.plain) == (True, False)


LEFT_OUT = [
    (EXPECTED, answer(200), Outcome.CONFORMS),
    (PROMISED, answer(400, EMPTY), Outcome.CONFORMS),
    (EXPECTED, answer(400, EMPTY), Outcome.INCONCLUSIVE),
    (EXPECTED, Exchange("answer", ASKED, None, Reason("connection-reset")), Outcome.CONFORMS),
]


@pytest.mark.parametrize("case", LEFT_OUT, ids=["a success", "promised words", "no verdict", "no answer"])
def test_what_is_no_refusal_or_tells_by_itself_is_left_out(case: tuple[Expected, Exchange, Outcome]) -> None:
    assert found(*case) == ()


def test_words_that_blame_what_we_assumed_are_known_and_count_for_no_fault() -> None:
    exchanges = {PLACE: answer(400, EMPTY)}
    said = tuple(
        refusals([EXPECTED], record_verdict({PLACE: BLAMED}), exchanges, "pa:inference", {"answer": "row"}, KNOWN)
    )
    assert said == (Refusal(PLACE, SAID, "", page=False, provoked=True),)


def test_words_that_the_record_promises_otherwise_are_counted() -> None:
    assert found(PROMISED, answer(400, "another"), Outcome.DRIFTED)


def test_the_message_of_a_large_answer_is_read_from_what_is_kept_of_it() -> None:
    """Else all large answers of an endpoint would be alike: their beginnings are."""

    def kept(message: str) -> Exchange:
        large = {"padding": "x" * 3 * WHOLE, **body(message)}
        return kept_exchange(Exchange("answer", ASKED, Response(400, {}, large, "json")), EXPECTED)

    said = [refusal.said.message for each in ("No such chat.", EMPTY) for refusal in found(EXPECTED, kept(each))]
    assert said == ["No such chat.", EMPTY]
