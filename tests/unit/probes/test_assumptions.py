"""What we assumed and what the documents say: which differences settle the one, and which drift from the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog.model import Outcome, Response
from catalog.model.codes import ReasonCode
from catalog.reading.assertions import asserted
from probes.judging.basis import failed_assumption, succeeds
from tests.unit.probes.test_basis import BODY, HEADERS, LIMITED, RATE_LIMIT, catalog, judged

if TYPE_CHECKING:
    from catalog.model import Finding

WRONG_METHOD = "pc/errors/request/unprocessable"


@pytest.mark.parametrize(
    ("status", "success"),
    [(200, True), (101, True), (399, True), (400, False), (401, False), (529, False), (None, False), ("200", False)],
)
def test_a_status_below_400_is_none_of_a_refusal(status: Any, success: bool) -> None:
    assert succeeds(status) is success


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


SUCCESS_ASSUMED = "pa/endpoints/models/list_models"


@pytest.mark.parametrize(
    ("key", "status", "blamed"),
    [
        *(("ask/body:/x", status, True) for status in (400, 404, 405, 415, 422)),
        *(("ask/body:/x", status, False) for status in (401, 403, 409, 413)),
        *(("ask/path", status, True) for status in (404, 405)),
        *(("ask/path", status, False) for status in (400, 401, 415, 422)),
        *(("ask/endpoints", status, False) for status in (400, 404)),
        *(("ask/cause", status, False) for status in (400, 409)),
    ],
)
def test_only_a_refusal_of_the_request_itself_blames_what_was_assumed_of_it(
    key: str, status: int, blamed: bool
) -> None:
    shipped = catalog()[SUCCESS_ASSUMED]
    record = replace(shipped, data={**shipped.data, "assumed": {key: "Not shown."}})
    expected = next(each for each in asserted(record, catalog().__getitem__) if each.label == "success")
    response = Response(status, HEADERS, {**BODY, "error": {"type": "x", "message": "no"}}, "json")
    findings = judged(SUCCESS_ASSUMED, response, {"assumed": {}}, "success").findings
    assert any(finding.drifts for finding in findings)
    told = failed_assumption(expected, response, findings)
    assert told == (f"{key.removeprefix('ask/')}: Not shown." if blamed else "")


def test_an_assumed_cause_that_is_accepted_is_no_drift() -> None:
    fields = {"assumed": {"ask/cause": "What brings it about is not shown."}}
    accepted = judged(RATE_LIMIT, replace(LIMITED, status=200), fields)
    assert accepted.outcome is Outcome.INCONCLUSIVE
    assert accepted.reason is not None
    assert accepted.reason.code == ReasonCode.ASSUMPTION_FAILED
    assert judged(RATE_LIMIT, replace(LIMITED, status=400), fields).outcome is Outcome.DRIFTED


def test_a_status_that_is_assumed_is_settled_by_another_refusal_and_not_by_a_success() -> None:
    fields = {"assumed": {"answer/status": "Not shown."}}
    assert judged(RATE_LIMIT, replace(LIMITED, status=400), fields).outcome is Outcome.CONFORMS
    assert judged(RATE_LIMIT, replace(LIMITED, status=200), fields).outcome is Outcome.DRIFTED
    assert judged(RATE_LIMIT, replace(LIMITED, status=399), fields).outcome is not Outcome.CONFORMS
