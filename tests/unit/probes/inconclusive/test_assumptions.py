"""What we assumed of a request is to blame only for an answer about the request, and only for what it holds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.model import (
    Aspect,
    Attempt,
    Exchange,
    Finding,
    Outcome,
    Record,
    Request,
    Response,
    Severity,
)
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.reading.assertions import asserted_expectations
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.probes.judging.inconclusive.assumptions import find_assumed_path, is_part_of
from catalog_probe.probes.judging.judge import judge
from catalog_probe.probes.judging.verdicts.verdict import Verdict
from tests.harness.engines import catalog
from tests.unit.probes.inconclusive.evidence_making import error_body, evidence
from tests.unit.probes.judging_one import (
    ASKED,
    BODY,
    ENDPOINT,
    HEADERS,
    LIMITED,
    NOT_THERE,
    RATE_LIMIT,
    SUCCEEDED,
    judged,
    known,
    seen,
)

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

MODELS = "pa/endpoints/models/list_models"
SENT: Json = {"tools": [{"name": "x"}], "none": None}


@pytest.mark.parametrize(
    ("within", "url", "body", "counts"),
    [
        ("path", "", SENT, True),
        ("header:x-version", "", SENT, True),
        ("body", "", SENT, True),
        ("body", "", None, True),
        ("body:/tools", "", SENT, True),
        ("body:/tools/0/name", "", SENT, True),
        ("body:/none", "", SENT, True),
        ("body:/other", "", SENT, False),
        ("body:/tools", "", None, False),
        ("body:/other", "", "a text in which nobody can look it up", True),
        ("query:order", "?order=asc", SENT, True),
        ("query:order", "?order=&limit=1", SENT, True),
        ("query:order", "?limit=1", SENT, False),
        ("query:tools", "", SENT, False),
        ("query:at", "?at:x=1", SENT, False),
        ("query:at:x", "?at:x=1", SENT, True),
    ],
)
def test_an_assumption_counts_where_the_request_rests_on_it(within: str, url: str, body: Json, counts: bool) -> None:
    assert is_part_of(Request("POST", f"https://x/v1/a{url}", {}, body), within) is counts


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
        assert f"may be why: {next(iter(assumed)).partition('/')[2]}" in verdict.reason.detail
        assert set(seen(verdict).not_observed.values()) == {"assumption-failed"}


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            {"type": "error", "error": {"type": "not_found_error", "message": "old-1 is retired"}},
            "HTTP 404: old-1 is retired",
        ),
        ({"detail": "model old-1 is retired"}, "{'detail': 'model old-1 is retired'}"),
        (None, "empty body"),
    ],
)
def test_what_the_answer_said_is_told_before_what_we_assumed(body: Json, said: str) -> None:
    refused = Response(404, {}, body, "json" if body else "empty")
    verdict = judged(ENDPOINT, refused, {"assumed": {"ask/path": "The path is not shown."}}, "success")
    assert verdict.reason is not None
    told, _, assumed = verdict.reason.detail.partition("; what we assumed may be why: ")
    assert told.endswith(said)
    assert assumed == "path: The path is not shown."


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


def test_a_success_of_the_record_shows_that_nothing_assumed_of_the_request_is_to_blame() -> None:
    """Else a provider that begins to refuse a documented value would be our own fault for ever."""
    shipped = catalog()[ENDPOINT]
    record = Record(shipped.address, {**shipped.data, "assumed": {"ask/path": "not shown"}})
    labels = ("success", "service_tier_auto")
    expected = [each for each in asserted_expectations(record, catalog().__getitem__) if each.label in labels]

    def verdict(plain: Response) -> Verdict:
        answers = zip(labels, (plain, NOT_THERE), strict=True)
        exchanges = tuple(Exchange(label, Request("POST", ASKED), response) for label, response in answers)
        return judge(expected, Attempt("", 0.0, exchanges), known("pa"))

    assert verdict(SUCCEEDED).outcome is Outcome.DRIFTED
    assert verdict(NOT_THERE).outcome is Outcome.INCONCLUSIVE


@pytest.mark.parametrize(
    ("key", "status", "outcome"),
    [
        *(("ask/body:/x", status, Outcome.INCONCLUSIVE) for status in (400, 404, 405, 415, 422)),
        *(("ask/body:/x", status, Outcome.DRIFTED) for status in (401, 403, 409, 413)),
        *(("ask/path", status, Outcome.INCONCLUSIVE) for status in (404, 405)),
        *(("ask/path", status, Outcome.DRIFTED) for status in (400, 401, 415, 422)),
        *(("ask/endpoints", status, Outcome.DRIFTED) for status in (400, 404)),
    ],
)
def test_only_a_refusal_of_the_request_itself_blames_what_was_assumed_of_it(
    key: str, status: int, outcome: Outcome
) -> None:
    response = Response(status, HEADERS, error_body("x"), "json")
    request = Request("POST", ASKED, body={"x": 1})
    verdict = judged(MODELS, response, {"assumed": {key: "Not shown."}}, "success", request)
    assert verdict.outcome is outcome
    assert verdict.reason is None or verdict.reason.detail.endswith(f"{key.removeprefix('ask/')}: Not shown.")


@pytest.mark.parametrize(("severity", "blamed"), [(Severity.MUST, True), (Severity.SHOULD, False)])
def test_an_assumed_path_is_not_blamed_for_a_status_that_is_assumed_as_well(severity: Severity, blamed: bool) -> None:
    expected = Expected("answer", RATE_LIMIT, envelope("pa"), 429, request_assumptions={"path": "not shown"})
    status = Finding("status-differs", Aspect.STATUS, severity, "", "answer", observed=404, assertion="answer/status")
    seen_so = evidence(expected, Response(404, HEADERS, BODY, "json"), Verdict(Outcome.DRIFTED, None, (status,)))
    assert (find_assumed_path(seen_so) is not None) is blamed


TRIGGER = {"assumed": {"ask/trigger": "Which request brings it about is not shown."}}


@pytest.mark.parametrize(
    "answer",
    [
        replace(LIMITED, status=200),
        replace(LIMITED, status=404, body=error_body("not_found_error")),
        replace(LIMITED, status=418, body=error_body("teapot")),
        replace(LIMITED, body=error_body("teapot")),
        replace(LIMITED, status=404, body=None, body_type="empty"),
    ],
    ids=["success", "documented error", "undocumented error", "undocumented type", "documented status without a body"],
)
def test_another_answer_to_an_assumed_trigger_is_no_drift(answer: Response) -> None:
    assumed = judged(RATE_LIMIT, answer, TRIGGER)
    assert assumed.reason is not None
    assert assumed.reason.code == ReasonCode.ASSUMPTION_FAILED
    assert assumed.outcome is Outcome.INCONCLUSIVE
    assert judged(RATE_LIMIT, answer, {}).outcome is Outcome.DRIFTED


@pytest.mark.parametrize(
    "answer",
    [
        replace(LIMITED, headers={}),
        replace(LIMITED, status=418, body={"unknown": "shape"}),
        replace(LIMITED, status=418, body=None, body_type="empty"),
    ],
    ids=["a header is missing", "no envelope of the provider", "an empty body under an undocumented status"],
)
def test_an_assumed_trigger_excuses_no_other_difference(answer: Response) -> None:
    assert judged(RATE_LIMIT, answer, TRIGGER).outcome is Outcome.DRIFTED


@pytest.mark.parametrize(("label", "outcome"), [("answer", Outcome.INCONCLUSIVE), ("another", Outcome.DRIFTED)])
def test_a_trigger_may_be_assumed_of_one_label_alone(label: str, outcome: Outcome) -> None:
    fields = {"assumed": {f"ask/trigger:{label}": "Which request brings it about is not shown."}}
    assert judged(RATE_LIMIT, replace(LIMITED, status=418), fields).outcome is outcome


def test_an_endpoint_assumes_the_trigger_of_the_error_that_a_bad_credential_gets() -> None:
    """What a rule of the endpoint names is provoked as the rule says."""
    endpoint = catalog()["pa/endpoints/compliance_organizations/list_roles"]
    labels = {
        expected.label
        for expected in asserted_expectations(endpoint, catalog().__getitem__)
        if "trigger" in expected.request_assumptions
    }
    assert labels == {"wrong_credential"}
