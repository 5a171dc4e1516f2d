"""Weighing of findings: which mismatches resolve an assumption, and which are drift."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import Envelope, load_envelope
from catalog_probe.catalog.model import Aspect, Exchange, Finding, Outcome, Reason, Request, Response, Severity
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.expectations import Expected
from catalog_probe.probes.judging.comparison.basis import is_no_refusal, weigh_findings
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.verdict import retract
from tests.harness.engines import catalog
from tests.unit.probes.inconclusive.evidence_making import to_mock
from tests.unit.probes.judging_one import (
    BODY,
    HEADERS,
    MESSAGE,
    MESSAGES_URL,
    RATE_LIMIT,
    RATE_LIMITED,
    judge_answer,
    judge_exchanges,
    load_steps,
)

if TYPE_CHECKING:
    import pytest

REVOKED = "pa/errors/general/key_revoked"
WRONG_METHOD = "pc/errors/request/unprocessable"


def test_status_below_400_is_no_refusal(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, bool]] = [
        (200, True),
        (101, True),
        (399, True),
        (400, False),
        (401, False),
        (529, False),
        (None, False),
        ("200", False),
    ]
    for status, success in cases:
        with subtests.test(status=status):
            assert is_no_refusal(status) is success


def severity_by_key(findings: tuple[Finding, ...]) -> dict[str, str]:
    return {finding.assertion: finding.severity for finding in findings}


def make_pc_refusal(**fields: Any) -> Response:
    error = {"message": "no", "type": "invalid_request_error", "param": None, "code": None}
    error = {name: value for name, value in {**error, **fields}.items() if value != "leave out"}
    return Response(422, {"x-request-id": "req_1"}, {"error": error}, "json")


ASSUMED_SHAPE = {"assumed": {"answer/body": "Not shown."}}


def test_assumed_shape_covers_locations_but_no_values_or_headers(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Response, dict[str, str]]] = [
        (
            "a member that is missing",
            replace(RATE_LIMITED, body={**BODY, "error": {"message": "slow"}}),
            {"answer/type": "should"},
        ),
        (
            "a member of another value",
            replace(RATE_LIMITED, body={**BODY, "error": {"type": "teapot", "message": "slow"}}),
            {"answer/type": "must"},
        ),
        ("no header", replace(RATE_LIMITED, headers={}), {"answer/header:request-id": "must"}),
    ]
    for case, response, expected in cases:
        with subtests.test(case=case):
            severities = severity_by_key(judge_answer(RATE_LIMIT, response, ASSUMED_SHAPE).findings)
            assert expected.items() <= severities.items()


def test_missing_member_is_drift_only_of_a_documented_shape(subtests: pytest.Subtests) -> None:
    for member in ["type", "code", "param"]:
        with subtests.test(member=member):
            fields = {member: "x", "http_status": 422}
            response = make_pc_refusal(**{member: "leave out"})
            documented, assumed = (
                judge_answer(WRONG_METHOD, response, {**fields, **assumption}) for assumption in ({}, ASSUMED_SHAPE)
            )
            assert severity_by_key(documented.findings)[f"answer/{member}"] == "must"
            assert severity_by_key(assumed.findings)[f"answer/{member}"] == "should"


def test_missing_message_is_drift_only_of_a_documented_shape() -> None:
    response = Response(401, HEADERS, {**BODY, "error": {"type": "authentication_error"}}, "json")
    documented, assumed = (judge_answer(REVOKED, response, fields) for fields in ({}, ASSUMED_SHAPE))
    assert severity_by_key(documented.findings)["answer/message"] == "must"
    assert severity_by_key(assumed.findings)["answer/message"] == "should"


def test_mismatch_of_an_assumption_says_assumed_once() -> None:
    """The observed value may contain the replaced words itself."""
    odd_type = ": documented to say ': documented '"
    verdict = judge_answer(
        RATE_LIMIT, replace(RATE_LIMITED, body={**BODY, "error": {**BODY["error"], "type": odd_type}}), {}
    )
    [drift] = [finding for finding in verdict.findings if finding.assertion == "answer/type"]
    assert drift.message == f"type: documented rate_limit_error, observed {odd_type}"
    verdict = judge_answer(
        RATE_LIMIT,
        replace(RATE_LIMITED, body={**BODY, "error": {**BODY["error"], "type": odd_type}}),
        {"assumed": {"answer/type": "Not shown."}},
    )
    [assumed] = [finding for finding in verdict.findings if finding.assertion == "answer/type"]
    assert assumed.message == f"type: assumed rate_limit_error, observed {odd_type}"


def test_empty_observed_value_does_not_count_as_resolved() -> None:
    response = replace(RATE_LIMITED, body={**BODY, "error": {"type": "", "message": "slow"}})
    severities = severity_by_key(
        judge_answer(RATE_LIMIT, response, {"assumed": {"answer/type": "Not shown."}}).findings
    )
    assert severities["answer/type"] == "should"


def expect_assertions(*assertions: Assertion, **fields: Any) -> Expected:
    return Expected(
        "answer",
        RATE_LIMIT,
        load_envelope("pa"),
        429,
        assertions={str(assertion.key): assertion for assertion in assertions},
        **fields,
    )


def make_finding(key: str, code: str = "values-missing", observed: Any = "absent", **fields: Any) -> Finding:
    return Finding(
        code,
        Aspect.BODY,
        Severity.MUST,
        f"{key}: documented a, observed b",
        "answer",
        observed=observed,
        assertion=key,
        **fields,
    )


def test_other_alternative_is_no_finding() -> None:
    choice = Assertion(RATE_LIMIT, AssertionKey("answer", "type"), "a", Basis.DOCUMENTED, alternatives=("a", "b"))
    code = Assertion(RATE_LIMIT, AssertionKey("answer", "code"), "a", Basis.DOCUMENTED)
    findings = [make_finding("answer/type", observed="b"), make_finding("answer/code", observed="c")]
    assert list(weigh_findings(expect_assertions(choice, code), findings)) == findings[1:]


def test_assumed_location_may_be_empty_but_not_wrong(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Any, Severity]] = [
        ("field-missing", "absent", Severity.SHOULD),
        ("values-missing", "absent", Severity.SHOULD),
        ("values-missing", [], Severity.MUST),
        ("values-differ", "absent", Severity.MUST),
        ("field-differs", "b", Severity.MUST),
    ]
    for code, observed, severity in cases:
        with subtests.test(code=code):
            key = AssertionKey("answer", "body", "/error/kind")
            assumed = Assertion(RATE_LIMIT, key, {"const": "a"}, Basis.ASSUMED, assumed="where it stands is not shown")
            (finding,) = weigh_findings(expect_assertions(assumed), [make_finding(str(key), code, observed)])
            assert finding.severity is severity


def test_status_in_body_is_assumed_with_the_shape(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Severity]] = [("status:/error/code", Severity.SHOULD), ("status", Severity.MUST)]
    for key, severity in cases:
        with subtests.test(key=key):
            aspect, _, location = key.partition(":")
            status = Assertion(RATE_LIMIT, AssertionKey("answer", aspect, location), 429, Basis.DOCUMENTED)
            shape = Assertion(RATE_LIMIT, AssertionKey("answer", "body"), {}, Basis.ASSUMED, assumed="not shown")
            (assumed,) = weigh_findings(
                expect_assertions(status, shape), [make_finding(f"answer/{key}", "code-differs")]
            )
            assert assumed.severity is severity
            (documented,) = weigh_findings(expect_assertions(status), [make_finding(f"answer/{key}", "code-differs")])
            assert documented.severity is Severity.MUST


def test_assumed_status_in_body_is_resolved_by_any_other() -> None:
    """The HTTP status, not the one in the body, tells a success from a refusal."""
    assumption = Assertion(
        RATE_LIMIT, AssertionKey("answer", "status", "/error/code"), 429, Basis.ASSUMED, assumed="not shown"
    )
    finding = replace(make_finding("answer/status:/error/code", "code-differs", 200), aspect=Aspect.STATUS)
    (weighed,) = weigh_findings(expect_assertions(assumption), [finding])
    assert weighed.severity is Severity.SHOULD


def test_assumed_status_is_resolved_by_an_error_not_by_a_success() -> None:
    fields = {"assumed": {"answer/status": "Not shown."}}
    assert judge_answer(RATE_LIMIT, replace(RATE_LIMITED, status=400), fields).outcome is Outcome.CONFORMS
    assert judge_answer(RATE_LIMIT, replace(RATE_LIMITED, status=200), fields).outcome is Outcome.DRIFTED
    assert judge_answer(RATE_LIMIT, replace(RATE_LIMITED, status=399), fields).outcome is not Outcome.CONFORMS


CODE = "max_uses_exceeded"
RATE_TYPE = "rate_limit_error"
CODE_LOCATION = "/content/*/content/error_code"


def test_field_name_is_documented_at_an_assumed_location(subtests: pytest.Subtests) -> None:
    """2:7.3: server-tool result blocks carry `error_code`; where in them is not shown."""
    cases: list[tuple[str, Any, Severity | None]] = [
        ("there", {"content": {"error_code": CODE}}, None),
        ("elsewhere", {"error_code": CODE}, Severity.SHOULD),
        ("another", {"content": {"error_code": "another"}}, Severity.MUST),
        ("renamed", {"content": {"code": CODE}}, Severity.MUST),
        ("renamed elsewhere", {"failed": {"reason": CODE}}, Severity.MUST),
        ("both", {"error_code": "another", "content": {"code": CODE}}, Severity.SHOULD),
        ("in a list", {"content": [CODE]}, Severity.SHOULD),
        ("nowhere", {"text": "Nothing was searched for."}, Severity.MUST),
    ]
    for case, block, severity in cases:
        with subtests.test(case=case):
            record = catalog()["pa/errors/server_tools/web_search_max_uses_exceeded"]
            (expected,) = asserted_expectations(record, catalog().__getitem__)
            body = {"type": "message", "content": [{"type": "text", "text": "Let me see."}, block]}
            exchange = Exchange(
                "answer", Request("POST", "/v1/messages"), Response(200, {}, body=body, body_type="json")
            )
            key = f"answer/body:{CODE_LOCATION}"
            findings = [
                finding for finding in weigh_findings(expected, compare(expected, exchange)) if finding.assertion == key
            ]
            assert [finding.severity for finding in findings] == ([severity] if severity else [])


def test_live_model_need_not_come_to_the_failure_of_a_tool(subtests: pytest.Subtests) -> None:
    (expected,) = load_steps("pa/errors/server_tools/web_search_max_uses_exceeded")
    body = {**MESSAGE, "content": [{"type": "text", "text": "Nothing was searched for."}]}
    request = Request("POST", MESSAGES_URL)
    for sent, outcome in ((request, Outcome.CONFORMS), (to_mock(request), Outcome.DRIFTED)):
        with subtests.test(outcome=outcome):
            exchange = Exchange("answer", sent, Response(200, HEADERS, body, "json"))
            assert judge_exchanges([expected], exchange).step_verdicts["answer", ""].outcome is outcome


def test_wrong_field_is_one_drift(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Any, list[str], list[str]]] = [
        ("one place", {"type": 7, "message": "slow"}, ["type-differs"], ["body-shape"]),
        ("another place", {"type": RATE_TYPE, "message": 7}, ["body-shape"], []),
        ("both", {"type": 7, "message": 7}, ["body-shape", "type-differs"], ["body-shape"]),
        ("as documented", {"type": RATE_TYPE, "message": "slow"}, [], []),
    ]
    for case, error, drifts, notes in cases:
        with subtests.test(case=case):
            verdict = judge_answer(RATE_LIMIT, replace(RATE_LIMITED, body={**BODY, "error": error}), {})
            assert sorted(finding.code for finding in verdict.findings if finding.is_drift) == drifts
            assert [finding.code for finding in verdict.findings if not finding.is_drift] == notes
            (observation,) = verdict.observations
            assert ("body" in observation.matched) == (drifts == [])
            assert not retract(verdict, Reason("gateway-page", "")).findings


def test_shape_is_drift_if_no_other_drift_covers_it(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Response, dict[str, Any], str]] = [
        (
            "of a header",
            replace(RATE_LIMITED, headers={}, body={"type": "error", "request_id": "req_1"}),
            {},
            "header-missing",
        ),
        (
            "of an assumption",
            replace(RATE_LIMITED, body={**BODY, "error": {"type": 7, "message": "slow"}}),
            {"assumed": {"answer/type": "Not shown."}},
            "type-differs",
        ),
    ]
    for case, response, fields, code in cases:
        with subtests.test(case=case):
            findings = judge_answer(RATE_LIMIT, response, fields).findings
            assert code in {finding.code for finding in findings}
            assert "body-shape" in {finding.code for finding in findings if finding.is_drift}


def test_wrong_field_in_an_array_is_one_drift() -> None:
    item_schema = {"type": "object", "properties": {"type": {"type": "string"}}}
    array = Envelope("e", {"type": "array", "items": item_schema}, {"type": "/type"}, "json", unwrap=True)
    expected = Expected("answer", "pb/errors/general/x", array, 400, wire={"type": "wrong"})
    exchange = Exchange("answer", Request("POST", "/x"), Response(400, {}, [{"type": 7}], "json"))
    findings = {finding.code: finding.is_drift for finding in weigh_findings(expected, compare(expected, exchange))}
    assert findings == {"type-differs": True, "body-shape": False}
