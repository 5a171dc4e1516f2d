"""What differs from a documented assertion is drift; what differs from an assumption settles it; a choice conforms."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from catalog.evidence.blindness import blind_providers
from catalog.evidence.results import Result
from catalog.model import Attempt, Exchange, Outcome, Reason, Record, Request, Response, Severity
from catalog.reading.assertions import asserted, assertions
from catalog.reading.cells import statements_digest
from catalog.recognition.known import Known
from probes.judging.judge import judge
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from catalog.model.look import Look
    from probes.judging.verdict import Verdict

RATE_LIMIT = "pa/errors/general/rate_limit"
ENDPOINT = "pa/endpoints/messages/create_message"
ASKED = "https://provider.example/v1/messages"


@cache
def known(provider: str) -> Known:
    return Known.of(catalog().select(provider=provider))


HEADERS = {
    "request-id": "req_1",
    "pa-organization-id": "org",
    "pa-workspace-id": "wrkspc_1",
    "x-should-retry": "true",
    "retry-after": "7",
}
BODY: dict[str, Any] = {
    "type": "error",
    "error": {"type": "rate_limit_error", "message": "slow"},
    "request_id": "req_1",
}
LIMITED = Response(429, HEADERS, BODY, "json")
OF_THE_ID = ("body:/request_id", "relation:equals:/request_id")
"""What PA's envelope says besides its shape: that the id is in the body, where we assume it, and is the header's."""


def judged(
    address: str, response: Response, fields: dict[str, Any], label: str = "answer", request: Request | None = None
) -> Verdict:
    """The verdict on one label of a record to which some fields were added."""
    shipped = catalog()[address]
    record = Record(shipped.address, {**shipped.data, **fields})
    expected = [each for each in asserted(record, catalog().__getitem__) if each.label == label]
    exchange = Exchange(label, request or Request("POST", ASKED), response)
    return judge(expected, Attempt("", 0.0, (exchange,)), known(address.partition("/")[0]))


def seen(verdict: Verdict) -> Look:
    (look,) = verdict.looks
    return look


def test_everything_as_stated_is_evidence_for_each_assertion_on_the_endpoint_that_was_asked() -> None:
    verdict = judged(RATE_LIMIT, LIMITED, {})
    assert verdict.outcome is Outcome.CONFORMS
    look = seen(verdict)
    assert look.endpoint == ENDPOINT
    headers = (f"header:{name}" for name in HEADERS)
    bound = "relation:at_most:header:retry-after"
    assert set(look.as_stated) == {"status", "type", "body", *OF_THE_ID, *headers, bound}
    assert look.otherwise == look.unseen == {}


WITHOUT = replace(LIMITED, headers={name: value for name, value in HEADERS.items() if name != "retry-after"})


def test_a_documented_difference_is_drift_and_the_rest_is_still_evidence() -> None:
    verdict = judged(RATE_LIMIT, WITHOUT, {})
    assert verdict.outcome is Outcome.DRIFTED
    assert [(each.severity, each.assertion) for each in verdict.findings] == [
        (Severity.MUST, "answer/header:retry-after")
    ]
    assert seen(verdict).otherwise == {"header:retry-after": "absent"}
    assert "header:request-id" in seen(verdict).as_stated


def test_the_same_difference_from_an_assumption_is_told_and_conforms() -> None:
    verdict = judged(RATE_LIMIT, WITHOUT, {"assumed": {"answer/header:retry-after": "not shown"}})
    assert verdict.outcome is Outcome.CONFORMS
    (finding,) = verdict.findings
    assert finding.severity is Severity.SHOULD
    assert ": assumed seconds, observed absent" in finding.message
    assert seen(verdict).otherwise == {"header:retry-after": "absent"}


ASSUMED_SUCCESS = {"success/status": "not shown"}
ASSUMED_STATUS = {"assumed": {"answer/status": "not shown"}}


@pytest.mark.parametrize("status, outcome", [(403, Outcome.CONFORMS), (200, Outcome.DRIFTED)])
def test_an_assumed_status_leaves_open_which_refusal_but_not_that_it_is_one(status: int, outcome: Outcome) -> None:
    assert judged(RATE_LIMIT, replace(LIMITED, status=status), ASSUMED_STATUS).outcome is outcome


def test_what_another_answer_holds_is_no_evidence_of_the_stated_one() -> None:
    look = seen(judged(RATE_LIMIT, replace(LIMITED, status=403), ASSUMED_STATUS))
    assert look.otherwise == {"status": "403"}
    assert look.as_stated == ()
    assert set(look.unseen.values()) == {"another-answer"}


@pytest.mark.parametrize("status, settles", [(429, True), (403, False), (500, False)])
def test_under_a_status_that_drifts_nothing_that_is_assumed_is_settled(status: int, settles: bool) -> None:
    """An organization's policy, or an incident, has a type of its own: none of the answer that is stated."""
    other = Response(status, HEADERS, {**BODY, "error": {"type": "policy_violation", "message": "no"}}, "json")
    verdict = judged(RATE_LIMIT, other, {"assumed": {"answer/type": "not shown"}})
    assert ("answer/type" in {each.assertion for each in verdict.findings}) is settles
    assert ("type" in seen(verdict).otherwise) is settles


