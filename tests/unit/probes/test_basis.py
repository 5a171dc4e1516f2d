"""What differs from a documented assertion is drift; what differs from an assumption settles it; a choice conforms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.evidence.verdicts.blindness import find_blind_providers
from catalog_probe.catalog.model import Attempt, Exchange, Outcome, Reason, Record, Request, Response, Severity
from catalog_probe.catalog.observed.cells import statements_digest
from catalog_probe.catalog.reading.assertions import asserted_expectations, assertions
from catalog_probe.probes.judging.judge import judge
from tests.harness.engines import catalog
from tests.unit.probes.judging_one import (
    BODY,
    ENDPOINT,
    HEADERS,
    LIMITED,
    OF_THE_ID,
    RATE_LIMIT,
    SUCCEEDED,
    judged,
    known,
    seen,
)

if TYPE_CHECKING:
    from catalog_probe.probes.judging.verdicts.verdict import Verdict


def test_everything_as_stated_is_evidence_for_each_assertion_on_the_endpoint_that_was_asked() -> None:
    verdict = judged(RATE_LIMIT, LIMITED, {})
    assert verdict.outcome is Outcome.CONFORMS
    observation = seen(verdict)
    assert observation.endpoint == ENDPOINT
    headers = (f"header:{name}" for name in HEADERS)
    bound = "relation:at_most:header:retry-after"
    assert set(observation.matched) == {"status", "type", "body", *OF_THE_ID, *headers, bound}
    assert observation.mismatched == observation.not_observed == {}


WITHOUT = replace(LIMITED, headers={name: value for name, value in HEADERS.items() if name != "retry-after"})


def test_a_documented_difference_is_drift_and_the_rest_is_still_evidence() -> None:
    verdict = judged(RATE_LIMIT, WITHOUT, {})
    assert verdict.outcome is Outcome.DRIFTED
    assert [(each.severity, each.assertion) for each in verdict.findings] == [
        (Severity.MUST, "answer/header:retry-after")
    ]
    assert seen(verdict).mismatched == {"header:retry-after": "absent"}
    assert "header:request-id" in seen(verdict).matched


def test_the_same_difference_from_an_assumption_is_told_and_conforms() -> None:
    verdict = judged(RATE_LIMIT, WITHOUT, {"assumed": {"answer/header:retry-after": "not shown"}})
    assert verdict.outcome is Outcome.CONFORMS
    (finding,) = verdict.findings
    assert finding.severity is Severity.SHOULD
    assert ": assumed seconds, observed absent" in finding.message
    assert seen(verdict).mismatched == {"header:retry-after": "absent"}


ASSUMED_SUCCESS = {"success/status": "not shown"}
ASSUMED_STATUS = {"assumed": {"answer/status": "not shown"}}


@pytest.mark.parametrize("status, outcome", [(403, Outcome.CONFORMS), (200, Outcome.DRIFTED)])
def test_an_assumed_status_leaves_open_which_refusal_but_not_that_it_is_one(status: int, outcome: Outcome) -> None:
    assert judged(RATE_LIMIT, replace(LIMITED, status=status), ASSUMED_STATUS).outcome is outcome


def test_what_another_answer_holds_is_no_evidence_of_the_stated_one() -> None:
    observation = seen(judged(RATE_LIMIT, replace(LIMITED, status=403), ASSUMED_STATUS))
    assert observation.mismatched == {"status": "403"}
    assert observation.matched == ()
    assert set(observation.not_observed.values()) == {"another-answer"}


@pytest.mark.parametrize("status, settles", [(429, True), (403, False), (500, False)])
def test_under_a_status_that_drifts_nothing_that_is_assumed_is_settled(status: int, settles: bool) -> None:
    """An organization's policy, or an incident, has a type of its own: none of the answer that is stated."""
    other = Response(status, HEADERS, {**BODY, "error": {"type": "policy_violation", "message": "no"}}, "json")
    verdict = judged(RATE_LIMIT, other, {"assumed": {"answer/type": "not shown"}})
    assert ("answer/type" in {each.assertion for each in verdict.findings}) is settles
    assert ("type" in seen(verdict).mismatched) is settles


