"""A mismatch of a documented assertion is drift; a mismatch of an assumption resolves it; an alternative conforms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.run_verdict import find_blind_providers
from catalog_probe.catalog.model import Exchange, Outcome, Reason, Record, Request, Response, Severity
from catalog_probe.catalog.observed import record_digest
from catalog_probe.catalog.reading.assertions import assertions
from tests.harness.engines import catalog
from tests.harness.exit_status import LIVE
from tests.unit.probes.judging_one import (
    BODY,
    ENDPOINT,
    HEADERS,
    RATE_LIMIT,
    RATE_LIMITED,
    REQUEST_ID_KEYS,
    SUCCEEDED,
    get_observation,
    judge_answer,
    judge_exchanges,
    load_steps,
)

if TYPE_CHECKING:
    import pytest

    from catalog_probe.probes.judging.verdict import Verdict

OF_PA = replace(LIVE, expected=("pa",))


def test_documented_answer_matches_every_assertion() -> None:
    verdict = judge_answer(RATE_LIMIT, RATE_LIMITED, {})
    assert verdict.outcome is Outcome.CONFORMS
    observation = get_observation(verdict)
    assert observation.endpoint == ENDPOINT
    headers = (f"header:{name}" for name in HEADERS)
    bound = "relation:at_most:header:retry-after"
    assert set(observation.matched) == {"status", "type", "body", *REQUEST_ID_KEYS, *headers, bound}
    assert observation.mismatched == observation.not_observed == {}


WITHOUT_RETRY_AFTER = replace(
    RATE_LIMITED, headers={name: value for name, value in HEADERS.items() if name != "retry-after"}
)


def test_missing_header_is_drift_and_the_rest_matches() -> None:
    verdict = judge_answer(RATE_LIMIT, WITHOUT_RETRY_AFTER, {})
    assert verdict.outcome is Outcome.DRIFTED
    assert [(finding.severity, finding.assertion) for finding in verdict.findings] == [
        (Severity.MUST, "answer/header:retry-after")
    ]
    assert get_observation(verdict).mismatched == {"header:retry-after": "absent"}
    assert "header:request-id" in get_observation(verdict).matched


def test_missing_assumed_header_conforms_with_a_finding() -> None:
    verdict = judge_answer(RATE_LIMIT, WITHOUT_RETRY_AFTER, {"assumed": {"answer/header:retry-after": "not shown"}})
    assert verdict.outcome is Outcome.CONFORMS
    (finding,) = verdict.findings
    assert finding.severity is Severity.SHOULD
    assert ": assumed seconds, observed absent" in finding.message
    assert get_observation(verdict).mismatched == {"header:retry-after": "absent"}


ASSUMED_SUCCESS = {"success/status": "not shown"}
ASSUMED_STATUS = {"assumed": {"answer/status": "not shown"}}


def test_assumption_is_not_resolved_under_a_wrong_status(subtests: pytest.Subtests) -> None:
    """An organization's policy or an incident answers with a type of its own."""
    cases: list[tuple[int, bool]] = [(429, True), (403, False), (500, False)]
    for status, is_resolved in cases:
        with subtests.test(status=status):
            response = Response(
                status, HEADERS, {**BODY, "error": {"type": "policy_violation", "message": "no"}}, "json"
            )
            verdict = judge_answer(RATE_LIMIT, response, {"assumed": {"answer/type": "not shown"}})
            assert ("answer/type" in {finding.assertion for finding in verdict.findings}) is is_resolved
            assert ("type" in get_observation(verdict).mismatched) is is_resolved


def test_text_in_place_of_json_does_not_resolve_the_status(subtests: pytest.Subtests) -> None:
    """A gateway in front of the provider answers unknown paths in its own way."""
    for status in [404, 429]:
        with subtests.test(status=status):
            verdict = judge_answer(RATE_LIMIT, Response(status, HEADERS, "404 page not found", "text"), ASSUMED_STATUS)
            assert verdict.outcome is Outcome.DRIFTED
            assert {finding.assertion for finding in verdict.findings if finding.severity is not Severity.INFO} == {
                "answer/body"
            }
            observation = get_observation(verdict)
            assert observation.not_observed["status"] == "another-answer"
            assert "status" not in (*observation.mismatched, *observation.matched)


