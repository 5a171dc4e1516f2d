"""What we assumed and what the documents say: which differences settle the one, and which drift from the other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from catalog_probe.catalog.envelopes.envelope import Envelope, envelope
from catalog_probe.catalog.model import Aspect, Exchange, Finding, Outcome, Reason, Request, Response, Severity
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.probes.judging.comparison.basis import is_no_refusal, weigh_findings
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.verdicts.record_verdict import retract
from tests.harness.engines import catalog
from tests.unit.probes.judging_one import BODY, HEADERS, LIMITED, RATE_LIMIT, judged

REVOKED = "pa/errors/general/key_revoked"
WRONG_METHOD = "pc/errors/request/unprocessable"


@pytest.mark.parametrize(
    ("status", "success"),
    [(200, True), (101, True), (399, True), (400, False), (401, False), (529, False), (None, False), ("200", False)],
)
def test_a_status_below_400_is_none_of_a_refusal(status: Any, success: bool) -> None:
    assert is_no_refusal(status) is success


def severities(findings: tuple[Finding, ...]) -> dict[str, str]:
    return {finding.assertion: finding.severity for finding in findings}


def refused_by_pc(**said: Any) -> Response:
    error = {"message": "no", "type": "invalid_request_error", "param": None, "code": None}
    error = {name: value for name, value in {**error, **said}.items() if value != "leave out"}
    return Response(422, {"x-request-id": "req_1"}, {"error": error}, "json")


SHAPE = {"assumed": {"answer/body": "Not shown."}}


@pytest.mark.parametrize(
    ("response", "severity"),
    [
        (replace(LIMITED, body={**BODY, "error": {"message": "slow"}}), {"answer/type": "should"}),
        (replace(LIMITED, body={**BODY, "error": {"type": "teapot", "message": "slow"}}), {"answer/type": "must"}),
        (replace(LIMITED, headers={}), {"answer/header:request-id": "must"}),
    ],
    ids=["a member that is missing", "a member of another value", "no header"],
)
def test_where_the_whole_shape_is_assumed_so_is_every_place_in_it_but_no_value_and_no_header(
    response: Response, severity: dict[str, str]
) -> None:
    told = severities(judged(RATE_LIMIT, response, SHAPE).findings)
    assert severity.items() <= told.items()


@pytest.mark.parametrize("member", ["type", "code", "param"])
def test_a_missing_member_drifts_where_the_shape_is_documented(member: str) -> None:
    fields = {member: "x", "http_status": 422}
    absent = refused_by_pc(**{member: "leave out"})
    plain, assumed = (judged(WRONG_METHOD, absent, {**fields, **more}) for more in ({}, SHAPE))
    assert severities(plain.findings)[f"answer/{member}"] == "must"
    assert severities(assumed.findings)[f"answer/{member}"] == "should"


def test_so_does_a_message_of_which_something_is_documented() -> None:
    mute = Response(401, HEADERS, {**BODY, "error": {"type": "authentication_error"}}, "json")
    plain, assumed = (judged(REVOKED, mute, fields) for fields in ({}, SHAPE))
    assert severities(plain.findings)["answer/message"] == "must"
    assert severities(assumed.findings)["answer/message"] == "should"


def test_a_difference_from_an_assumption_is_worded_as_one_once() -> None:
    """What was observed may hold the same words."""
    odd = ": documented to say ': documented '"
    verdict = judged(RATE_LIMIT, replace(LIMITED, body={**BODY, "error": {**BODY["error"], "type": odd}}), {})
    [drift] = [finding for finding in verdict.findings if finding.assertion == "answer/type"]
    assert drift.message == f"type: documented rate_limit_error, observed {odd}"
    verdict = judged(
        RATE_LIMIT,
        replace(LIMITED, body={**BODY, "error": {**BODY["error"], "type": odd}}),
        {"assumed": {"answer/type": "Not shown."}},
    )
    [told] = [finding for finding in verdict.findings if finding.assertion == "answer/type"]
    assert told.message == f"type: assumed rate_limit_error, observed {odd}"


def test_what_nobody_settled_is_not_known_however_little_was_observed() -> None:
    empty = replace(LIMITED, body={**BODY, "error": {"type": "", "message": "slow"}})
    told = severities(judged(RATE_LIMIT, empty, {"assumed": {"answer/type": "Not shown."}}).findings)
    assert told["answer/type"] == "should"


def weighed_by(*stated: Assertion, **more: Any) -> Expected:
    return Expected(
        "answer", RATE_LIMIT, envelope("pa"), 429, assertions={str(each.key): each for each in stated}, **more
    )


def differing(key: str, code: str = "values-missing", observed: Any = "absent", **more: Any) -> Finding:
    return Finding(
        code,
        Aspect.BODY,
        Severity.MUST,
        f"{key}: documented a, observed b",
        "answer",
        observed=observed,
        assertion=key,
        **more,
    )


def test_another_member_of_a_choice_is_no_finding_and_hides_none() -> None:
    left = Assertion(RATE_LIMIT, AssertionKey("answer", "type"), "a", Basis.DOCUMENTED, alternatives=("a", "b"))
    code = Assertion(RATE_LIMIT, AssertionKey("answer", "code"), "a", Basis.DOCUMENTED)
    findings = [differing("answer/type", observed="b"), differing("answer/code", observed="c")]
    assert list(weigh_findings(weighed_by(left, code), findings)) == findings[1:]


@pytest.mark.parametrize(
    ("code", "observed", "severity"),
    [
        ("field-missing", "absent", Severity.SHOULD),
        ("values-missing", "absent", Severity.SHOULD),
        ("values-missing", [], Severity.MUST),
        ("values-differ", "absent", Severity.MUST),
        ("field-differs", "b", Severity.MUST),
    ],
)
def test_nothing_need_stand_at_a_place_that_is_assumed_and_nothing_else_may(
    code: str, observed: Any, severity: Severity
) -> None:
    key = AssertionKey("answer", "body", "/error/kind")
    assumed = Assertion(RATE_LIMIT, key, {"const": "a"}, Basis.ASSUMED, assumed="where it stands is not shown")
    (weighed_so,) = weigh_findings(weighed_by(assumed), [differing(str(key), code, observed)])
    assert weighed_so.severity is severity


@pytest.mark.parametrize(("key", "severity"), [("status:/error/code", Severity.SHOULD), ("status", Severity.MUST)])
def test_a_status_that_the_body_repeats_is_assumed_with_its_shape(key: str, severity: Severity) -> None:
    aspect, _, place = key.partition(":")
    told = Assertion(RATE_LIMIT, AssertionKey("answer", aspect, place), 429, Basis.DOCUMENTED)
    shape = Assertion(RATE_LIMIT, AssertionKey("answer", "body"), {}, Basis.ASSUMED, assumed="not shown")
    (weighed_so,) = weigh_findings(weighed_by(told, shape), [differing(f"answer/{key}", "code-differs")])
    assert weighed_so.severity is severity
    (stated,) = weigh_findings(weighed_by(told), [differing(f"answer/{key}", "code-differs")])
    assert stated.severity is Severity.MUST


def test_a_status_that_only_the_body_repeats_is_settled_by_any_other() -> None:
    """Whether it is a success or a refusal is said by the status of the answer."""
    told = Assertion(
        RATE_LIMIT, AssertionKey("answer", "status", "/error/code"), 429, Basis.ASSUMED, assumed="not shown"
    )
    finding = replace(differing("answer/status:/error/code", "code-differs", 200), aspect=Aspect.STATUS)
    (settling,) = weigh_findings(weighed_by(told), [finding])
    assert settling.severity is Severity.SHOULD


def test_a_status_that_is_assumed_is_settled_by_another_refusal_and_not_by_a_success() -> None:
    fields = {"assumed": {"answer/status": "Not shown."}}
    assert judged(RATE_LIMIT, replace(LIMITED, status=400), fields).outcome is Outcome.CONFORMS
    assert judged(RATE_LIMIT, replace(LIMITED, status=200), fields).outcome is Outcome.DRIFTED
    assert judged(RATE_LIMIT, replace(LIMITED, status=399), fields).outcome is not Outcome.CONFORMS


CODE = "max_uses_exceeded"
RATE_TYPE = "rate_limit_error"
PLACE_OF_CODE = "/content/*/content/error_code"


@pytest.mark.parametrize(
    ("block", "severity"),
    [
        ({"content": {"error_code": CODE}}, None),
        ({"error_code": CODE}, Severity.SHOULD),
        ({"content": {"error_code": "another"}}, Severity.MUST),
        ({"content": {"code": CODE}}, Severity.MUST),
        ({"failed": {"reason": CODE}}, Severity.MUST),
        ({"error_code": "another", "content": {"code": CODE}}, Severity.SHOULD),
        ({"content": [CODE]}, Severity.SHOULD),
        ({"text": "Nothing was searched for."}, Severity.SHOULD),
    ],
    ids=["there", "elsewhere", "another", "renamed", "renamed elsewhere", "both", "in a list", "no failure"],
)
def test_a_place_is_assumed_and_the_name_of_the_field_is_not(block: Any, severity: Severity | None) -> None:
    """2:7.3: server-tool result blocks carry `error_code`; where in them is not shown."""
    record = catalog()["pa/errors/server_tools/web_search_max_uses_exceeded"]
    (expected,) = asserted_expectations(record, catalog().__getitem__)
    body = {"type": "message", "content": [{"type": "text", "text": "Let me see."}, block]}
    seen = Exchange("answer", Request("POST", "/v1/messages"), Response(200, {}, body=body, body_type="json"))
    within = f"answer/body:{PLACE_OF_CODE}"
    found = [each for each in weigh_findings(expected, compare(expected, seen)) if each.assertion == within]
    assert [each.severity for each in found] == ([severity] if severity else [])


@pytest.mark.parametrize(
    ("error", "drifts", "told"),
    [
        ({"type": 7, "message": "slow"}, ["type-differs"], ["body-shape"]),
        ({"type": RATE_TYPE, "message": 7}, ["body-shape"], []),
        ({"type": 7, "message": 7}, ["body-shape", "type-differs"], ["body-shape"]),
        ({"type": RATE_TYPE, "message": "slow"}, [], []),
    ],
    ids=["one place", "another place", "both", "as documented"],
)
def test_one_wrong_field_is_one_difference(error: Any, drifts: list[str], told: list[str]) -> None:
    verdict = judged(RATE_LIMIT, replace(LIMITED, body={**BODY, "error": error}), {})
    assert sorted(each.code for each in verdict.findings if each.is_drift) == drifts
    assert [each.code for each in verdict.findings if not each.is_drift] == told
    (observation,) = verdict.observations
    assert ("body" in observation.matched) == (drifts == [])
    assert not retract(verdict, Reason("gateway-page", "")).findings


@pytest.mark.parametrize(
    ("response", "fields", "told"),
    [
        (replace(LIMITED, headers={}, body={"type": "error", "request_id": "req_1"}), {}, "header-missing"),
        (
            replace(LIMITED, body={**BODY, "error": {"type": 7, "message": "slow"}}),
            {"assumed": {"answer/type": "Not shown."}},
            "type-differs",
        ),
    ],
    ids=["of a header", "of an assumption"],
)
def test_the_shape_of_a_body_is_a_drift_beside_a_finding_that_is_none_at_its_place(
    response: Response, fields: dict[str, Any], told: str
) -> None:
    findings = judged(RATE_LIMIT, response, fields).findings
    assert told in {each.code for each in findings}
    assert "body-shape" in {each.code for each in findings if each.is_drift}


def test_one_wrong_field_is_one_difference_in_an_array_too() -> None:
    of_one = {"type": "object", "properties": {"type": {"type": "string"}}}
    array = Envelope("e", {"type": "array", "items": of_one}, {"type": "/type"}, "json", unwrap=True)
    expected = Expected("answer", "pb/errors/general/x", array, 400, wire={"type": "wrong"})
    seen = Exchange("answer", Request("POST", "/x"), Response(400, {}, [{"type": 7}], "json"))
    findings = {each.code: each.is_drift for each in weigh_findings(expected, compare(expected, seen))}
    assert findings == {"type-differs": True, "body-shape": False}
