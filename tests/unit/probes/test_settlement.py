"""Refusals of different faults that are alike to the word: counted by fault, and worth what the twin says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.model import Aspect, Exchange, Finding, Outcome, Reason, Request, Response, Severity
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.recognition.known import Known
from catalog_probe.probes.judging.inconclusive.settlement import (
    FAULTS,
    Refusal,
    Ruled,
    Ruling,
    Said,
    Shared,
    pages,
    restricting,
    ruled,
    settled,
)
from catalog_probe.probes.judging.verdicts.record_verdict import record_verdict
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from collections.abc import Iterable

KNOWN = Known.of(catalog().select(provider="pa"))
EMPTY = "Your credit balance is too low to access the API."
MESSAGES = "pa/endpoints/messages/create_message"
COUNT = "pa/endpoints/messages/count_tokens"
SAID = Said("pa:inference", MESSAGES, 400, EMPTY)
PLACE = ("answer", "")
EXPECTED = Expected("answer", "pa/errors/general/x", envelope("pa"), 400)
TWIN = Expected("control", "pa", envelope("json"), 200)
ASKED = Request("POST", "https://provider.example/v1/messages")


def refusal(fault: str, said: Said = SAID) -> Refusal:
    return Refusal(PLACE, said, fault, page=False, provoked=False)


def suspicious(found: Iterable[Refusal]) -> set[Said]:
    shared = Shared()
    shared.add(found)
    return shared.suspicious


def body(message: str) -> dict[str, object]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": message}, "request_id": "req_1"}


def answer(status: int, message: str = "") -> Exchange:
    return Exchange("twin", ASKED, Response(status, {}, body(message) if status >= 400 else {"id": "msg_1"}, "json"))


def judged(outcome: Outcome = Outcome.CONFORMS, label: str = "answer") -> Verdict:
    finding = Finding("status-differs", Aspect.STATUS, Severity.MUST, "", label, observed=400)
    observation = Observation(MESSAGES, label, ("body",), {"status": "400"} if outcome is Outcome.DRIFTED else {})
    return Verdict(outcome, None, (finding,) if outcome is Outcome.DRIFTED else (), (observation,))


@pytest.mark.parametrize(
    "faults, alike",
    [
        (["a", "b"], False),
        (["a", "b", "b", "a", "a"], False),
        (["a", "b", ""], False),
        (["a", "b", "c"], True),
        (["a", "b", "c", "d", ""], True),
    ],
    ids=["two", "two, some of them twice", "two and none", "three", "four and none"],
)
def test_different_faults_are_counted(faults: list[str], alike: bool) -> None:
    assert suspicious(map(refusal, faults)) == ({SAID} if alike else set())


@pytest.mark.parametrize(
    "other",
    [
        replace(SAID, credential="pa:admin"),
        replace(SAID, endpoint=COUNT),
        replace(SAID, status=404),
        replace(SAID, message="another"),
    ],
    ids=["credential", "endpoint", "status", "message"],
)
def test_what_differs_in_anything_else_is_counted_apart(other: Said) -> None:
    assert not suspicious([refusal("a"), refusal("b"), refusal("c", other)])


WHERE = (SAID, replace(SAID, endpoint=COUNT))


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(WHERE))), st.data())
def test_no_order_and_no_repetition_changes_what_is_suspicious(
    made: list[tuple[str, Said]], data: st.DataObject
) -> None:
    found = [refusal(fault, said) for fault, said in made]
    assert suspicious(found) == suspicious(data.draw(st.permutations(found * 2)))
    assert all(len({each.fault for each in found if each.said == said}) >= FAULTS for said in suspicious(found))


@pytest.mark.parametrize(
    "twin, ruling",
    [
        (answer(200), Ruling.GENERIC),
        (answer(400, EMPTY), Ruling.EVERYTHING),
        (answer(400, "max_tokens: field required"), Ruling.GENERIC),
        (answer(403, EMPTY), Ruling.GENERIC),
        (answer(529, EMPTY), Ruling.UNKNOWN),
        (answer(500, EMPTY), Ruling.UNKNOWN),
        (answer(499, EMPTY), Ruling.GENERIC),
        (answer(429, "slow down"), Ruling.UNKNOWN),
        (answer(408, "too slow"), Ruling.UNKNOWN),
        (Exchange("twin", ASKED, None, Reason("connection-reset")), Ruling.UNKNOWN),
    ],
    ids=[
        "success",
        "alike",
        "other words",
        "another status",
        "overload",
        "server fault",
        "hardly any",
        "rate limit",
        "a timeout",
        "none",
    ],
)
def test_the_twin_rules(twin: Exchange, ruling: Ruling) -> None:
    assert ruled(SAID, twin, TWIN, KNOWN).ruling is ruling


def test_a_twin_without_an_answer_says_what_came_instead() -> None:
    where = "POST https://provider.example/v1/messages without a fault was not answered: "
    lost = Exchange("twin", ASKED, None, Reason("connection-reset"))
    assert ruled(SAID, lost, TWIN, KNOWN) == Ruled(Ruling.UNKNOWN, f"{where}connection-reset")
    assert ruled(SAID, replace(lost, failure=None), TWIN, KNOWN) == Ruled(Ruling.UNKNOWN, f"{where}nothing")


def test_ids_and_times_make_no_two_answers_of_one() -> None:
    said = replace(SAID, message="no credit since {time} (request {id})")
    twin = answer(400, "no credit since 2026-11-21T10:00:00Z (request req_011CSHoEeqs5C35K2UUqR7Fy)")
    assert ruled(said, twin, TWIN, KNOWN).ruling is Ruling.EVERYTHING


@pytest.mark.parametrize("outcome", [Outcome.CONFORMS, Outcome.DRIFTED])
@pytest.mark.parametrize(
    "ruling, reason", [(Ruling.EVERYTHING, "one-answer-to-everything"), (Ruling.UNKNOWN, "twin-not-allowed")]
)
def test_what_is_answered_to_everything_was_not_seen(outcome: Outcome, ruling: Ruling, reason: str) -> None:
    final = settled(record_verdict({PLACE: judged(outcome)}), [refusal("a")], {SAID: Ruled(ruling, "why")})
    assert (final.outcome, final.reason) == (Outcome.INCONCLUSIVE, Reason(reason, "why"))
    assert not any(finding.drifts for finding in final.findings)
    assert not any(observation.matched or observation.mismatched for observation in final.observations)


def test_a_generic_message_is_told_and_takes_nothing() -> None:
    before = record_verdict({PLACE: judged()})
    final = settled(before, [refusal("a")], {SAID: Ruled(Ruling.GENERIC, "why")})
    assert (final.outcome, final.observations) == (before.outcome, before.observations)
    (told,) = final.findings
    assert (told.code, told.severity, told.label, told.observed) == ("generic-message", Severity.INFO, "answer", EMPTY)
    drifted = record_verdict({PLACE: judged(Outcome.DRIFTED)})
    assert settled(drifted, [refusal("a")], {SAID: Ruled(Ruling.GENERIC, "why")}) == drifted


def test_what_was_shown_on_one_endpoint_holds_for_the_same_words_on_another() -> None:
    there = replace(SAID, endpoint=COUNT)
    final = settled(record_verdict({PLACE: judged()}), [refusal("a", there)], {SAID: Ruled(Ruling.EVERYTHING, "why")})
    assert final.outcome is Outcome.INCONCLUSIVE
    generic = settled(record_verdict({PLACE: judged()}), [refusal("a", there)], {SAID: Ruled(Ruling.GENERIC, "why")})
    assert (generic.outcome, generic.findings) == (Outcome.CONFORMS, ())


@pytest.mark.parametrize(
    ("outcome", "provoked", "expected"),
    [
        (Outcome.DRIFTED, True, Outcome.INCONCLUSIVE),
        (Outcome.DRIFTED, False, Outcome.DRIFTED),
        (Outcome.CONFORMS, True, Outcome.CONFORMS),
    ],
)
def test_what_is_in_doubt_on_one_endpoint_is_no_drift_on_another(
    outcome: Outcome, provoked: bool, expected: Outcome
) -> None:
    there = replace(refusal("", replace(SAID, endpoint="")), provoked=provoked)
    final = settled(record_verdict({PLACE: judged(outcome)}), [there], {SAID: Ruled(Ruling.UNKNOWN, "why")})
    assert final.outcome is expected
    assert final.reason == (Reason("twin-not-allowed", "why") if expected is Outcome.INCONCLUSIVE else None)
    elsewhere = replace(there, said=replace(there.said, message="another"))
    other = settled(record_verdict({PLACE: judged(outcome)}), [elsewhere], {SAID: Ruled(Ruling.UNKNOWN, "why")})
    assert other.outcome is outcome


@pytest.mark.parametrize("order", [1, -1])
def test_what_is_in_doubt_stays_so_though_elsewhere_it_was_only_generic(order: int) -> None:
    rulings = {SAID: Ruled(Ruling.UNKNOWN, "why"), replace(SAID, endpoint=COUNT): Ruled(Ruling.GENERIC, "several")}
    there = replace(refusal("", replace(SAID, endpoint="")), provoked=True)
    final = settled(record_verdict({PLACE: judged(Outcome.DRIFTED)}), [there], dict([*rulings.items()][::order]))
    assert final.reason == Reason("twin-not-allowed", "why")


def test_what_another_key_was_told_shows_nothing_of_this_one() -> None:
    of_another_key = replace(SAID, credential="pa:admin", endpoint=COUNT)
    before = record_verdict({PLACE: judged()})
    assert settled(before, [refusal("a", of_another_key)], {SAID: Ruled(Ruling.EVERYTHING, "why")}) == before


@pytest.mark.parametrize(
    ("came_from", "outcome"), [((MESSAGES,), Outcome.DRIFTED), ((MESSAGES, COUNT), Outcome.INCONCLUSIVE)]
)
def test_a_page_is_a_gateways_where_another_endpoint_got_one_too(came_from: tuple[str, ...], outcome: Outcome) -> None:
    before = record_verdict({PLACE: judged(Outcome.DRIFTED)})
    assert settled(before, [replace(refusal("a"), page=True)], {}, came_from).outcome is outcome


@pytest.mark.parametrize(
    ("fault", "words", "outcome", "expected"),
    [
        ("a", SAID.anywhere, Outcome.DRIFTED, Outcome.RESTRICTED),
        ("a", SAID.anywhere, Outcome.CONFORMS, Outcome.CONFORMS),
        ("", SAID.anywhere, Outcome.DRIFTED, Outcome.DRIFTED),
        ("a", replace(SAID, message="another").anywhere, Outcome.DRIFTED, Outcome.DRIFTED),
        ("a", replace(SAID, status=404).anywhere, Outcome.DRIFTED, Outcome.DRIFTED),
        ("a", replace(SAID, credential="pa:admin").anywhere, Outcome.DRIFTED, Outcome.DRIFTED),
    ],
    ids=["alike", "asked for", "another key", "other words", "another status", "of another key"],
)
def test_what_restricts_a_key_restricts_it_in_the_same_words_where_a_fault_was_provoked(
    fault: str, words: tuple[str, int, str], outcome: Outcome, expected: Outcome
) -> None:
    before = record_verdict({PLACE: judged(outcome)})
    after = settled(before, [replace(refusal(""), provoked=bool(fault))], {}, restricting={words})
    assert after.outcome is expected
    if expected is Outcome.RESTRICTED:
        assert after.reason == Reason(
            "probe-refused", f"the same 400 refused this key where a success is documented: {EMPTY}"
        )
        assert not any(observation.matched or observation.mismatched for observation in after.observations)
        assert not any(finding.drifts for finding in after.findings)
    else:
        assert after == before


def test_only_what_was_refused_as_the_documents_say_restricts_a_key() -> None:
    cells = {
        PLACE: Verdict(Outcome.RESTRICTED),
        ("drifted", ""): judged(Outcome.DRIFTED, "drifted"),
        ("unanswered", ""): Verdict(Outcome.RESTRICTED),
        ("without words", ""): Verdict(Outcome.RESTRICTED),
        ("as well", ""): Verdict(Outcome.RESTRICTED),
    }
    exchanges = {place: answer(403, place[0]) for place in cells}
    exchanges["unanswered", ""] = Exchange("unanswered", ASKED, None, Reason("connection-reset"))
    exchanges["without words", ""] = Exchange("without words", ASKED, Response(403, {}, None, "empty"))
    stated = [replace(EXPECTED, label=label) for label, _ in cells]
    found = list(restricting(stated, record_verdict(cells), exchanges, "pa:inference", KNOWN))
    assert found == [("pa:inference", 403, "answer"), ("pa:inference", 403, "as well")]


def test_pages_are_counted_by_the_endpoint_that_they_came_from() -> None:
    page = Response(502, {"content-type": "text/html"}, "<html><body>Bad Gateway</body></html>", "text")
    batches = Request("GET", "https://provider.example/v1/messages/batches")
    nowhere = Request("GET", "https://provider.example/elsewhere")
    came = [
        Exchange("answer", ASKED, page, endpoint=COUNT),
        Exchange("answer", batches, page),
        Exchange("answer", nowhere, page),
        Exchange("another", ASKED, page, endpoint="pa/endpoints/not/stated"),
        Exchange("answer", nowhere, None, Reason("connection-reset")),
        Exchange("answer", ASKED, answer(400, EMPTY).response, endpoint="pa/endpoints/no/page"),
    ]
    assert pages([EXPECTED], came, KNOWN) == {
        COUNT,
        "pa/endpoints/batches/list_batches",
        "GET https://provider.example/elsewhere",
    }


def test_other_cells_of_the_record_stand() -> None:
    cells = {PLACE: judged(), ("other", ""): judged(Outcome.DRIFTED, "other")}
    final = settled(record_verdict(cells), [refusal("a")], {SAID: Ruled(Ruling.EVERYTHING, "why")})
    assert final.outcome is Outcome.DRIFTED
    assert {finding.label for finding in final.findings if finding.drifts} == {"other"}


PLAIN = replace(refusal(""), drifts=True, plain=True, where=COUNT)
INSTEAD = tuple(replace(refusal(fault), drifts=True, where=MESSAGES, instead_of=(fault, 400)) for fault in "abc")
DOCUMENTED = refusal("c")
ALLOWED = replace(SAID, status=200)
TOLD_APART = tuple(
    replace(each, said=ALLOWED, where=where, instead_of=("", status))
    for each, where, status in zip(INSTEAD, (MESSAGES, COUNT, COUNT), (400, 401, 404), strict=True)
)


@pytest.mark.parametrize(
    ("found", "everything"),
    [
        ((PLAIN, *INSTEAD), True),
        (INSTEAD, False),
        ((PLAIN, *INSTEAD[:2]), False),
        ((PLAIN, *INSTEAD[:2], DOCUMENTED), True),
        ((PLAIN, *INSTEAD[:2], replace(DOCUMENTED, said=replace(SAID, message="another"))), False),
        ((PLAIN, *(replace(each, where=COUNT) for each in INSTEAD)), False),
        ((PLAIN, *(replace(each, drifts=False) for each in INSTEAD)), False),
        ((PLAIN, *(replace(each, said=replace(SAID, message="another")) for each in INSTEAD)), False),
    ],
    ids=[
        "on several endpoints",
        "no plain one",
        "too few",
        "one of them as documented",
        "one of them in other words",
        "on one endpoint",
        "as documented",
        "in other words",
    ],
)
def test_what_came_to_faults_and_to_a_request_without_one_came_to_everything(
    found: tuple[Refusal, ...], everything: bool
) -> None:
    shared = Shared()
    shared.add(found)
    assert [*shared.everything()] == ([SAID] if everything else [])


@pytest.mark.parametrize(
    ("found", "everything"),
    [
        (TOLD_APART, True),
        (TOLD_APART[:2], False),
        (tuple(replace(each, where=COUNT) for each in TOLD_APART), False),
        (tuple(replace(each, instead_of=("", 404)) for each in TOLD_APART), False),
        (tuple(replace(each, said=SAID) for each in TOLD_APART), False),
    ],
    ids=["in place of all", "too few", "on one endpoint", "in place of one status", "a refusal"],
)
def test_one_success_in_place_of_refusals_of_several_statuses_is_nobody_s(
    found: tuple[Refusal, ...], everything: bool
) -> None:
    """That nothing is refused any more which is not there (404, on three endpoints) is to be told."""
    shared = Shared()
    shared.add(found)
    assert [each.anywhere for each in shared.everything()] == ([ALLOWED.anywhere] if everything else [])


@pytest.mark.parametrize(
    ("found", "instead"), [((), False), (INSTEAD, True), ([replace(each, fault="") for each in INSTEAD], False)]
)
@pytest.mark.parametrize("outcome", [Outcome.DRIFTED, Outcome.CONFORMS])
def test_what_came_in_place_of_others_is_in_doubt_where_another_key_was_told_it(
    found: tuple[Refusal, ...], instead: bool, outcome: Outcome
) -> None:
    shared = Shared()
    shared.add(found)
    assert shared.is_instead(SAID) is instead
    ruling = Ruled(Ruling.UNKNOWN, "why", instead=instead)
    elsewhere = refusal("", replace(SAID, endpoint=COUNT))
    after = settled(record_verdict({PLACE: judged(outcome)}), [elsewhere], {SAID: ruling}).outcome
    assert after is (Outcome.INCONCLUSIVE if instead and outcome is Outcome.DRIFTED else outcome)


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        (replace(refusal("", replace(SAID, endpoint=COUNT)), plain=True, drifts=True), Outcome.INCONCLUSIVE),
        (refusal("", replace(SAID, endpoint=COUNT)), Outcome.DRIFTED),
    ],
    ids=["in place of a success", "of another key"],
)
def test_a_success_in_doubt_is_no_drift_nor_what_its_record_was_answered_with_in_the_same_words(
    refused: Refusal, expected: Outcome
) -> None:
    beside = replace(refused, place=("wrong_credential", ""), plain=False)
    before = record_verdict({PLACE: judged(Outcome.DRIFTED), beside.place: judged(Outcome.DRIFTED, "wrong_credential")})
    assert settled(before, [refused, beside], {SAID: Ruled(Ruling.UNKNOWN, "why")}).outcome is expected


BLAMED = Verdict(
    Outcome.INCONCLUSIVE, Reason("assumption-failed", "ours"), observations=(Observation(MESSAGES, "answer", ()),)
)


@pytest.mark.parametrize(
    ("ruling", "reason"),
    [
        (Ruling.UNKNOWN, "twin-not-allowed"),
        (Ruling.EVERYTHING, "one-answer-to-everything"),
        (Ruling.GENERIC, "assumption-failed"),
    ],
)
@pytest.mark.parametrize("endpoint", [MESSAGES, COUNT])
def test_words_that_other_faults_were_answered_with_do_not_blame_what_we_assumed(
    ruling: Ruling, reason: str, endpoint: str
) -> None:
    there = refusal("", replace(SAID, endpoint=endpoint))
    final = settled(record_verdict({PLACE: BLAMED}), [there], {SAID: Ruled(ruling, "why")})
    assert final.outcome is Outcome.INCONCLUSIVE
    assert final.reason is not None
    assert final.reason.code == reason


@given(
    st.dictionaries(st.tuples(st.sampled_from("abc"), st.just("")), st.sampled_from(Outcome), min_size=1),
    st.sampled_from(Ruling),
)
def test_settling_makes_no_record_greener(outcomes: dict[tuple[str, str], Outcome], ruling: Ruling) -> None:
    cells = {place: replace(judged(each, place[0]), outcome=each) for place, each in outcomes.items()}
    before = record_verdict(cells)
    refused = [replace(refusal(place[0]), place=place) for place, each in outcomes.items() if each.conclusive]
    after = settled(before, refused, {SAID: Ruled(ruling, "why")})
    if after.outcome is Outcome.CONFORMS:
        assert before.outcome is Outcome.CONFORMS
    seen_before = {key for observation in before.observations for key in (observation.label, *observation.matched)}
    assert {
        key for observation in after.observations for key in (observation.label, *observation.matched)
    } <= seen_before