def test_only_documented_alternatives_conform(subtests: pytest.Subtests) -> None:
    cases: list[tuple[int, Outcome]] = [(429, Outcome.CONFORMS), (503, Outcome.CONFORMS), (404, Outcome.DRIFTED)]
    for status, outcome in cases:
        with subtests.test(status=status):
            choice = {"alternatives": {"answer/status": {"values": [429, 503], "source": "2:7.3#429 rate limit"}}}
            verdict = judge_answer(RATE_LIMIT, replace(RATE_LIMITED, status=status), choice)
            assert verdict.outcome is outcome
            assert ("status" in get_observation(verdict).matched) is (outcome is Outcome.CONFORMS)


def test_exceeded_assumed_bound_is_no_drift() -> None:
    longer = replace(RATE_LIMITED, headers={**HEADERS, "retry-after": "63"})
    verdict = judge_answer(RATE_LIMIT, longer, {})
    assert verdict.outcome is Outcome.CONFORMS
    assert get_observation(verdict).mismatched == {"relation:at_most:header:retry-after": "out-of-range"}


def test_failed_assumptions_do_not_make_a_run_blind() -> None:
    conforming = [Result(f"pa/errors/general/a{n}", {}, Outcome.CONFORMS) for n in range(4)]
    assumption_failed = [
        Result(f"pa/errors/general/b{n}", {}, Outcome.INCONCLUSIVE, Reason("assumption-failed")) for n in range(6)
    ]
    overloaded = [replace(result, reason=Reason("unasked-overload")) for result in assumption_failed]
    assert find_blind_providers(OF_PA, [*conforming, *assumption_failed]) == {}
    assert "pa" in find_blind_providers(OF_PA, [*conforming, *overloaded])


def test_failed_control_blinds_its_surface() -> None:
    conforming = [Result(f"pa/errors/general/a{n}", {"surface": "pa"}, Outcome.CONFORMS, lane="l") for n in range(40)]
    dead = Result("pa/errors/grpc/b", {"surface": "pa_grpc"}, Outcome.INCONCLUSIVE, Reason("control-failed"), lane="l")
    assert "pa_grpc" in find_blind_providers(OF_PA, [*conforming, dead])["pa"]
    alive = replace(dead, record="pa/errors/grpc/c", outcome=Outcome.CONFORMS, reason=None)
    assert find_blind_providers(OF_PA, [*conforming, dead, alive]) == {}


def test_resolved_assumption_is_only_info() -> None:
    shipped = catalog()[RATE_LIMIT]
    record = Record(shipped.address, {**shipped.data, **ASSUMED_STATUS})
    record_assertions = assertions(record, catalog().__getitem__)
    evidence = {
        "statements": record_digest(record_assertions),
        "endpoints": {ENDPOINT: {"on": "2026-11-14"}},
        "resolved": {"answer/status": {"observed": "403", "on": "2026-11-14"}},
    }
    resolved = {**ASSUMED_STATUS, "evidence": evidence}
    resolved_verdict = judge_answer(RATE_LIMIT, replace(RATE_LIMITED, status=403), resolved)
    (finding,) = resolved_verdict.findings
    assert (resolved_verdict.outcome, finding.severity) == (Outcome.CONFORMS, Severity.INFO)
    assert finding.message == "status: assumed 429, observed 403, as it was resolved"
    assert get_observation(resolved_verdict).mismatched == {"status": "403"}, "else the next night would settle it anew"
    new_verdict = judge_answer(RATE_LIMIT, replace(RATE_LIMITED, status=409), resolved)
    assert [finding.severity for finding in new_verdict.findings] == [Severity.SHOULD]


def test_server_fault_keeps_findings_only_in_the_providers_envelope(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Response, bool]] = [
        ("own-envelope", Response(500, {}, {**BODY, "error": {"type": "api_error", "message": "x"}}, "json"), True),
        ("foreign-envelope", Response(500, {}, {"message": "upstream connect error"}, "json"), False),
    ]
    for case, response, findings in cases:
        with subtests.test(case=case):
            verdict = judge_answer("pa/errors/general/overloaded", response, {})
            assert verdict.reason is not None
            assert (verdict.reason.code, bool(verdict.findings)) == ("server-fault", findings)