@pytest.mark.parametrize("status", [404, 429])
def test_a_text_in_place_of_json_settles_no_status(status: int) -> None:
    """What stands before a provider knows no such path, and says so in its own way."""
    verdict = judged(RATE_LIMIT, Response(status, HEADERS, "404 page not found", "text"), ASSUMED_STATUS)
    assert verdict.outcome is Outcome.DRIFTED
    assert {each.assertion for each in verdict.findings if each.severity is not Severity.INFO} == {"answer/body"}
    observation = seen(verdict)
    assert observation.not_observed["status"] == "another-answer"
    assert "status" not in (*observation.mismatched, *observation.matched)


@pytest.mark.parametrize("status, outcome", [(429, Outcome.CONFORMS), (503, Outcome.CONFORMS), (404, Outcome.DRIFTED)])
def test_each_documented_alternative_conforms_and_no_other_value(status: int, outcome: Outcome) -> None:
    choice = {"alternatives": {"answer/status": {"values": [429, 503], "source": "2:7.3#429 rate limit"}}}
    verdict = judged(RATE_LIMIT, replace(LIMITED, status=status), choice)
    assert verdict.outcome is outcome
    assert ("status" in seen(verdict).matched) is (outcome is Outcome.CONFORMS)


def test_without_an_answer_nothing_is_seen() -> None:
    verdict = judged(RATE_LIMIT, Response(503, {}, None, "empty"), {})
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert seen(verdict).matched == ()
    assert set(seen(verdict).not_observed.values()) == {"unasked-overload"}


def test_a_body_that_is_none_hides_what_would_stand_in_it() -> None:
    observation = seen(judged(RATE_LIMIT, replace(LIMITED, body="plain words", body_type="text"), {}))
    assert observation.mismatched == {"body": "malformed"}
    of_the_id = {"body:/request_id": "no-body", "relation:equals:/request_id": "nothing-there"}
    assert observation.not_observed == {
        "type": "no-body",
        **of_the_id,
        "relation:at_most:header:retry-after": "another-answer",
    }


def test_a_bound_that_no_document_states_is_no_drift() -> None:
    longer = replace(LIMITED, headers={**HEADERS, "retry-after": "63"})
    verdict = judged(RATE_LIMIT, longer, {})
    assert verdict.outcome is Outcome.CONFORMS
    assert seen(verdict).mismatched == {"relation:at_most:header:retry-after": "out-of-range"}


def test_failed_assumptions_are_outside_the_blind_share() -> None:
    seen_well = [Result(f"pa/errors/general/a{n}", {}, Outcome.CONFORMS) for n in range(4)]
    ours = [Result(f"pa/errors/general/b{n}", {}, Outcome.INCONCLUSIVE, Reason("assumption-failed")) for n in range(6)]
    theirs = [replace(each, reason=Reason("unasked-overload")) for each in ours]
    assert find_blind_providers([*seen_well, *ours], ["pa"]) == {}
    assert "pa" in find_blind_providers([*seen_well, *theirs], ["pa"])


def test_a_lane_without_a_control_is_blindness_however_few_its_records() -> None:
    seen_well = [Result(f"pa/errors/general/a{n}", {"surface": "pa"}, Outcome.CONFORMS, lane="l") for n in range(40)]
    dead = Result("pa/errors/grpc/b", {"surface": "pa_grpc"}, Outcome.INCONCLUSIVE, Reason("control-failed"), lane="l")
    assert "pa_grpc" in find_blind_providers([*seen_well, dead], ["pa"])["pa"]
    alive = replace(dead, record="pa/errors/grpc/c", outcome=Outcome.CONFORMS, reason=None)
    assert find_blind_providers([*seen_well, dead, alive], ["pa"]) == {}


def test_what_an_assumption_was_settled_to_be_is_no_news() -> None:
    shipped = catalog()[RATE_LIMIT]
    record = Record(shipped.address, {**shipped.data, **ASSUMED_STATUS})
    stated = assertions(record, catalog().__getitem__)
    evidence = {
        "statements": statements_digest(stated),
        "endpoints": {ENDPOINT: {"on": "2026-11-14"}},
        "resolved": {"answer/status": {"observed": "403", "on": "2026-11-14"}},
    }
    resolved = {**ASSUMED_STATUS, "evidence": evidence}
    quiet = judged(RATE_LIMIT, replace(LIMITED, status=403), resolved)
    (told,) = quiet.findings
    assert (quiet.outcome, told.severity) == (Outcome.CONFORMS, Severity.INFO)
    assert told.message == "status: assumed 429, observed 403, as it was resolved"
    assert seen(quiet).mismatched == {"status": "403"}, "else the next night would settle it anew"
    again = judged(RATE_LIMIT, replace(LIMITED, status=409), resolved)
    assert [each.severity for each in again.findings] == [Severity.SHOULD]