@pytest.mark.parametrize("status", [404, 429])
def test_a_text_in_place_of_json_settles_no_status(status: int) -> None:
    """What stands before a provider knows no such path, and says so in its own way."""
    verdict = judged(RATE_LIMIT, Response(status, HEADERS, "404 page not found", "text"), ASSUMED_STATUS)
    assert verdict.outcome is Outcome.DRIFTED
    assert {each.assertion for each in verdict.findings if each.severity is not Severity.INFO} == {"answer/body"}
    look = seen(verdict)
    assert look.unseen["status"] == "another-answer"
    assert "status" not in (*look.otherwise, *look.as_stated)


@pytest.mark.parametrize("status, outcome", [(429, Outcome.CONFORMS), (503, Outcome.CONFORMS), (404, Outcome.DRIFTED)])
def test_each_documented_alternative_conforms_and_no_other_value(status: int, outcome: Outcome) -> None:
    choice = {"alternatives": {"answer/status": {"values": [429, 503], "source": "2:7.3#429 rate limit"}}}
    verdict = judged(RATE_LIMIT, replace(LIMITED, status=status), choice)
    assert verdict.outcome is outcome
    assert ("status" in seen(verdict).as_stated) is (outcome is Outcome.CONFORMS)


NOT_THERE = Response(404, {}, None, "empty")


@pytest.mark.parametrize(
    ("body", "kind", "outcome"),
    [({"detail": "x"}, "json", Outcome.DRIFTED), ("No such page.", "text", Outcome.INCONCLUSIVE)],
)
def test_an_assumed_path_is_blamed_for_a_404_that_is_not_the_providers(body: Any, kind: Any, outcome: Outcome) -> None:
    """JSON of another shape is judged (1:4.4): it is the provider that answers so."""
    stated = {"http_status": 404, "assumed": {"ask/path": "not shown, 1:4.1"}}
    assert judged(RATE_LIMIT, Response(404, HEADERS, body, kind), stated).outcome is outcome


@pytest.mark.parametrize(
    "assumed, outcome",
    [
        ({"ask/path": "not shown, 1:4.1"}, Outcome.INCONCLUSIVE),
        ({"ask/header:pa-beta": "not shown"}, Outcome.INCONCLUSIVE),
        ({"ask/endpoints": "inferred"}, Outcome.DRIFTED),
        ({"success/header:request-id": "not shown"}, Outcome.DRIFTED),
    ],
)
def test_a_request_that_was_assumed_and_is_refused_says_nothing(assumed: dict[str, str], outcome: Outcome) -> None:
    verdict = judged(ENDPOINT, NOT_THERE, {"assumed": assumed}, "success")
    assert verdict.outcome is outcome
    if outcome is Outcome.INCONCLUSIVE:
        assert verdict.reason is not None
        assert verdict.reason.code == "assumption-failed"
        assert next(iter(assumed)).partition("/")[2] in verdict.reason.detail
        assert set(seen(verdict).unseen.values()) == {"assumption-failed"}


@pytest.mark.parametrize(
    "request_, outcome",
    [
        (Request("POST", ASKED, body={"thinking": None}), Outcome.INCONCLUSIVE),
        (Request("POST", ASKED, body={"model": "m"}), Outcome.DRIFTED),
        (Request("POST", ASKED), Outcome.DRIFTED),
        (Request("POST", ASKED, body="{thinking"), Outcome.INCONCLUSIVE),
    ],
)
def test_a_field_that_was_not_sent_is_not_to_blame(request_: Request, outcome: Outcome) -> None:
    assumed = {"assumed": {"ask/body:/thinking": "not shown"}}
    assert judged(ENDPOINT, NOT_THERE, assumed, "success", request_).outcome is outcome


@pytest.mark.parametrize("query, outcome", [("?order=", Outcome.INCONCLUSIVE), ("?page=order", Outcome.DRIFTED)])
def test_a_parameter_that_was_not_sent_is_not_to_blame(query: str, outcome: Outcome) -> None:
    assumed = {"assumed": {"ask/query:order": "not shown"}}
    assert judged(ENDPOINT, NOT_THERE, assumed, "success", Request("GET", ASKED + query)).outcome is outcome