def judge_delete(*responses: Response) -> Verdict:
    """Judge a delete and the request after it, whose result depends on the delete."""
    steps = load_steps("pa/endpoints/compliance_chats/delete_chat", depends={"messages_gone": ["success"]})
    expected = [step for step in steps if step.label in ("success", "messages_gone")]
    exchanges = tuple(
        Exchange(expectation.label, Request("DELETE", "https://x/v1/compliance/apps/chats/c"), response)
        for expectation, response in zip(expected, responses, strict=True)
    )
    return judge_exchanges(expected, *exchanges)


def test_failed_delete_makes_later_step_inconclusive() -> None:
    still_there = Response(200, HEADERS, {"data": []}, "json")
    refused = judge_delete(Response(503, {}, None, "empty"), still_there)
    assert refused.outcome is Outcome.INCONCLUSIVE
    assert not any(finding.is_drift for finding in refused.findings)
    assert judge_delete(Response(200, HEADERS, {}, "json"), still_there).outcome is Outcome.DRIFTED


RESPONSES = "pc/endpoints/responses/create_response"
TIER_REFUSED = {"error": {"message": "no", "type": "invalid_request_error", "code": None, "param": "service_tier"}}
UNKNOWN_PARAMETER = {
    "error": {"message": "no", "type": "invalid_request_error", "code": "unknown_parameter", "param": "x"}
}


def test_documented_refusal_of_a_tier_conforms() -> None:
    """2:7.5: any service tier may be one that the project is not allowed."""
    verdict = judge_answer(RESPONSES, Response(400, {}, TIER_REFUSED, "json"), {}, "service_tier_flex")
    assert verdict.outcome is Outcome.CONFORMS
    observation = get_observation(verdict)
    assert observation.matched == ("status",)
    assert observation.mismatched == {}
    assert observation.not_observed["body"] == "another-answer"


def test_other_refusal_of_a_success_is_drift(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, dict[str, Any]]] = [
        ("service_tier_flex", UNKNOWN_PARAMETER),
        ("truncation_auto", TIER_REFUSED),
        ("success", TIER_REFUSED),
    ]
    for label, body in cases:
        with subtests.test(label=label):
            assert judge_answer(RESPONSES, Response(400, {}, body, "json"), {}, label).outcome is Outcome.DRIFTED


def test_status_alternatives_include_the_documented_refusal() -> None:
    assertion_by_key = {
        str(assertion.key): assertion for assertion in assertions(catalog()[RESPONSES], catalog().__getitem__)
    }
    assert assertion_by_key["service_tier_flex/status"].alternatives == (200, 400)
    assert assertion_by_key["truncation_auto/status"].alternatives == ()


SPEND_CAP = "pa/errors/general/spend_cap"


def test_value_at_an_assumed_location_is_documented(subtests: pytest.Subtests) -> None:
    """A renamed documented value must drift, and so must one that is gone; one elsewhere resolves our assumption."""
    cases: list[tuple[str, dict[str, Any], Outcome]] = [
        ("there", {"error_code": "enforced_spend_limit_reached"}, Outcome.CONFORMS),
        ("elsewhere", {"more": {"error_code": "enforced_spend_limit_reached"}}, Outcome.CONFORMS),
        ("in-a-sentence", {"hint": "This is enforced_spend_limit_reached."}, Outcome.CONFORMS),
        ("nowhere", {}, Outcome.DRIFTED),
        ("another-value", {"error_code": "renamed"}, Outcome.DRIFTED),
    ]
    for case, details, outcome in cases:
        with subtests.test(case=case):
            headers = {name: value for name, value in HEADERS.items() if name != "retry-after"} | {
                "x-should-retry": "false"
            }
            body = {**BODY, "error": {**BODY["error"], "details": details}}
            assert judge_answer(SPEND_CAP, Response(429, headers, body, "json"), {}).outcome is outcome