@pytest.mark.parametrize(
    "response, findings",
    [
        (Response(500, {}, {**BODY, "error": {"type": "api_error", "message": "x"}}, "json"), True),
        (Response(500, {}, {"message": "upstream connect error"}, "json"), False),
        (Response(500, {}, None, "empty"), False),
    ],
    ids=["own-envelope", "foreign-envelope", "bare"],
)
def test_a_server_fault_speaks_of_the_record_only_in_an_envelope_of_the_provider(
    response: Response, findings: bool
) -> None:
    verdict = judged(RATE_LIMIT, response, {})
    assert verdict.reason is not None
    assert (verdict.reason.code, bool(verdict.findings)) == ("server-fault", findings)


def deleted(*outcomes: Response) -> Verdict:
    """A delete and what is looked at after it, which means something only if something was deleted."""
    address = "pa/endpoints/compliance_chats/delete_chat"
    shipped = catalog()[address]
    record = Record(shipped.address, {**shipped.data, "depends": {"messages_gone": ["success"]}})
    labels = ("success", "messages_gone")
    expected = [each for each in asserted_expectations(record, catalog().__getitem__) if each.label in labels]
    exchanges = tuple(
        Exchange(each.label, Request("DELETE", "https://x/v1/compliance/apps/chats/c"), response)
        for each, response in zip(expected, outcomes, strict=True)
    )
    return judge(expected, Attempt("", 0.0, exchanges), known("pa"))


def test_what_was_never_deleted_need_not_be_gone() -> None:
    still_there = Response(200, HEADERS, {"data": []}, "json")
    refused = deleted(Response(503, {}, None, "empty"), still_there)
    assert refused.outcome is Outcome.INCONCLUSIVE
    assert not any(finding.is_drift for finding in refused.findings)
    assert deleted(Response(200, HEADERS, {}, "json"), still_there).outcome is Outcome.DRIFTED


RESPONSES = "pc/endpoints/responses/create_response"
TIER_REFUSED = {"error": {"message": "no", "type": "invalid_request_error", "code": None, "param": "service_tier"}}
UNKNOWN = {"error": {"message": "no", "type": "invalid_request_error", "code": "unknown_parameter", "param": "x"}}


def test_a_documented_refusal_in_place_of_a_success_conforms_and_shows_nothing_else_of_the_success() -> None:
    """2:7.5: any service tier may be one that the project is not allowed."""
    verdict = judged(RESPONSES, Response(400, {}, TIER_REFUSED, "json"), {}, "service_tier_flex")
    assert verdict.outcome is Outcome.CONFORMS
    observation = seen(verdict)
    assert observation.matched == ("status",)
    assert observation.mismatched == {}
    assert observation.not_observed["body"] == "another-answer"


@pytest.mark.parametrize(
    ("label", "body"), [("service_tier_flex", UNKNOWN), ("truncation_auto", TIER_REFUSED), ("success", TIER_REFUSED)]
)
def test_another_refusal_or_one_in_place_of_another_success_is_drift(label: str, body: dict[str, Any]) -> None:
    assert judged(RESPONSES, Response(400, {}, body, "json"), {}, label).outcome is Outcome.DRIFTED


def test_both_statuses_are_what_is_asserted() -> None:
    made = {str(each.key): each for each in assertions(catalog()[RESPONSES], catalog().__getitem__)}
    assert made["service_tier_flex/status"].alternatives == (200, 400)
    assert made["truncation_auto/status"].alternatives == ()


SPEND_CAP = "pa/errors/general/spend_cap"