@pytest.mark.parametrize("key", ["ask/body:/messages", "ask/header:x"])
def test_a_refusal_with_another_status_than_the_stated_one_is_drift_though_the_request_was_assumed(key: str) -> None:
    assert judged(RATE_LIMIT, replace(LIMITED, status=422), {"assumed": {key: "not shown"}}).outcome is Outcome.DRIFTED


def test_an_assumed_path_may_be_wrong_where_a_404_is_stated_and_one_without_envelope_comes() -> None:
    unknown = "pa/errors/general/unknown_model"
    path = {"assumed": {"ask/path": "not shown"}}
    assert judged(unknown, NOT_THERE, path).outcome is Outcome.INCONCLUSIVE
    assert judged(unknown, NOT_THERE, {}).outcome is Outcome.DRIFTED
    renamed = Response(404, HEADERS, {**BODY, "error": {"type": "renamed", "message": "x"}}, "json")
    assert judged(unknown, renamed, path).outcome is Outcome.DRIFTED


def test_a_refusal_that_does_not_blame_the_request_is_drift_all_the_same() -> None:
    refused = Response(409, HEADERS, BODY, "json")
    verdict = judged(ENDPOINT, refused, {"assumed": {"ask/path": "not shown"}}, "success")
    assert verdict.outcome is Outcome.DRIFTED


def test_without_an_answer_nothing_is_seen() -> None:
    verdict = judged(RATE_LIMIT, Response(503, {}, None, "empty"), {})
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert seen(verdict).as_stated == ()
    assert set(seen(verdict).unseen.values()) == {"unasked-overload"}


def test_a_body_that_is_none_hides_what_would_stand_in_it() -> None:
    look = seen(judged(RATE_LIMIT, replace(LIMITED, body="plain words", body_type="text"), {}))
    assert look.otherwise == {"body": "malformed"}
    of_the_id = {"body:/request_id": "no-body", "relation:equals:/request_id": "nothing-there"}
    assert look.unseen == {"type": "no-body", **of_the_id}


def test_failed_assumptions_are_outside_the_blind_share() -> None:
    seen_well = [Result(f"pa/errors/general/a{n}", {}, Outcome.CONFORMS) for n in range(4)]
    ours = [Result(f"pa/errors/general/b{n}", {}, Outcome.INCONCLUSIVE, Reason("assumption-failed")) for n in range(6)]
    theirs = [replace(each, reason=Reason("unasked-overload")) for each in ours]
    assert blind_providers([*seen_well, *ours], ["pa"]) == {}
    assert "pa" in blind_providers([*seen_well, *theirs], ["pa"])


def test_a_lane_without_a_control_is_blindness_however_few_its_records() -> None:
    seen_well = [Result(f"pa/errors/general/a{n}", {"surface": "pa"}, Outcome.CONFORMS, lane="l") for n in range(40)]
    dead = Result("pa/errors/grpc/b", {"surface": "pa_grpc"}, Outcome.INCONCLUSIVE, Reason("control-failed"), lane="l")
    assert "pa_grpc" in blind_providers([*seen_well, dead], ["pa"])["pa"]
    alive = replace(dead, record="pa/errors/grpc/c", outcome=Outcome.CONFORMS, reason=None)
    assert blind_providers([*seen_well, dead, alive], ["pa"]) == {}


def test_what_an_assumption_was_settled_to_be_is_no_news() -> None:
    shipped = catalog()[RATE_LIMIT]
    record = Record(shipped.address, {**shipped.data, **ASSUMED_STATUS})
    stated = assertions(record, catalog().__getitem__)
    evidence = {
        "of": statements_digest(stated),
        "seen": {ENDPOINT: {"on": "2026-11-14"}},
        "settled": {"answer/status": {"seen": "403", "on": "2026-11-14"}},
    }
    settled = {**ASSUMED_STATUS, "evidence": evidence}
    quiet = judged(RATE_LIMIT, replace(LIMITED, status=403), settled)
    (told,) = quiet.findings
    assert (quiet.outcome, told.severity) == (Outcome.CONFORMS, Severity.INFO)
    assert told.message == "status: assumed 429, observed 403, as it was settled to be"
    assert seen(quiet).otherwise == {"status": "403"}, "else the next night would settle it anew"
    again = judged(RATE_LIMIT, replace(LIMITED, status=409), settled)
    assert [each.severity for each in again.findings] == [Severity.SHOULD]


MESSAGE = {"usage": {"input_tokens": 1}, "stop_reason": "end_turn", "type": "message", "model": "mock-small"}
SUCCEEDED = Response(200, HEADERS, MESSAGE, "json")