def test_equality_is_observed_only_with_both_answers(subtests: pytest.Subtests) -> None:
    for first_is_answered in [True, False]:
        with subtests.test(first_is_answered=first_is_answered):
            expected = load_steps("pa/errors/compliance/organization_settings_not_available")
            first, other = (
                expectation for expectation in expected if expectation.label in (expected[0].label, expected[1].label)
            )
            assert [expectation.of for expectation in other.relations if expectation.of] == [(first.label,)]
            body = {"type": "error", "error": {"type": "not_found_error", "message": "x"}, "request_id": "req_1"}
            answer = Response(404, {**HEADERS, "x-should-retry": "false"}, body, "json")
            request = Request("GET", "https://x/v1/compliance/organizations/o/settings")
            exchanges = (
                Exchange(
                    first.label,
                    request,
                    answer if first_is_answered else None,
                    None if first_is_answered else Reason("x"),
                ),
                Exchange(other.label, request, answer),
            )
            verdict = judge_exchanges([first, other], *exchanges)
            (observation,) = (expectation for expectation in verdict.observations if expectation.label == other.label)
            assert (f"relation:equals:{first.label}" in observation.matched) is first_is_answered
            assert (observation.not_observed == {f"relation:equals:{first.label}": "no-twin"}) is not first_is_answered


def test_other_success_status_than_assumed_is_still_compared() -> None:
    assumed = catalog()[ENDPOINT].data["assumed"]
    verdict = judge_answer(
        ENDPOINT, replace(SUCCEEDED, status=201), {"assumed": {**assumed, **ASSUMED_SUCCESS}}, "success"
    )
    assert get_observation(verdict).mismatched == {"status": "201"}
    assert "header:request-id" in get_observation(verdict).matched
    without_status = {key: reason for key, reason in assumed.items() if key != "success/status"}
    drifted = judge_answer(ENDPOINT, replace(SUCCEEDED, status=201), {"assumed": without_status}, "success")
    assert (drifted.outcome, get_observation(drifted).matched) == (Outcome.DRIFTED, ())


def test_missing_field_at_an_assumed_location_is_no_drift() -> None:
    """2:7.1: the request id "appears in the body"; as which member is our reading, and no answer drifts for it."""
    body = {**BODY, "error": {**BODY["error"], "request_id": "req_1"}}
    del body["request_id"]
    verdict = judge_answer(RATE_LIMIT, replace(RATE_LIMITED, body=body), {})
    assert verdict.outcome is Outcome.CONFORMS
    (finding,) = (finding for finding in verdict.findings if finding.severity is Severity.SHOULD)
    assert (finding.assertion, finding.message) == (
        "answer/body:/request_id",
        "body /request_id: assumed present, observed absent",
    )
    assert get_observation(verdict).not_observed == {"relation:equals:/request_id": "nothing-there"}


def test_wrong_value_at_an_assumed_location_is_drift() -> None:
    """2:7.1: it is the request id that appears there, so another one than the header's is drift."""
    verdict = judge_answer(RATE_LIMIT, replace(RATE_LIMITED, body={**BODY, "request_id": "req_2"}), {})
    assert verdict.outcome is Outcome.DRIFTED
    assert [finding.assertion for finding in verdict.findings if finding.is_drift] == [
        "answer/relation:equals:/request_id",
        "answer/relation:contains",
    ]


def test_request_id_that_is_nowhere_in_the_body_is_drift() -> None:
    """2:7.1: only its place is ours to assume."""
    body = {name: value for name, value in BODY.items() if name != "request_id"}
    verdict = judge_answer(RATE_LIMIT, replace(RATE_LIMITED, body=body), {})
    (drift,) = (finding for finding in verdict.findings if finding.is_drift)
    assert (drift.assertion, drift.observed) == ("answer/relation:contains", "absent")
    # Where the documents call the whole body bare, its members are assumed with its shape.
    bare = judge_answer(RATE_LIMIT, replace(RATE_LIMITED, body=body), {"assumed": {"answer/body": "bare"}})
    assert bare.outcome is Outcome.CONFORMS


def test_assumed_shape_must_still_be_json() -> None:
    """1:1 says that these are HTTP/JSON interfaces."""
    assumed = {"assumed": {"answer/body": "not shown"}}
    json_verdict = judge_answer(RATE_LIMIT, replace(RATE_LIMITED, body={"type": "rate_limit_error"}), assumed)
    assert "answer/body" not in {finding.assertion for finding in json_verdict.findings if finding.is_drift}
    text_verdict = judge_answer(RATE_LIMIT, replace(RATE_LIMITED, body="no", body_type="text"), assumed)
    assert "answer/body" in {finding.assertion for finding in text_verdict.findings if finding.is_drift}