@pytest.mark.parametrize(
    "details, outcome",
    [
        ({"error_code": "enforced_spend_limit_reached"}, Outcome.CONFORMS),
        ({}, Outcome.CONFORMS),
        ({"error_code": "renamed"}, Outcome.DRIFTED),
    ],
    ids=["there", "elsewhere", "another-value"],
)
def test_a_place_may_be_assumed_while_the_value_is_documented(details: dict[str, str], outcome: Outcome) -> None:
    """Else a provider that renames a documented value would only ever correct an assumption of ours."""
    headers = {name: value for name, value in HEADERS.items() if name != "retry-after"} | {"x-should-retry": "false"}
    body = {**BODY, "error": {**BODY["error"], "details": details}}
    assert judged(SPEND_CAP, Response(429, headers, body, "json"), {}).outcome is outcome


@pytest.mark.parametrize("twin_answers", [True, False])
def test_what_is_the_same_as_another_is_seen_only_beside_it(twin_answers: bool) -> None:
    record = catalog()["pa/errors/compliance/organization_settings_not_available"]
    expected = asserted_expectations(record, catalog().__getitem__)
    twin, other = (each for each in expected if each.label in (expected[0].label, expected[1].label))
    assert [each.of for each in other.relations if each.of] == [(twin.label,)]
    body = {"type": "error", "error": {"type": "not_found_error", "message": "x"}, "request_id": "req_1"}
    answer = Response(404, {**HEADERS, "x-should-retry": "false"}, body, "json")
    request = Request("GET", "https://x/v1/compliance/organizations/o/settings")
    exchanges = (
        Exchange(twin.label, request, answer if twin_answers else None, None if twin_answers else Reason("x")),
        Exchange(other.label, request, answer),
    )
    verdict = judge([twin, other], Attempt("", 0.0, exchanges), known("pa"))
    (observation,) = (each for each in verdict.observations if each.label == other.label)
    assert (f"relation:equals:{twin.label}" in observation.matched) is twin_answers
    assert (observation.not_observed == {f"relation:equals:{twin.label}": "no-twin"}) is not twin_answers


def test_another_success_than_the_assumed_one_shows_all_else_as_stated() -> None:
    shipped = catalog()[ENDPOINT].data["assumed"]
    verdict = judged(ENDPOINT, replace(SUCCEEDED, status=201), {"assumed": {**shipped, **ASSUMED_SUCCESS}}, "success")
    assert seen(verdict).mismatched == {"status": "201"}
    assert "header:request-id" in seen(verdict).matched
    documented = {key: why for key, why in shipped.items() if key != "success/status"}
    drifted = judged(ENDPOINT, replace(SUCCEEDED, status=201), {"assumed": documented}, "success")
    assert (drifted.outcome, seen(drifted).matched) == (Outcome.DRIFTED, ())


def test_a_member_whose_place_the_documents_do_not_show_may_be_missing() -> None:
    """2:7.1: the request id "appears in the body"; as which member is our reading, and no answer drifts for it."""
    elsewhere = {**BODY, "error": {**BODY["error"], "request_id": "req_1"}}
    del elsewhere["request_id"]
    verdict = judged(RATE_LIMIT, replace(LIMITED, body=elsewhere), {})
    assert verdict.outcome is Outcome.CONFORMS
    (told,) = (each for each in verdict.findings if each.severity is Severity.SHOULD)
    assert (told.assertion, told.message) == (
        "answer/body:/request_id",
        "body /request_id: assumed present, observed absent",
    )
    assert seen(verdict).not_observed == {"relation:equals:/request_id": "nothing-there"}


def test_what_stands_at_an_assumed_place_is_held_to_what_is_documented() -> None:
    """2:7.1: it is the request id that appears there, so another one than the header's is drift."""
    verdict = judged(RATE_LIMIT, replace(LIMITED, body={**BODY, "request_id": "req_2"}), {})
    assert verdict.outcome is Outcome.DRIFTED
    assert [each.assertion for each in verdict.findings if each.is_drift] == ["answer/relation:equals:/request_id"]


def test_a_shape_may_be_assumed_but_not_that_it_is_json() -> None:
    """1:1 says that these are HTTP/JSON interfaces."""
    assumed = {"assumed": {"answer/body": "not shown"}}
    other = judged(RATE_LIMIT, replace(LIMITED, body={"type": "rate_limit_error"}), assumed)
    assert "answer/body" not in {each.assertion for each in other.findings if each.is_drift}
    text = judged(RATE_LIMIT, replace(LIMITED, body="no", body_type="text"), assumed)
    assert "answer/body" in {each.assertion for each in text.findings if each.is_drift}
