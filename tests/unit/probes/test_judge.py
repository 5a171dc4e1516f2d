"""One answer to one request: what it says of the record that was asked for, and of which other record it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.model import Aspect, Attempt, Event, Exchange, Outcome, Reason, Request, Response, Severity
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.exchange import GrpcStatus
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.reading.headers import HeaderRule
from catalog_probe.probes.judging.inconclusive.evidence import MOCK_SESSION
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdicts.attempts import conclude_step, needs_another_attempt
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from tests.harness.engines import catalog
from tests.unit.probes.judging_one import BODY, HEADERS, RATE_LIMIT, judged, known

LIST_MODELS = "pa/endpoints/models/list_models"
UNKNOWN_MODEL = "pa/errors/general/unknown_model"
INTERNAL = "pa/errors/general/internal_error"
OVER_GRPC = "pd/endpoints/grpc/grpc_host"
INVALID_OVER_GRPC = "pd/errors/grpc/invalid_argument"


RATE_LIMITS = "pa/rate_limits/limits/general"


def pa_error(status: int, kind: str, message: str = "no") -> Response:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return Response(status, {**HEADERS, "x-should-retry": "false"}, body, "json")


def grpc(status: int) -> Response:
    return Response(None, {}, None, "empty", grpc=GrpcStatus(status, "no"))


def told(address: str, response: Response, label: str = "answer") -> tuple[str, str]:
    """The outcome and the code of its reason."""
    verdict = judged(address, response, {}, label)
    return verdict.outcome, verdict.reason.code if verdict.reason else ""


NOT_ALLOWED = pa_error(403, "permission_error")


@pytest.mark.parametrize(
    ("address", "label", "response", "outcome"),
    [
        (LIST_MODELS, "success", NOT_ALLOWED, Outcome.RESTRICTED),
        (LIST_MODELS, "success", pa_error(413, "request_too_large"), Outcome.DRIFTED),
        (LIST_MODELS, "success", pa_error(403, "teapot_error"), Outcome.DRIFTED),
        (UNKNOWN_MODEL, "answer", NOT_ALLOWED, Outcome.DRIFTED),
        ("pa/errors/invalid_request/missing_max_tokens", "answer", NOT_ALLOWED, Outcome.DRIFTED),
        (OVER_GRPC, "success", grpc(7), Outcome.RESTRICTED),
        (OVER_GRPC, "success", grpc(5), Outcome.DRIFTED),
        (OVER_GRPC, "missing_credential", grpc(7), Outcome.DRIFTED),
        (INVALID_OVER_GRPC, "bad_request", grpc(7), Outcome.DRIFTED),
    ],
)
def test_a_documented_permission_refusal_in_place_of_a_success_restricts_and_nothing_else_does(
    address: str, label: str, response: Response, outcome: Outcome
) -> None:
    assert told(address, response, label) == (outcome, "probe-refused" if outcome is Outcome.RESTRICTED else "")


@pytest.mark.parametrize(
    ("headers", "outcome"), [({}, Outcome.RESTRICTED), ({MOCK_SESSION: "one"}, Outcome.DRIFTED)], ids=["live", "a mock"]
)
def test_a_mock_restricts_nobody(headers: dict[str, str], outcome: Outcome) -> None:
    asked = Request("GET", "https://provider.example/v1/models", headers)
    assert judged(LIST_MODELS, NOT_ALLOWED, {}, "success", asked).outcome is outcome


def test_a_restriction_says_what_was_answered() -> None:
    verdict = judged(LIST_MODELS, NOT_ALLOWED, {}, "success")
    assert verdict.reason is not None
    assert verdict.reason.detail.startswith("POST https://provider.example/v1/messages: HTTP 403: {'type': 'error'")
    assert verdict.findings == ()


@pytest.mark.parametrize(
    ("body", "headers"), [("  <html>no</html>", {}), ("no", {"content-type": "text/html; charset=utf-8"})]
)
def test_a_page_under_the_documented_status_is_inconclusive_and_keeps_what_differs_for_the_next_attempts(
    body: str, headers: dict[str, str]
) -> None:
    verdict = judged(UNKNOWN_MODEL, Response(404, headers, body, "text"), {})
    assert (verdict.outcome, verdict.reason and verdict.reason.code) == (Outcome.INCONCLUSIVE, "gateway-page")
    assert verdict.reason is not None
    assert verdict.reason.detail.startswith("POST https://provider.example/v1/messages: HTTP 404: ")
    assert "body-malformed" in {finding.code for finding in verdict.findings}


@pytest.mark.parametrize("status", [404, 425, 403])
def test_a_refusal_that_says_it_is_text_is_in_question_under_any_status(status: int) -> None:
    """An edge refuses so; if it stays, it is the provider."""
    plain = Response(status, {"content-type": "text/plain; charset=utf-8"}, "error code: 1020", "text")
    verdict = judged(UNKNOWN_MODEL, plain, {})
    assert (verdict.outcome, verdict.reason and verdict.reason.code) == (Outcome.INCONCLUSIVE, "gateway-page")
    assert conclude_step([verdict] * 3).outcome is Outcome.DRIFTED
    assert conclude_step([verdict] * 2).outcome is Outcome.INCONCLUSIVE
    assert needs_another_attempt([verdict])


@pytest.mark.parametrize("kind", ["application/json", ""])
def test_what_says_it_is_json_and_is_none_is_the_providers(kind: str) -> None:
    broken = Response(404, {"content-type": kind}, '{"type": "err', "text")
    assert told(UNKNOWN_MODEL, broken) == (Outcome.DRIFTED, "")


def test_text_that_is_no_page_is_a_drift() -> None:
    assert told(UNKNOWN_MODEL, Response(404, {}, "no < yes", "text")) == (Outcome.DRIFTED, "")


OWN_FAULT = Response(503, HEADERS, {**BODY, "error": {"type": "api_error", "message": "x"}}, "json")


@pytest.mark.parametrize(
    ("address", "response", "is_the_providers"),
    [
        (RATE_LIMIT, pa_error(500, "api_error"), True),
        (RATE_LIMIT, Response(500, {}, None, "empty"), False),
        (RATE_LIMIT, Response(500, {}, "", "text"), False),
        (INTERNAL, OWN_FAULT, True),
        (INTERNAL, Response(503, {}, None, "empty"), True),
        (INTERNAL, Response(503, {}, "", "text"), True),
        (INVALID_OVER_GRPC, grpc(13), True),
    ],
)
def test_a_server_fault_keeps_what_differs_only_where_it_is_the_providers_own(
    address: str, response: Response, is_the_providers: bool
) -> None:
    """A bare one is where another server fault is stated: the provider may just give another status."""
    label = "bad_request" if address == INVALID_OVER_GRPC else "answer"
    verdict = judged(address, response, {}, label)
    assert verdict.reason is not None
    assert (verdict.outcome, verdict.reason.code) == (Outcome.INCONCLUSIVE, "server-fault")
    assert bool(verdict.findings) == is_the_providers
    assert all(finding.is_drift for finding in verdict.findings if finding.aspect is Aspect.STATUS)


def pc_stream(code: str) -> Response:
    failed = {"type": "response.failed", "response": {"error": {"code": code, "message": "no"}}}
    return Response(200, {"x-request-id": "req_1"}, None, "empty", events=(Event("response.failed", failed),))


@pytest.mark.parametrize(
    ("code", "outcome", "reason"),
    [
        ("server_error", Outcome.INCONCLUSIVE, "server-fault"),
        ("rate_limit_exceeded", Outcome.INCONCLUSIVE, "unasked-rate-limit"),
        ("invalid_image", Outcome.DRIFTED, ""),
        ("invalid_prompt", Outcome.CONFORMS, ""),
    ],
)
def test_a_fault_within_a_stream_is_judged_as_one_in_its_place(code: str, outcome: Outcome, reason: str) -> None:
    """Of a server fault what differs is kept: three of them alike are a drift."""
    address = "pc/errors/stream/invalid_prompt"
    assert told(address, pc_stream(code)) == (outcome, reason)
    differs = any(finding.is_drift for finding in judged(address, pc_stream(code), {}, "answer").findings)
    assert differs == (code in ("server_error", "invalid_image"))


def pc_error(status: int, **said: str | None) -> Response:
    error = {"message": "no", "type": "invalid_request_error", "param": None, "code": None, **said}
    return Response(status, {"x-request-id": "req_1"}, {"error": error}, "json")


@pytest.mark.parametrize(
    ("address", "response", "others"),
    [
        ("pc/errors/request/unknown_parameter", pc_error(401, code="invalid_project"), 1),
        (UNKNOWN_MODEL, pa_error(409, "conflict_error"), 2),
        ("pc/errors/request/unknown_parameter", pc_error(401), 3),
        (UNKNOWN_MODEL, pa_error(413, "request_too_large"), 0),
        (UNKNOWN_MODEL, pa_error(418, "teapot_error"), 0),
    ],
)
def test_an_answer_that_three_other_records_document_at_most_is_told_as_theirs(
    address: str, response: Response, others: int
) -> None:
    verdict = judged(address, response, {})
    assert verdict.outcome is Outcome.DRIFTED
    found = [finding for finding in verdict.findings if finding.code == "matches-another-record"]
    assert len(found) == bool(others)
    for other in found:
        named = [other.observed] if isinstance(other.observed, str) else other.observed
        assert len(named) == others
        assert all(record in catalog() for record in named)
        assert isinstance(other.observed, str) == (others == 1)
        assert other.message == f"this is {' or '.join(named)}"
        assert (other.severity, other.aspect, other.label) == (Severity.INFO, Aspect.STATE, "answer")
        assert other.documented == address


def test_a_drift_towards_what_the_record_itself_documents_names_no_other_record() -> None:
    answer = pa_error(404, "not_found_error")
    verdict = judged(UNKNOWN_MODEL, Response(404, {}, answer.body, "json"), {})
    assert verdict.outcome is Outcome.DRIFTED
    assert "matches-another-record" not in {finding.code for finding in verdict.findings}


def test_what_no_document_names_is_told_beside_a_drift_and_beside_what_conforms() -> None:
    """Beside a drift it is part of an answer that is another one anyway."""
    fine = Response(429, {**HEADERS, "x-of-nobody": "1"}, BODY, "json")
    conforming = judged(RATE_LIMIT, fine, {})
    assert conforming.outcome is Outcome.CONFORMS
    assert [(each.code, each.location) for each in conforming.findings] == [("undocumented-header", "x-of-nobody")]
    drifted = judged(RATE_LIMIT, Response(418, fine.headers, fine.body, "json"), {})
    assert "undocumented-header" not in {each.code for each in drifted.findings}


def test_a_failure_in_the_client_conforms_without_any_answer() -> None:
    refused = "pc/errors/client/connection_refused"
    expected = tuple(asserted_expectations(catalog()[refused], catalog().__getitem__))
    lost = Exchange("answer", Request("POST", "https://x"), None, Reason(ReasonCode.CONNECT_REFUSED))
    assert judge(expected, Attempt("", 0.0, (lost,)), known("pc")).outcome is Outcome.CONFORMS


@pytest.mark.parametrize(
    ("headers", "outcome"), [({"x-mock-session": "1"}, Outcome.DRIFTED), ({}, Outcome.INCONCLUSIVE)]
)
def test_a_limit_that_is_met_early_is_judged_only_where_nobody_else_uses_it(
    headers: dict[str, str], outcome: Outcome
) -> None:
    asked = Request("POST", "https://provider.example/v1/messages", headers)
    met = pa_error(429, "rate_limit_error")
    assert judged(RATE_LIMITS, met, {}, request=asked).outcome is outcome


def test_a_refusal_that_is_none_of_the_limits_own_is_nobodys_drift() -> None:
    asked = Request("POST", "https://provider.example/v1/messages", {"x-mock-session": "1"})
    met = Response(429, {}, pa_error(429, "rate_limit_error").body, "json")
    assert judged(RATE_LIMITS, met, {}, request=asked).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(("last", "outcome"), [("", Outcome.DRIFTED), ("conforms", Outcome.CONFORMS)])
def test_a_success_without_its_body_is_drift_if_it_stays(last: str, outcome: Outcome) -> None:
    empty = judged(LIST_MODELS, Response(200, HEADERS, None, "empty"), {}, "success").step_verdicts["success", ""]
    assert conclude_step([empty, empty, Verdict(Outcome.CONFORMS) if last else empty]).outcome is outcome


def stating(label: str, *, depends: tuple[str, ...] = (), status: int = 200, since: str = "") -> Expected:
    key = AssertionKey(label, "status")
    stated = Assertion(INTERNAL, key, status, Basis.DOCUMENTED, depends_on=depends, since=since)
    return Expected(label, INTERNAL, envelope("any"), status, assertions={str(key): stated})


def came(label: str, status: int, endpoint: str = "", **headers: str) -> Exchange:
    return Exchange(label, Request("GET", "https://x", headers), Response(status, {}, {}, "json"), endpoint=endpoint)


GONE = (stating("deleted"), stating("gone", depends=("deleted",), status=404))
HERE, THERE = LIST_MODELS, "pa/endpoints/files/list_files"


@pytest.mark.parametrize(
    ("deleted", "outcome"),
    [
        ([came("deleted", 200, HERE)], Outcome.DRIFTED),
        ([came("deleted", 418, HERE)], Outcome.INCONCLUSIVE),
        ([came("deleted", 418, HERE), came("deleted", 200, THERE)], Outcome.INCONCLUSIVE),
        ([came("deleted", 200, THERE)], Outcome.DRIFTED),
        ([came("deleted", 418, THERE)], Outcome.INCONCLUSIVE),
        ([came("deleted", 200, HERE), came("deleted", 418, THERE)], Outcome.DRIFTED),
    ],
    ids=["done", "not done", "done elsewhere", "asked elsewhere", "not done elsewhere", "not done on another"],
)
def test_a_difference_counts_only_after_what_it_depends_on_was_seen_there_or_where_it_was_asked(
    deleted: list[Exchange], outcome: Outcome
) -> None:
    verdict = judge(GONE, Attempt("", 0.0, (*deleted, came("gone", 200, HERE))), known("pa"))
    step = verdict.step_verdicts["gone", HERE]
    assert step.outcome is outcome
    if outcome is Outcome.INCONCLUSIVE:
        assert step.reason == Reason(ReasonCode.STEP_UNSEEN, "gone means something only after deleted")


@pytest.mark.parametrize(("deleted", "outcome"), [(200, Outcome.CONFORMS), (418, Outcome.INCONCLUSIVE)])
def test_what_agrees_counts_only_after_it_as_well(deleted: int, outcome: Outcome) -> None:
    """What is gone though its delete failed shows nothing of the delete."""
    verdict = judge(GONE, Attempt("", 0.0, (came("deleted", deleted, HERE), came("gone", 404, HERE))), known("pa"))
    assert verdict.step_verdicts["gone", HERE].outcome is outcome


def test_what_has_no_verdict_says_why_itself_whatever_it_depends_on() -> None:
    verdict = judge(GONE, Attempt("", 0.0, (came("deleted", 418, HERE), came("gone", 529, HERE))), known("pa"))
    reason = verdict.step_verdicts["gone", HERE].reason
    assert reason is not None
    assert reason.code == "unasked-overload"


def test_a_step_that_was_left_out_after_another_answer_than_the_documented_one_was_not_seen() -> None:
    verdict = judge(GONE, Attempt("", 0.0, (came("deleted", 418),)), known("pa"))
    assert verdict.outcome is Outcome.DRIFTED
    reason = Reason(ReasonCode.STEP_UNSEEN, "gone was not asked: deleted were not as documented")
    assert verdict.step_verdicts["gone", ""].reason == reason
    forgotten = judge(GONE, Attempt("", 0.0, (came("deleted", 200),)), known("pa"))
    assert forgotten.step_verdicts["gone", ""].outcome is Outcome.HARNESS_ERROR


def test_what_is_stated_of_another_revision_has_no_verdict() -> None:
    new = stating("answer", since="2026-10-21")
    old = judge((new,), Attempt("", 0.0, (came("answer", 418, **{"pa-version": "2023-06-01"}),)), known("pa"))
    assert (old.outcome, old.reason and old.reason.code) == (Outcome.INCONCLUSIVE, "another-revision")
    assert old.observations[0].not_observed == {"status": "another-revision"}
    newer = judge((new,), Attempt("", 0.0, (came("answer", 418, **{"pa-version": "2026-10-21"}),)), known("pa"))
    assert newer.outcome is Outcome.DRIFTED


def test_of_an_answer_only_what_is_of_another_revision_is_unseen() -> None:
    stated = stating("answer")
    key = AssertionKey("answer", "header", "x-new")
    rule = Assertion(INTERNAL, key, "present", Basis.DOCUMENTED, since="2026-10-21")
    both = replace(stated, headers=(HeaderRule("x-new", "present"),), assertions={**stated.assertions, str(key): rule})
    verdict = judge((both,), Attempt("", 0.0, (came("answer", 200, **{"pa-version": "2023-06-01"}),)), known("pa"))
    assert verdict.outcome is Outcome.CONFORMS
    assert (verdict.observations[0].matched, verdict.observations[0].not_observed) == (
        ("status",),
        {"header:x-new": "another-revision"},
    )


OUR_HEADER = {"header:beta": "no document shows it"}
BLAMED = (
    replace(stating("success"), request_assumptions=OUR_HEADER),
    replace(stating("refused", status=404), request_assumptions=OUR_HEADER),
    stating("without it", status=404),
)
UNKNOWN_HEADER = "beta is unknown"


def said(label: str, status: int, words: str = UNKNOWN_HEADER, endpoint: str = HERE) -> Exchange:
    return Exchange(
        label, Request("GET", "https://x"), Response(status, {}, {"said": words}, "json"), endpoint=endpoint
    )


@pytest.mark.parametrize(
    ("other", "outcome"),
    [
        (said("refused", 400), Outcome.INCONCLUSIVE),
        (said("refused", 400, "no such thing"), Outcome.DRIFTED),
        (said("refused", 418), Outcome.DRIFTED),
        (said("refused", 400, endpoint=THERE), Outcome.DRIFTED),
        (said("without it", 400), Outcome.DRIFTED),
    ],
    ids=["alike", "other words", "another status", "another endpoint", "without the header"],
)
def test_a_header_that_we_assumed_is_to_blame_for_all_that_was_refused_as_the_success_was(
    other: Exchange, outcome: Outcome
) -> None:
    verdict = judge(BLAMED, Attempt("", 0.0, (said("success", 400), other)), known("pa"))
    blamed = verdict.step_verdicts["success", HERE].reason
    assert (blamed and blamed.code) == ReasonCode.ASSUMPTION_FAILED
    step = verdict.step_verdicts[other.label, other.endpoint]
    assert (step.outcome, step.reason) == (outcome, blamed if outcome is Outcome.INCONCLUSIVE else None)


def test_what_else_we_assumed_blames_no_other_answer() -> None:
    of_the_body = tuple(replace(each, request_assumptions={"body": "no document shows it"}) for each in BLAMED)
    verdict = judge(of_the_body, Attempt("", 0.0, (said("success", 400), said("refused", 400))), known("pa"))
    assert verdict.step_verdicts["success", HERE].outcome is Outcome.INCONCLUSIVE
    assert verdict.step_verdicts["refused", HERE].outcome is Outcome.DRIFTED


def test_what_conforms_in_the_words_that_blame_a_header_conforms() -> None:
    stated = (BLAMED[0], replace(stating("refused", status=400), request_assumptions=OUR_HEADER))
    verdict = judge(stated, Attempt("", 0.0, (said("success", 400), said("refused", 400))), known("pa"))
    assert verdict.step_verdicts["success", HERE].outcome is Outcome.INCONCLUSIVE
    assert verdict.step_verdicts["refused", HERE].outcome is Outcome.CONFORMS


def labels_of(address: str) -> list[str]:
    return [each.label for each in asserted_expectations(catalog()[address], catalog().__getitem__)]


def of_no_exchange(stopped: Reason | None) -> Any:
    expected = tuple(asserted_expectations(catalog()[RATE_LIMIT], catalog().__getitem__))
    return judge(expected, Attempt("", 0.0, ()), known("pa"), stopped)


def test_a_label_that_was_never_sent_is_our_own_fault_unless_the_attempt_was_stopped() -> None:
    ours = of_no_exchange(None)
    assert (ours.outcome, ours.reason and ours.reason.code) == (Outcome.HARNESS_ERROR, "recipe-incomplete")
    assert ours.reason.detail == f"no exchange labelled {labels_of(RATE_LIMIT)[0]!r}"
    reason = Reason(ReasonCode.ACCOUNT_TROUBLE, "no credit")
    stopped = of_no_exchange(reason)
    assert (stopped.outcome, stopped.reason) == (Outcome.INCONCLUSIVE, reason)
