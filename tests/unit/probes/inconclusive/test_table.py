"""The table of inconclusive rules: explained codes, full descriptions, and independence of order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Outcome, Response
from catalog_probe.catalog.model.explanations import INCONCLUSIVE, NOT_PROBED, RESTRICTED
from catalog_probe.probes.judging.inconclusive.evidence import TargetFacts
from catalog_probe.probes.judging.inconclusive.table import (
    ANSWER_RULES,
    ATTEMPT_RULES,
    KEY_RULES,
    RULES,
    Rule,
    RuleScope,
    apply_rules,
)
from tests.unit.probes.inconclusive.evidence_making import (
    HTML_HEADERS,
    HTML_PAGE,
    AnsweredRecord,
    KeyProbes,
    error_body,
    load_expected,
    make_compared_evidence,
)
from tests.unit.probes.judging_one import HEADERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence
    from catalog_probe.probes.judging.verdict import Verdict

ASSUMED_REQUEST = {"ask/path": "not shown", "ask/trigger": "not shown", "ask/header:x": "not shown"}
EXPECTED = [
    load_expected("pa/errors/general/unknown_model"),
    load_expected("pa/errors/general/overloaded"),
    load_expected("pa/errors/general/rate_limit", assumed=ASSUMED_REQUEST),
    load_expected("pa/endpoints/models/list_models", "success", assumed=ASSUMED_REQUEST),
    load_expected("pa/endpoints/models/list_models", "success"),
    load_expected("pa/errors/stream/overloaded"),
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
    Response(404, HTML_HEADERS, HTML_PAGE, "text"),
    Response(500, {}, "oops", "text"),
    Response(500, HTML_HEADERS, HTML_PAGE, "text", ended="cut"),
    Response(503, HEADERS, error_body("overloaded_error"), "json"),
    Response(529, HEADERS, error_body("overloaded_error"), "json", ended="capped"),
]
MESSAGES, FILES = "pa/endpoints/messages/create_message", "pa/endpoints/files/list_files"
SAME_REFUSAL = Response(403, HEADERS, error_body("permission_error", "Not today."), "json")
FAULTS = ("unknown_model", "malformed_request", "unsupported_parameter", "key_malformed")
KEY_PROBES = [
    KeyProbes(fault_free={MESSAGES: SAME_REFUSAL}),
    KeyProbes(fault_free={MESSAGES: Response(200, HEADERS, {"id": "msg_1"}, "json")}),
    KeyProbes(),
    KeyProbes(TargetFacts(unconfirmed_values={"chat": "messages"})),
]
ANSWERED_RECORDS = [
    *(AnsweredRecord(load_expected(f"pa/errors/general/{name}"), SAME_REFUSAL, MESSAGES) for name in FAULTS),
    AnsweredRecord(load_expected("pa/errors/general/key_malformed"), SAME_REFUSAL, FILES),
    AnsweredRecord(load_expected(FILES, "success"), SAME_REFUSAL, FILES),
]


def test_rule_has_the_name_of_its_function_and_explained_codes() -> None:
    assert all(rule.find.__name__.startswith("find_") for rule in RULES)
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert {code for rule in RULES for code in rule.codes} <= {*INCONCLUSIVE, *RESTRICTED, *NOT_PROBED}


def test_each_rule_describes_itself(subtests: pytest.Subtests) -> None:
    for rule in RULES:
        with subtests.test(rule=rule):
            for words in (rule.prevents, rule.hides, rule.case):
                assert words.endswith(".")
                assert len(words.split()) > 3


def test_rules_are_sorted_by_scope() -> None:
    assert [rule.scope for rule in RULES] == sorted((rule.scope for rule in RULES), key=list(RuleScope).index)


def describe_verdict(verdict: Verdict) -> tuple[bool, bool]:
    """Return whether the verdict is retracted, and whether it may still drift."""
    return verdict.outcome in (Outcome.INCONCLUSIVE, Outcome.RESTRICTED), bool(verdict.drift_keys)


@given(st.sampled_from(EXPECTED), st.sampled_from(RESPONSES), st.booleans(), st.permutations(ANSWER_RULES))
def test_order_of_answer_rules_does_not_matter(
    expected: Expected, response: Response, live: bool, rules: Sequence[Rule]
) -> None:
    evidence = make_compared_evidence(expected, response, live=live)
    assert describe_verdict(apply_rules(evidence, RuleScope.ANSWER, rules)) == describe_verdict(
        apply_rules(evidence, RuleScope.ANSWER)
    )


@given(st.sampled_from(EXPECTED), st.sampled_from(RESPONSES), st.permutations(ATTEMPT_RULES))
def test_order_of_attempt_rules_does_not_matter(expected: Expected, response: Response, rules: Sequence[Rule]) -> None:
    evidence = make_compared_evidence(expected, response)
    if evidence.verdict.outcome is Outcome.DRIFTED:
        assert describe_verdict(apply_rules(evidence, RuleScope.ATTEMPT, rules)) == describe_verdict(
            apply_rules(evidence, RuleScope.ATTEMPT)
        )


def list_retractable_evidence(probes: KeyProbes) -> list[Evidence]:
    return [
        evidence for provisional in probes.answer(ANSWERED_RECORDS) for evidence in provisional.retractable.values()
    ]


@given(st.sampled_from(KEY_PROBES), st.permutations(KEY_RULES))
def test_order_of_key_rules_does_not_matter(probes: KeyProbes, rules: Sequence[Rule]) -> None:
    for evidence in list_retractable_evidence(probes):
        assert describe_verdict(apply_rules(evidence, RuleScope.KEY, rules)) == describe_verdict(
            apply_rules(evidence, RuleScope.KEY)
        )


@given(st.sampled_from(KEY_PROBES), st.permutations(ANSWERED_RECORDS))
def test_order_of_answers_does_not_matter(probes: KeyProbes, records: Sequence[AnsweredRecord]) -> None:
    expected = {
        id(record): verdict for record, verdict in zip(ANSWERED_RECORDS, probes.finish(ANSWERED_RECORDS), strict=True)
    }
    assert {id(record): verdict for record, verdict in zip(records, probes.finish(records), strict=True)} == expected


@given(st.sampled_from(KEY_PROBES))
def test_no_key_rule_makes_a_verdict_conform(probes: KeyProbes) -> None:
    for evidence in list_retractable_evidence(probes):
        after = apply_rules(evidence, RuleScope.KEY)
        assert after.outcome is not Outcome.CONFORMS or evidence.verdict.outcome is Outcome.CONFORMS


def test_verdict_retracted_in_an_earlier_scope_is_final() -> None:
    response = Response(503, HTML_HEADERS, HTML_PAGE, "text")
    records = [
        AnsweredRecord(load_expected("pa/errors/general/unknown_model"), response, address)
        for address in (MESSAGES, FILES)
    ]
    assert [
        (provisional.is_final, str(provisional.verdict.reason and provisional.verdict.reason.code))
        for provisional in KeyProbes().answer(records)
    ] == [(True, "gateway-page")] * 2
