"""One answer to one request: the verdict on its record, and which other records document it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.model import Aspect, Attempt, Event, Exchange, Outcome, Reason, Request, Response, Severity
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.model.exchange import GrpcStatus
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import Expected
from catalog_probe.catalog.reading.response_headers import HeaderRule
from catalog_probe.probes.judging.attempts import conclude_step, needs_another_attempt
from catalog_probe.probes.judging.inconclusive.evidence import MOCK_SESSION
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdict import Verdict
from tests.harness.engines import catalog
from tests.unit.probes.judging_one import (
    BODY,
    HEADERS,
    RATE_LIMIT,
    judge_answer,
    judge_exchanges,
    load_steps,
    load_vocabulary,
)

if TYPE_CHECKING:
    import pytest

LIST_MODELS = "pa/endpoints/models/list_models"
UNKNOWN_MODEL = "pa/errors/general/unknown_model"
INTERNAL = "pa/errors/general/internal_error"
OVER_GRPC = "pd/endpoints/grpc/grpc_host"
INVALID_OVER_GRPC = "pd/errors/grpc/invalid_argument"


RATE_LIMITS = "pa/rate_limits/limits/general"


def pa_error(status: int, kind: str, message: str = "no") -> Response:
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}
    return Response(status, {**HEADERS, "x-should-retry": "false"}, body, "json")


def make_grpc_response(status: int) -> Response:
    return Response(None, {}, None, "empty", grpc=GrpcStatus(status, "no"))


def summarize_verdict(address: str, response: Response, label: str = "answer") -> tuple[str, str]:
    """Return the outcome and the code of its reason."""
    verdict = judge_answer(address, response, {}, label)
    return verdict.outcome, verdict.reason.code if verdict.reason else ""


NOT_ALLOWED = pa_error(403, "permission_error")


def test_only_documented_permission_refusal_of_a_success_restricts(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, Response, Outcome]] = [
        (LIST_MODELS, "success", NOT_ALLOWED, Outcome.RESTRICTED),
        (LIST_MODELS, "success", pa_error(413, "request_too_large"), Outcome.DRIFTED),
        (LIST_MODELS, "success", pa_error(403, "teapot_error"), Outcome.DRIFTED),
        (UNKNOWN_MODEL, "answer", NOT_ALLOWED, Outcome.DRIFTED),
        ("pa/errors/invalid_request/missing_max_tokens", "answer", NOT_ALLOWED, Outcome.DRIFTED),
        (OVER_GRPC, "success", make_grpc_response(7), Outcome.RESTRICTED),
        (OVER_GRPC, "success", make_grpc_response(5), Outcome.DRIFTED),
        (OVER_GRPC, "missing_credential", make_grpc_response(7), Outcome.DRIFTED),
        (INVALID_OVER_GRPC, "bad_request", make_grpc_response(7), Outcome.DRIFTED),
    ]
    for address, label, response, outcome in cases:
        with subtests.test(address=address):
            assert summarize_verdict(address, response, label) == (
                outcome,
                "probe-refused" if outcome is Outcome.RESTRICTED else "",
            )


def test_mock_never_restricts(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, dict[str, str], Outcome]] = [
        ("live", {}, Outcome.RESTRICTED),
        ("a mock", {MOCK_SESSION: "one"}, Outcome.DRIFTED),
    ]
    for case, headers, outcome in cases:
        with subtests.test(case=case):
            request = Request("GET", "https://provider.example/v1/models", headers)
            assert judge_answer(LIST_MODELS, NOT_ALLOWED, {}, "success", request).outcome is outcome


def test_restriction_quotes_the_answer() -> None:
    verdict = judge_answer(LIST_MODELS, NOT_ALLOWED, {}, "success")
    assert verdict.reason is not None
    assert verdict.reason.detail.startswith("POST https://provider.example/v1/messages: HTTP 403: {'type': 'error'")
    assert verdict.findings == ()


def test_page_under_the_documented_status_is_inconclusive_and_keeps_findings(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, dict[str, str]]] = [
        ("  <html>no</html>", {}),
        ("no", {"content-type": "text/html; charset=utf-8"}),
    ]
    for body, headers in cases:
        with subtests.test(body=body):
            verdict = judge_answer(UNKNOWN_MODEL, Response(404, headers, body, "text"), {})
            assert (verdict.outcome, verdict.reason and verdict.reason.code) == (Outcome.INCONCLUSIVE, "gateway-page")
            assert verdict.reason is not None
            assert verdict.reason.detail.startswith("POST https://provider.example/v1/messages: HTTP 404: ")
            assert "body-malformed" in {finding.code for finding in verdict.findings}


def test_text_refusal_is_inconclusive_until_it_repeats(subtests: pytest.Subtests) -> None:
    """A gateway may refuse so; three times alike, it is the provider."""
    for status in [404, 425, 403]:
        with subtests.test(status=status):
            plain = Response(status, {"content-type": "text/plain; charset=utf-8"}, "error code: 1020", "text")
            verdict = judge_answer(UNKNOWN_MODEL, plain, {})
            assert (verdict.outcome, verdict.reason and verdict.reason.code) == (Outcome.INCONCLUSIVE, "gateway-page")
            assert conclude_step([verdict] * 3).outcome is Outcome.DRIFTED
            assert conclude_step([verdict] * 2).outcome is Outcome.INCONCLUSIVE
            assert needs_another_attempt([verdict])


def test_broken_json_and_text_that_is_no_page_are_drift(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [("application/json", '{"type": "err'), ("", '{"type": "err'), ("", "no < yes")]
    for media_type, text in cases:
        with subtests.test(media_type=media_type):
            response = Response(404, {"content-type": media_type}, text, "text")
            assert summarize_verdict(UNKNOWN_MODEL, response) == (Outcome.DRIFTED, "")


OWN_FAULT = Response(503, HEADERS, {**BODY, "error": {"type": "api_error", "message": "x"}}, "json")


def test_server_fault_keeps_findings_only_if_the_providers_own(subtests: pytest.Subtests) -> None:
    """A bare one is the provider's if another server fault is documented: only the status may differ.

    In place of a documented 4xx, a live server fault is never a mismatch.
    """
    cases: list[tuple[str, Response, bool]] = [
        (RATE_LIMIT, pa_error(500, "api_error"), False),
        (RATE_LIMIT, Response(500, {}, None, "empty"), False),
        (RATE_LIMIT, Response(500, {}, "", "text"), False),
        (INTERNAL, OWN_FAULT, True),
        (INTERNAL, Response(503, {}, None, "empty"), True),
        (INTERNAL, Response(503, {}, "", "text"), True),
        (INVALID_OVER_GRPC, make_grpc_response(13), False),
    ]
    for address, response, is_the_providers in cases:
        with subtests.test(address=address):
            label = "bad_request" if address == INVALID_OVER_GRPC else "answer"
            verdict = judge_answer(address, response, {}, label)
            assert verdict.reason is not None
            assert (verdict.outcome, verdict.reason.code) == (Outcome.INCONCLUSIVE, "server-fault")
            assert bool(verdict.findings) == is_the_providers
            assert all(finding.is_drift for finding in verdict.findings if finding.aspect is Aspect.STATUS)


def pc_stream(code: str) -> Response:
    failed = {"type": "response.failed", "response": {"error": {"code": code, "message": "no"}}}
    return Response(200, {"x-request-id": "req_1"}, None, "empty", events=(Event("response.failed", failed),))


def test_fault_within_a_stream_is_judged_like_a_fault_status(subtests: pytest.Subtests) -> None:
    """The mismatch of a server fault is kept: three alike are a drift."""
    cases: list[tuple[str, Outcome, str]] = [
        ("server_error", Outcome.INCONCLUSIVE, "server-fault"),
        ("rate_limit_exceeded", Outcome.INCONCLUSIVE, "unasked-rate-limit"),
        ("invalid_image", Outcome.DRIFTED, ""),
        ("invalid_prompt", Outcome.CONFORMS, ""),
    ]
    for code, outcome, reason in cases:
        with subtests.test(code=code):
            address = "pc/errors/stream/invalid_prompt"
            assert summarize_verdict(address, pc_stream(code)) == (outcome, reason)
            differs = any(finding.is_drift for finding in judge_answer(address, pc_stream(code), {}, "answer").findings)
            assert differs == (code in ("server_error", "invalid_image"))


def pc_error(status: int, **fields: str | None) -> Response:
    error = {"message": "no", "type": "invalid_request_error", "param": None, "code": None, **fields}
    return Response(status, {"x-request-id": "req_1"}, {"error": error}, "json")


def test_drift_names_at_most_three_records_that_document_the_answer(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Response, int]] = [
        ("pc/errors/request/unknown_parameter", pc_error(401, code="invalid_project"), 1),
        (UNKNOWN_MODEL, pa_error(409, "conflict_error"), 2),
        ("pc/errors/request/unknown_parameter", pc_error(401), 3),
        (UNKNOWN_MODEL, pa_error(413, "request_too_large"), 0),
        (UNKNOWN_MODEL, pa_error(418, "teapot_error"), 0),
    ]
    for address, response, count in cases:
        with subtests.test(address=address):
            verdict = judge_answer(address, response, {})
            assert verdict.outcome is Outcome.DRIFTED
            matches = [finding for finding in verdict.findings if finding.code == "matches-another-record"]
            assert len(matches) == bool(count)
            for finding in matches:
                addresses = [finding.observed] if isinstance(finding.observed, str) else finding.observed
                assert len(addresses) == count
                assert all(record in catalog() for record in addresses)
                assert isinstance(finding.observed, str) == (count == 1)
                assert finding.message == f"this is {' or '.join(addresses)}"
                assert (finding.severity, finding.aspect, finding.label) == (Severity.INFO, Aspect.STATE, "answer")
                assert finding.documented == address


def test_drift_within_the_documented_answer_names_no_other_record() -> None:
    answer = pa_error(404, "not_found_error")
    verdict = judge_answer(UNKNOWN_MODEL, Response(404, {}, answer.body, "json"), {})
    assert verdict.outcome is Outcome.DRIFTED
    assert "matches-another-record" not in {finding.code for finding in verdict.findings}


def test_undocumented_header_is_noted_only_beside_a_conforming_answer() -> None:
    """Beside a drift it is part of an answer that differs anyway."""
    response = Response(429, {**HEADERS, "x-of-nobody": "1"}, BODY, "json")
    conforming = judge_answer(RATE_LIMIT, response, {})
    assert conforming.outcome is Outcome.CONFORMS
    assert [(finding.code, finding.location) for finding in conforming.findings] == [
        ("undocumented-header", "x-of-nobody")
    ]
    drifted = judge_answer(RATE_LIMIT, Response(418, response.headers, response.body, "json"), {})
    assert "undocumented-header" not in {finding.code for finding in drifted.findings}


def test_early_limit_is_drift_only_on_a_mock_and_after_three_attempts(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, str], Outcome]] = [
        ({"x-mock-session": "1"}, Outcome.DRIFTED),
        ({}, Outcome.INCONCLUSIVE),
    ]
    for headers, outcome in cases:
        with subtests.test(headers=headers):
            request = Request("POST", "https://provider.example/v1/messages", headers)
            verdict = judge_answer(RATE_LIMITS, pa_error(429, "rate_limit_error"), {}, request=request)
            steps = verdict.step_verdicts.values()
            (limited,) = (step for step in steps if step.reason and "429" in step.reason.detail)
            assert conclude_step([limited, limited]).outcome is Outcome.INCONCLUSIVE
            assert conclude_step([limited, limited, limited]).outcome is outcome


def test_incomplete_limit_refusal_on_a_mock_is_inconclusive() -> None:
    request = Request("POST", "https://provider.example/v1/messages", {"x-mock-session": "1"})
    response = Response(429, {}, pa_error(429, "rate_limit_error").body, "json")
    assert judge_answer(RATE_LIMITS, response, {}, request=request).outcome is Outcome.INCONCLUSIVE


def test_repeated_success_without_body_is_drift(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Outcome]] = [("", Outcome.DRIFTED), ("conforms", Outcome.CONFORMS)]
    for last, outcome in cases:
        with subtests.test(last=last):
            empty = judge_answer(LIST_MODELS, Response(200, HEADERS, None, "empty"), {}, "success").step_verdicts[
                "success", ""
            ]
            assert conclude_step([empty, empty, Verdict(Outcome.CONFORMS) if last else empty]).outcome is outcome


def expect_status(label: str, *, depends: tuple[str, ...] = (), status: int = 200, since: str = "") -> Expected:
    key = AssertionKey(label, "status")
    assertion = Assertion(INTERNAL, key, status, Basis.DOCUMENTED, depends_on=depends, since=since)
    return Expected(label, INTERNAL, load_envelope("any"), status, assertions={str(key): assertion})


def make_exchange(label: str, status: int, endpoint: str = "", **headers: str) -> Exchange:
    return Exchange(label, Request("GET", "https://x", headers), Response(status, {}, {}, "json"), endpoint=endpoint)


DELETE_STEPS = (expect_status("deleted"), expect_status("gone", depends=("deleted",), status=404))
HERE, THERE = LIST_MODELS, "pa/endpoints/files/list_files"


def test_mismatch_of_a_step_needs_the_step_it_depends_on(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, list[Exchange], Outcome]] = [
        ("done", [make_exchange("deleted", 200, HERE)], Outcome.DRIFTED),
        ("not done", [make_exchange("deleted", 418, HERE)], Outcome.INCONCLUSIVE),
        (
            "done elsewhere",
            [make_exchange("deleted", 418, HERE), make_exchange("deleted", 200, THERE)],
            Outcome.INCONCLUSIVE,
        ),
        ("asked elsewhere", [make_exchange("deleted", 200, THERE)], Outcome.DRIFTED),
        ("not done elsewhere", [make_exchange("deleted", 418, THERE)], Outcome.INCONCLUSIVE),
        (
            "not done on another",
            [make_exchange("deleted", 200, HERE), make_exchange("deleted", 418, THERE)],
            Outcome.DRIFTED,
        ),
    ]
    for case, deleted, outcome in cases:
        with subtests.test(case=case):
            verdict = judge_exchanges(DELETE_STEPS, *deleted, make_exchange("gone", 200, HERE))
            step = verdict.step_verdicts["gone", HERE]
            assert step.outcome is outcome
            if outcome is Outcome.INCONCLUSIVE:
                assert step.reason == Reason(ReasonCode.STEP_UNSEEN, "gone means something only after deleted")


def test_match_of_a_step_needs_the_step_it_depends_on(subtests: pytest.Subtests) -> None:
    """If the delete failed, a missing resource shows nothing of the delete."""
    cases: list[tuple[int, Outcome]] = [(200, Outcome.CONFORMS), (418, Outcome.INCONCLUSIVE)]
    for deleted, outcome in cases:
        with subtests.test(deleted=deleted):
            verdict = judge_exchanges(
                DELETE_STEPS, make_exchange("deleted", deleted, HERE), make_exchange("gone", 404, HERE)
            )
            assert verdict.step_verdicts["gone", HERE].outcome is outcome


def test_own_reason_comes_before_a_missing_dependency() -> None:
    verdict = judge_exchanges(DELETE_STEPS, make_exchange("deleted", 418, HERE), make_exchange("gone", 529, HERE))
    reason = verdict.step_verdicts["gone", HERE].reason
    assert reason is not None
    assert reason.code == "unasked-overload"


def test_step_skipped_after_a_drift_is_inconclusive() -> None:
    verdict = judge_exchanges(DELETE_STEPS, make_exchange("deleted", 418))
    assert verdict.outcome is Outcome.DRIFTED
    reason = Reason(ReasonCode.STEP_UNSEEN, "gone was not asked: deleted were not as documented")
    assert verdict.step_verdicts["gone", ""].reason == reason
    incomplete = judge_exchanges(DELETE_STEPS, make_exchange("deleted", 200))
    assert incomplete.step_verdicts["gone", ""].outcome is Outcome.HARNESS_ERROR


def test_assertion_of_another_revision_has_no_verdict() -> None:
    new = expect_status("answer", since="2026-10-21")
    old = judge_exchanges((new,), make_exchange("answer", 418, **{"pa-version": "2023-06-01"}))
    assert (old.outcome, old.reason and old.reason.code) == (Outcome.INCONCLUSIVE, "another-revision")
    assert old.observations[0].not_observed == {"status": "another-revision"}
    newer = judge_exchanges((new,), make_exchange("answer", 418, **{"pa-version": "2026-10-21"}))
    assert newer.outcome is Outcome.DRIFTED


def test_only_assertions_of_another_revision_are_not_observed() -> None:
    step = expect_status("answer")
    key = AssertionKey("answer", "header", "x-new")
    header_assertion = Assertion(INTERNAL, key, "present", Basis.DOCUMENTED, since="2026-10-21")
    step_with_header = replace(
        step, headers=(HeaderRule("x-new", "present"),), assertions={**step.assertions, str(key): header_assertion}
    )
    verdict = judge_exchanges((step_with_header,), make_exchange("answer", 200, **{"pa-version": "2023-06-01"}))
    assert verdict.outcome is Outcome.CONFORMS
    assert (verdict.observations[0].matched, verdict.observations[0].not_observed) == (
        ("status",),
        {"header:x-new": "another-revision"},
    )


OUR_HEADER = {"header:beta": "no document shows it"}
STEPS_WITH_ASSUMED_HEADER = (
    replace(expect_status("success"), request_assumptions=OUR_HEADER),
    replace(expect_status("refused", status=404), request_assumptions=OUR_HEADER),
    expect_status("without it", status=404),
)
UNKNOWN_HEADER = "beta is unknown"


def make_refusal(label: str, status: int, message: str = UNKNOWN_HEADER, endpoint: str = HERE) -> Exchange:
    return Exchange(
        label, Request("GET", "https://x"), Response(status, {}, {"said": message}, "json"), endpoint=endpoint
    )


def test_assumed_header_explains_all_refusals_like_that_of_the_success(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Exchange, Outcome]] = [
        ("alike", make_refusal("refused", 400), Outcome.INCONCLUSIVE),
        ("other words", make_refusal("refused", 400, "no such thing"), Outcome.DRIFTED),
        ("another status", make_refusal("refused", 418), Outcome.DRIFTED),
        ("another endpoint", make_refusal("refused", 400, endpoint=THERE), Outcome.DRIFTED),
        ("without the header", make_refusal("without it", 400), Outcome.DRIFTED),
    ]
    for case, other, outcome in cases:
        with subtests.test(case=case):
            verdict = judge_exchanges(STEPS_WITH_ASSUMED_HEADER, make_refusal("success", 400), other)
            reason = verdict.step_verdicts["success", HERE].reason
            assert (reason and reason.code) == ReasonCode.ASSUMPTION_FAILED
            step = verdict.step_verdicts[other.label, other.endpoint]
            assert (step.outcome, step.reason) == (outcome, reason if outcome is Outcome.INCONCLUSIVE else None)


def test_assumed_body_explains_no_other_refusal() -> None:
    steps = tuple(
        replace(step, request_assumptions={"body": "no document shows it"}) for step in STEPS_WITH_ASSUMED_HEADER
    )
    verdict = judge_exchanges(steps, make_refusal("success", 400), make_refusal("refused", 400))
    assert verdict.step_verdicts["success", HERE].outcome is Outcome.INCONCLUSIVE
    assert verdict.step_verdicts["refused", HERE].outcome is Outcome.DRIFTED


def test_conforming_refusal_is_not_blamed_on_the_header() -> None:
    steps = (
        STEPS_WITH_ASSUMED_HEADER[0],
        replace(expect_status("refused", status=400), request_assumptions=OUR_HEADER),
    )
    verdict = judge_exchanges(steps, make_refusal("success", 400), make_refusal("refused", 400))
    assert verdict.step_verdicts["success", HERE].outcome is Outcome.INCONCLUSIVE
    assert verdict.step_verdicts["refused", HERE].outcome is Outcome.CONFORMS


def judge_no_exchange(stopped: Reason | None) -> Any:
    expected = tuple(load_steps(RATE_LIMIT))
    return judge(expected, Attempt("", 0.0, ()), load_vocabulary("pa"), stopped)


def test_unsent_label_is_a_harness_error_unless_stopped() -> None:
    verdict = judge_no_exchange(None)
    assert (verdict.outcome, verdict.reason and verdict.reason.code) == (Outcome.HARNESS_ERROR, "recipe-incomplete")
    assert verdict.reason.detail == f"no exchange labelled {load_steps(RATE_LIMIT)[0].label!r}"
    reason = Reason(ReasonCode.ACCOUNT_TROUBLE, "no credit")
    stopped = judge_no_exchange(reason)
    assert (stopped.outcome, stopped.reason) == (Outcome.INCONCLUSIVE, reason)