def test_a_success_of_the_record_shows_that_nothing_assumed_of_the_request_is_to_blame() -> None:
    """Else a provider that begins to refuse a documented value would be our own fault for ever."""
    shipped = catalog()[ENDPOINT]
    record = Record(shipped.address, {**shipped.data, "assumed": {"ask/path": "not shown"}})
    labels = ("success", "service_tier_auto")
    expected = [each for each in asserted(record, catalog().__getitem__) if each.label in labels]

    def verdict(plain: Response) -> Verdict:
        answers = zip(labels, (plain, NOT_THERE), strict=True)
        exchanges = tuple(Exchange(label, Request("POST", ASKED), response) for label, response in answers)
        return judge(expected, Attempt("", 0.0, exchanges), known("pa"))

    assert verdict(SUCCEEDED).outcome is Outcome.DRIFTED
    assert verdict(NOT_THERE).outcome is Outcome.INCONCLUSIVE


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
    expected = [each for each in asserted(record, catalog().__getitem__) if each.label in labels]
    exchanges = tuple(
        Exchange(each.label, Request("DELETE", "https://x/v1/compliance/apps/chats/c"), response)
        for each, response in zip(expected, outcomes, strict=True)
    )
    return judge(expected, Attempt("", 0.0, exchanges), known("pa"))


def test_what_was_never_deleted_need_not_be_gone() -> None:
    still_there = Response(200, HEADERS, {"data": []}, "json")
    refused = deleted(Response(503, {}, None, "empty"), still_there)
    assert refused.outcome is Outcome.INCONCLUSIVE
    assert not any(finding.drifts for finding in refused.findings)
    assert deleted(Response(200, HEADERS, {}, "json"), still_there).outcome is Outcome.DRIFTED


RESPONSES = "pc/endpoints/responses/create_response"
TIER_REFUSED = {"error": {"message": "no", "type": "invalid_request_error", "code": None, "param": "service_tier"}}
UNKNOWN = {"error": {"message": "no", "type": "invalid_request_error", "code": "unknown_parameter", "param": "x"}}


def test_a_documented_refusal_in_place_of_a_success_conforms_and_shows_nothing_else_of_the_success() -> None:
    """2:7.5: any service tier may be one that the project is not allowed."""
    verdict = judged(RESPONSES, Response(400, {}, TIER_REFUSED, "json"), {}, "service_tier_flex")
    assert verdict.outcome is Outcome.CONFORMS
    look = seen(verdict)
    assert look.as_stated == ("status",)
    assert look.otherwise == {}
    assert look.unseen["body"] == "another-answer"


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
    expected = asserted(record, catalog().__getitem__)
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
    (look,) = (each for each in verdict.looks if each.label == other.label)
    assert (f"relation:equals:{twin.label}" in look.as_stated) is twin_answers
    assert (look.unseen == {f"relation:equals:{twin.label}": "no-twin"}) is not twin_answers


def test_another_success_than_the_assumed_one_shows_all_else_as_stated() -> None:
    shipped = catalog()[ENDPOINT].data["assumed"]
    verdict = judged(ENDPOINT, replace(SUCCEEDED, status=201), {"assumed": {**shipped, **ASSUMED_SUCCESS}}, "success")
    assert seen(verdict).otherwise == {"status": "201"}
    assert "header:request-id" in seen(verdict).as_stated
    documented = {key: why for key, why in shipped.items() if key != "success/status"}
    drifted = judged(ENDPOINT, replace(SUCCEEDED, status=201), {"assumed": documented}, "success")
    assert (drifted.outcome, seen(drifted).as_stated) == (Outcome.DRIFTED, ())


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
    assert seen(verdict).unseen == {"relation:equals:/request_id": "nothing-there"}


def test_what_stands_at_an_assumed_place_is_held_to_what_is_documented() -> None:
    """2:7.1: it is the request id that appears there, so another one than the header's is drift."""
    verdict = judged(RATE_LIMIT, replace(LIMITED, body={**BODY, "request_id": "req_2"}), {})
    assert verdict.outcome is Outcome.DRIFTED
    assert [each.assertion for each in verdict.findings if each.drifts] == ["answer/relation:equals:/request_id"]


def test_a_shape_may_be_assumed_but_not_that_it_is_json() -> None:
    """1:1 says that these are HTTP/JSON interfaces."""
    assumed = {"assumed": {"answer/body": "not shown"}}
    other = judged(RATE_LIMIT, replace(LIMITED, body={"type": "rate_limit_error"}), assumed)
    assert "answer/body" not in {each.assertion for each in other.findings if each.drifts}
    text = judged(RATE_LIMIT, replace(LIMITED, body="no", body_type="text"), assumed)
    assert "answer/body" in {each.assertion for each in text.findings if each.drifts}
