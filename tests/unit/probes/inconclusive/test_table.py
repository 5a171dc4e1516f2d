"""The table itself: closed reason codes, words in every row, and what the order of its rows decides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Outcome, Response
from catalog_probe.catalog.model.explanations import INCONCLUSIVE, NOT_PROBED, RESTRICTED
from catalog_probe.probes.judging.inconclusive.applying import apply_rules
from catalog_probe.probes.judging.inconclusive.key_evidence import TargetFacts
from catalog_probe.probes.judging.inconclusive.rule import Rule, RuleScope
from catalog_probe.probes.judging.inconclusive.table import ANSWER_RULES, ATTEMPT_RULES, KEY_RULES, RULES
from tests.unit.probes.inconclusive.evidence_making import (
    HTML,
    PAGE,
    AnsweredRecord,
    Night,
    compared,
    error_body,
    stated,
)
from tests.unit.probes.judging_one import HEADERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

GUESSED = {"ask/path": "not shown", "ask/trigger": "not shown", "ask/header:x": "not shown"}
EXPECTED = [
    stated("pa/errors/general/unknown_model"),
    stated("pa/errors/general/overloaded"),
    stated("pa/errors/general/rate_limit", assumed=GUESSED),
    stated("pa/endpoints/models/list_models", "success", assumed=GUESSED),
    stated("pa/endpoints/models/list_models", "success"),
    stated("pa/errors/stream/overloaded"),
]
RESPONSES = [
    Response(200, HEADERS, {"data": []}, "json"),
    Response(200, {}, None, "empty"),
    Response(302, {}),
    Response(400, HEADERS, error_body("invalid_request_error", "Your credit balance is too low."), "json"),
    Response(402, HEADERS, error_body("billing_error"), "json"),
    Response(403, {"content-type": "text/plain"}, "error code: 1020", "text"),
    Response(403, HEADERS, error_body("permission_error"), "json"),
    Response(404, HEADERS, error_body("not_found_error"), "json"),
    Response(404, HTML, PAGE, "text"),
    Response(500, {}, "oops", "text"),
    Response(500, HTML, PAGE, "text", ended="cut"),
    Response(503, HEADERS, error_body("overloaded_error"), "json"),
    Response(529, HEADERS, error_body("overloaded_error"), "json", ended="capped"),
]
MESSAGES, FILES = "pa/endpoints/messages/create_message", "pa/endpoints/files/list_files"
ALIKE = Response(403, HEADERS, error_body("permission_error", "Not today."), "json")
FAULTS = ("unknown_model", "malformed_request", "unsupported_parameter", "key_malformed")
NIGHTS = [
    Night(fault_free={MESSAGES: ALIKE}),
    Night(fault_free={MESSAGES: Response(200, HEADERS, {"id": "msg_1"}, "json")}),
    Night(),
    Night(TargetFacts(unconfirmed_values={"chat": "messages"})),
]
ANSWERED = [
    *(AnsweredRecord(stated(f"pa/errors/general/{name}"), ALIKE, MESSAGES) for name in FAULTS),
    AnsweredRecord(stated("pa/errors/general/key_malformed"), ALIKE, FILES),
    AnsweredRecord(stated(FILES, "success"), ALIKE, FILES),
]


def test_names_are_unique_and_codes_are_explained() -> None:
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert {code for rule in RULES for code in rule.codes} <= {*INCONCLUSIVE, *RESTRICTED, *NOT_PROBED}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_each_row_says_what_it_prevents_what_it_hides_and_why_it_is_there(rule: Rule) -> None:
    for words in (rule.prevents, rule.hides, rule.case):
        assert words.endswith(".")
        assert len(words.split()) > 3


def test_scopes_stand_in_the_order_in_which_they_are_asked() -> None:
    assert [rule.scope for rule in RULES] == sorted((rule.scope for rule in RULES), key=list(RuleScope).index)


def left(verdict: Verdict) -> tuple[bool, bool]:
    """Whether anything stands, and whether it may drift yet."""
    return verdict.outcome in (Outcome.INCONCLUSIVE, Outcome.RESTRICTED), bool(verdict.drift_keys)


@given(st.sampled_from(EXPECTED), st.sampled_from(RESPONSES), st.booleans(), st.permutations(ANSWER_RULES))
def test_no_order_of_rows_takes_more_back_from_one_answer(
    expected: Expected, response: Response, live: bool, rules: Sequence[Rule]
) -> None:
    evidence = compared(expected, response, live=live)
    assert left(apply_rules(evidence, RuleScope.ANSWER, rules)) == left(apply_rules(evidence, RuleScope.ANSWER))


@given(st.sampled_from(EXPECTED), st.sampled_from(RESPONSES), st.permutations(ATTEMPT_RULES))
def test_no_order_of_rows_takes_more_back_of_an_attempt(
    expected: Expected, response: Response, rules: Sequence[Rule]
) -> None:
    evidence = compared(expected, response)
    if evidence.verdict.outcome is Outcome.DRIFTED:
        assert left(apply_rules(evidence, RuleScope.ATTEMPT, rules)) == left(apply_rules(evidence, RuleScope.ATTEMPT))


def pending(night: Night) -> list[Evidence]:
    return [evidence for each in night.answer(ANSWERED) for evidence in each.retractable.values()]


@given(st.sampled_from(NIGHTS), st.permutations(KEY_RULES))
def test_no_order_of_rows_takes_more_back_of_a_key_s_answers(night: Night, rules: Sequence[Rule]) -> None:
    for evidence in pending(night):
        assert left(apply_rules(evidence, RuleScope.KEY, rules)) == left(apply_rules(evidence, RuleScope.KEY))


@given(st.sampled_from(NIGHTS), st.permutations(ANSWERED))
def test_no_order_of_answers_changes_a_verdict(night: Night, records: Sequence[AnsweredRecord]) -> None:
    expected = {id(record): verdict for record, verdict in zip(ANSWERED, night.settle(ANSWERED), strict=True)}
    assert {id(record): verdict for record, verdict in zip(records, night.settle(records), strict=True)} == expected


@given(st.sampled_from(NIGHTS))
def test_no_rule_makes_a_verdict_greener(night: Night) -> None:
    for evidence in pending(night):
        after = apply_rules(evidence, RuleScope.KEY)
        assert after.outcome is not Outcome.CONFORMS or evidence.verdict.outcome is Outcome.CONFORMS


def test_what_an_earlier_scope_took_back_is_not_asked_again() -> None:
    page = Response(503, HTML, PAGE, "text")
    records = [AnsweredRecord(stated("pa/errors/general/unknown_model"), page, each) for each in (MESSAGES, FILES)]
    assert [
        (each.is_pending, str(each.verdict.reason and each.verdict.reason.code)) for each in Night().answer(records)
    ] == [(False, "gateway-page")] * 2
