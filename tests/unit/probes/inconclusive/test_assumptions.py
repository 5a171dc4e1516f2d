"""Assumptions about a request explain only refusals of the parts they are about."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.model import (
    Aspect,
    Exchange,
    Finding,
    Outcome,
    Request,
    Response,
    Severity,
)
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.observed import record_digest
from catalog_probe.catalog.reading.expectations import Expected
from catalog_probe.probes.judging.inconclusive.assumptions import find_assumed_path, is_part_of
from catalog_probe.probes.judging.verdict import Verdict
from tests.unit.probes.inconclusive.evidence_making import error_body, make_evidence, to_mock
from tests.unit.probes.judging_one import (
    BODY,
    ENDPOINT,
    HEADERS,
    MESSAGES_URL,
    NOT_FOUND,
    RATE_LIMIT,
    RATE_LIMITED,
    SUCCEEDED,
    get_observation,
    judge_answer,
    judge_exchanges,
    load_steps,
)

if TYPE_CHECKING:
    import pytest

    from catalog_probe.catalog.model import Json

MODELS = "pa/endpoints/models/list_models"
BODY_WITH_TOOLS: Json = {"tools": [{"name": "x"}], "none": None}


def test_assumption_counts_if_the_request_contains_its_part(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, Json, bool]] = [
        ("path", "", BODY_WITH_TOOLS, True),
        ("header:x-version", "", BODY_WITH_TOOLS, True),
        ("body", "", BODY_WITH_TOOLS, True),
        ("body", "", None, True),
        ("body:/tools", "", BODY_WITH_TOOLS, True),
        ("body:/tools/0/name", "", BODY_WITH_TOOLS, True),
        ("body:/none", "", BODY_WITH_TOOLS, True),
        ("body:/other", "", BODY_WITH_TOOLS, False),
        ("body:/tools", "", None, False),
        ("body:/other", "", "a text in which nobody can look it up", True),
        ("query:order", "?order=asc", BODY_WITH_TOOLS, True),
        ("query:order", "?order=&limit=1", BODY_WITH_TOOLS, True),
        ("query:order", "?limit=1", BODY_WITH_TOOLS, False),
        ("query:tools", "", BODY_WITH_TOOLS, False),
        ("query:at", "?at:x=1", BODY_WITH_TOOLS, False),
        ("query:at:x", "?at:x=1", BODY_WITH_TOOLS, True),
    ]
    for assumption_key, url, body, is_part in cases:
        with subtests.test(assumption_key=assumption_key):
            assert is_part_of(Request("POST", f"https://x/v1/a{url}", {}, body), assumption_key) is is_part


def test_assumed_path_explains_a_foreign_404(subtests: pytest.Subtests) -> None:
    """JSON of another shape is judged (1:4.4): the provider answers so."""
    cases: list[tuple[Any, Any, Outcome]] = [
        ({"detail": "x"}, "json", Outcome.DRIFTED),
        ("No such page.", "text", Outcome.INCONCLUSIVE),
    ]
    for body, kind, outcome in cases:
        with subtests.test(body=body):
            stated = {"http_status": 404, "assumed": {"ask/path": "not shown, 1:4.1"}}
            assert judge_answer(RATE_LIMIT, Response(404, HEADERS, body, kind), stated).outcome is outcome


def test_refused_assumed_request_is_inconclusive(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, str], Outcome]] = [
        ({"ask/path": "not shown, 1:4.1"}, Outcome.INCONCLUSIVE),
        ({"ask/header:pa-beta": "not shown"}, Outcome.INCONCLUSIVE),
        ({"ask/endpoints": "inferred"}, Outcome.DRIFTED),
        ({"success/header:request-id": "not shown"}, Outcome.DRIFTED),
    ]
    for assumed, outcome in cases:
        with subtests.test(assumed=assumed):
            verdict = judge_answer(ENDPOINT, NOT_FOUND, {"assumed": assumed}, "success")
            assert verdict.outcome is outcome
            if outcome is Outcome.INCONCLUSIVE:
                assert verdict.reason is not None
                assert verdict.reason.code == "assumption-failed"
                assert f"may be why: {next(iter(assumed)).partition('/')[2]}" in verdict.reason.detail
                assert set(get_observation(verdict).not_observed.values()) == {"assumption-failed"}


def test_reason_quotes_the_answer_before_the_assumption(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Json, str]] = [
        (
            {"type": "error", "error": {"type": "not_found_error", "message": "old-1 is retired"}},
            "HTTP 404: old-1 is retired",
        ),
        ({"detail": "model old-1 is retired"}, "{'detail': 'model old-1 is retired'}"),
        (None, "empty body"),
    ]
    for body, quote in cases:
        with subtests.test(body=body):
            refused = Response(404, {}, body, "json" if body else "empty")
            verdict = judge_answer(ENDPOINT, refused, {"assumed": {"ask/path": "The path is not shown."}}, "success")
            assert verdict.reason is not None
            answer, _, assumed = verdict.reason.detail.partition("; what we assumed may be why: ")
            assert answer.endswith(quote)
            assert assumed == "path: The path is not shown."


def test_unsent_field_is_not_blamed(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Request, Outcome]] = [
        (Request("POST", MESSAGES_URL, body={"thinking": None}), Outcome.INCONCLUSIVE),
        (Request("POST", MESSAGES_URL, body={"model": "m"}), Outcome.DRIFTED),
        (Request("POST", MESSAGES_URL), Outcome.DRIFTED),
        (Request("POST", MESSAGES_URL, body="{thinking"), Outcome.INCONCLUSIVE),
    ]
    for request_, outcome in cases:
        with subtests.test(request_=request_):
            assumed = {"assumed": {"ask/body:/thinking": "not shown"}}
            assert judge_answer(ENDPOINT, NOT_FOUND, assumed, "success", request_).outcome is outcome


def test_wrong_error_status_is_drift_despite_an_assumed_request(subtests: pytest.Subtests) -> None:
    for key in ["ask/body:/messages", "ask/header:x"]:
        with subtests.test(key=key):
            assert (
                judge_answer(RATE_LIMIT, replace(RATE_LIMITED, status=422), {"assumed": {key: "not shown"}}).outcome
                is Outcome.DRIFTED
            )


def test_assumed_path_explains_a_404_without_envelope() -> None:
    unknown = "pa/errors/general/unknown_model"
    path = {"assumed": {"ask/path": "not shown"}}
    assert judge_answer(unknown, NOT_FOUND, path).outcome is Outcome.INCONCLUSIVE
    assert judge_answer(unknown, NOT_FOUND, {}).outcome is Outcome.DRIFTED
    renamed = Response(404, HEADERS, {**BODY, "error": {"type": "renamed", "message": "x"}}, "json")
    assert judge_answer(unknown, renamed, path).outcome is Outcome.DRIFTED


def test_success_shows_that_the_assumptions_hold() -> None:
    """Otherwise a provider that begins to refuse a documented value would never drift."""
    labels = ("success", "service_tier_auto")
    expected = [step for step in load_steps(ENDPOINT, assumed={"ask/path": "not shown"}) if step.label in labels]

    def judge_with(success: Response) -> Verdict:
        answers = zip(labels, (success, NOT_FOUND), strict=True)
        exchanges = tuple(Exchange(label, Request("POST", MESSAGES_URL), response) for label, response in answers)
        return judge_exchanges(expected, *exchanges)

    assert judge_with(SUCCEEDED).outcome is Outcome.DRIFTED
    assert judge_with(NOT_FOUND).outcome is Outcome.INCONCLUSIVE


def judge_promise(address: str, label: str, control: Response, refusal: Response, **fields: Any) -> Verdict:
    """Judge a control, and a request that the documents promise to accept: live if the record gets other fields."""
    expected = [step for step in load_steps(address, **fields) if step.label in ("success", label)]
    requests = [Request("POST", MESSAGES_URL, body=body) for body in ({}, {"inference_geo": "us"})]
    plain, promised = requests if fields else map(to_mock, requests)
    verdict = judge_exchanges(expected, Exchange("success", plain, control), Exchange(label, promised, refusal))
    return verdict.step_verdicts[label, ""]


GEO_REFUSED = Response(400, {**HEADERS, "x-should-retry": "false"}, error_body("invalid_request_error"), "json")


def test_promised_acceptance_is_held_to_a_control(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Response, Response, Outcome]] = [
        ("refused alone", SUCCEEDED, GEO_REFUSED, Outcome.DRIFTED),
        ("all is refused", GEO_REFUSED, GEO_REFUSED, Outcome.INCONCLUSIVE),
        ("not the provider's refusal", SUCCEEDED, Response(400, {}, None, "empty"), Outcome.INCONCLUSIVE),
    ]
    for case, control, refusal, outcome in cases:
        with subtests.test(case=case):
            assert judge_promise(ENDPOINT, "inference_geo", control, refusal).outcome is outcome


def test_promise_is_broken_live_only_if_a_night_saw_it_kept(subtests: pytest.Subtests) -> None:
    """Of the promised parameter we assume the value, which may be wrong."""
    digest = record_digest(assertion for step in load_steps(ENDPOINT) for assertion in step.assertions.values())
    seen = {"statements": digest, "endpoints": {ENDPOINT: {"on": "2026-11-01"}}}
    cases: list[tuple[Json, Outcome]] = [({}, Outcome.INCONCLUSIVE), (seen, Outcome.DRIFTED)]
    for evidence, outcome in cases:
        with subtests.test(evidence=evidence):
            verdict = judge_promise(ENDPOINT, "inference_geo", SUCCEEDED, GEO_REFUSED, evidence=evidence)
            assert verdict.outcome is outcome


def test_status_decides_which_assumptions_are_blamed(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, int, Outcome]] = [
        *(("ask/body:/x", status, Outcome.INCONCLUSIVE) for status in (400, 404, 405, 415, 422)),
        *(("ask/body:/x", status, Outcome.DRIFTED) for status in (401, 403, 409, 413)),
        *(("ask/path", status, Outcome.INCONCLUSIVE) for status in (404, 405)),
        *(("ask/path", status, Outcome.DRIFTED) for status in (400, 401, 409, 415, 422)),
        *(("ask/endpoints", status, Outcome.DRIFTED) for status in (400, 404)),
    ]
    for key, status, outcome in cases:
        with subtests.test(key=key):
            response = Response(status, HEADERS, error_body("x"), "json")
            request = Request("POST", MESSAGES_URL, body={"x": 1})
            verdict = judge_answer(MODELS, response, {"assumed": {key: "Not shown."}}, "success", request)
            assert verdict.outcome is outcome
            assert verdict.reason is None or verdict.reason.detail.endswith(f"{key.removeprefix('ask/')}: Not shown.")


def test_assumed_path_is_not_blamed_for_an_assumed_status(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Severity, bool]] = [(Severity.MUST, True), (Severity.SHOULD, False)]
    for severity, is_blamed in cases:
        with subtests.test(severity=severity):
            expected = Expected(
                "answer", RATE_LIMIT, load_envelope("pa"), 429, request_assumptions={"path": "not shown"}
            )
            status = Finding(
                "status-differs", Aspect.STATUS, severity, "", "answer", observed=404, assertion="answer/status"
            )
            evidence = make_evidence(
                expected, Response(404, HEADERS, BODY, "json"), Verdict(Outcome.DRIFTED, None, (status,))
            )
            assert (find_assumed_path(evidence) is not None) is is_blamed


TRIGGER = {"assumed": {"ask/trigger": "Which request brings it about is not shown."}}


def test_assumed_trigger_explains_another_answer(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Response]] = [
        ("success", replace(RATE_LIMITED, status=200)),
        ("documented error", replace(RATE_LIMITED, status=404, body=error_body("not_found_error"))),
        ("undocumented error", replace(RATE_LIMITED, status=418, body=error_body("teapot"))),
        ("undocumented type", replace(RATE_LIMITED, body=error_body("teapot"))),
        ("documented status without a body", replace(RATE_LIMITED, status=404, body=None, body_type="empty")),
    ]
    for case, answer in cases:
        with subtests.test(case=case):
            verdict = judge_answer(RATE_LIMIT, answer, TRIGGER)
            assert verdict.reason is not None
            assert verdict.reason.code == ReasonCode.ASSUMPTION_FAILED
            assert verdict.outcome is Outcome.INCONCLUSIVE
            assert judge_answer(RATE_LIMIT, answer, {}).outcome is Outcome.DRIFTED


def test_assumed_trigger_explains_no_malformed_answer(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Response]] = [
        ("a header is missing", replace(RATE_LIMITED, headers={})),
        ("no envelope of the provider", replace(RATE_LIMITED, status=418, body={"unknown": "shape"})),
        ("an empty body under an undocumented status", replace(RATE_LIMITED, status=418, body=None, body_type="empty")),
    ]
    for case, answer in cases:
        with subtests.test(case=case):
            assert judge_answer(RATE_LIMIT, answer, TRIGGER).outcome is Outcome.DRIFTED


def test_assumed_trigger_of_one_label(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Outcome]] = [("answer", Outcome.INCONCLUSIVE), ("another", Outcome.DRIFTED)]
    for label, outcome in cases:
        with subtests.test(label=label):
            fields = {"assumed": {f"ask/trigger:{label}": "Which request brings it about is not shown."}}
            assert judge_answer(RATE_LIMIT, replace(RATE_LIMITED, status=418), fields).outcome is outcome


def test_endpoint_assumes_the_trigger_of_its_bad_credential_error() -> None:
    """A fault that the endpoint itself names is provoked as documented."""
    steps = load_steps("pa/endpoints/compliance_organizations/list_roles")
    assert {step.label for step in steps if "trigger" in step.request_assumptions} == {"wrong_credential"}
