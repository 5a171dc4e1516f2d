"""Which records a recorded exchange is evidence of, and what filtered recordings and secrets change."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model import Event, Exchange, Outcome, Request, Response
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.probes.targets.target import Provider, Target
from catalog_probe.probes.traffic import record_judge
from catalog_probe.probes.traffic.normalizing import make_redactor
from catalog_probe.probes.traffic.recordings import RecordedAttempt, Recording
from catalog_probe.probes.traffic.sources import unknown_target
from catalog_probe.probes.traffic.traffic import Traffic
from catalog_probe.probes.wire.answer import parse_json
from catalog_probe.probes.wire.known_secrets import Work
from catalog_probe.probes.wire.redaction import TOO_MUCH
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

pytestmark = pytest.mark.usefixtures("shared_recognizers")

AT = "2026-01-31T04:00:00Z"
KEY = "sk-canary-7f3a9c20-not-to-be-seen"
URL = "http://127.0.0.1:9/pa/v1/messages"

UNKNOWN_MODEL = "pa/errors/general/unknown_model"
OVERLOADED = "pa/errors/general/overloaded"
MISSING_TOKEN = "pb/errors/general/missing_token"
CREATE = "pa/endpoints/messages/create_message"

HEADERS = {
    "content-type": "application/json",
    "request-id": "req_011",
    "pa-organization-id": "canary-org-5b1f7c0a",
    "pa-workspace-id": "wrkspc_canary0001",
    "x-should-retry": "true",
}


def error_body(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_011"}


OVERLOADED_BODY = error_body("overloaded_error", "Overloaded")
NO_RETRY_HEADERS = {**HEADERS, "x-should-retry": "false"}
REFUSED = ("invalid_request_error", "something is wrong")


def make_attempt(
    status: int, body: Any, headers: dict[str, str] | None = None, url: str = URL, **fields: Any
) -> RecordedAttempt:
    request = Request("POST", url, {"x-api-key": KEY}, {"model": "small", **fields})
    response = Response(status, HEADERS if headers is None else headers, body, "json")
    return RecordedAttempt("night.har, entry 1", (Exchange("", request, response),), AT)


def judge_traffic(*attempts: RecordedAttempt, target: Target | None = None, is_from_mock: bool = False) -> Traffic:
    recording = Recording("night.har", attempts, is_from_mock=is_from_mock)
    return Traffic([recording], catalog(), [target or unknown_target()], of_target=target is not None)


def judge_record(address: str, *attempts: RecordedAttempt) -> Result:
    return judge_traffic(*attempts).result(address)


OVERLOADED_ATTEMPT = make_attempt(529, OVERLOADED_BODY)


def test_unambiguous_refusal_is_evidence_of_its_record() -> None:
    verdict = judge_record(OVERLOADED, OVERLOADED_ATTEMPT)
    assert verdict.outcome is Outcome.CONFORMS, verdict.findings
    assert verdict.trigger == "recorded"
    assert verdict.observed_at == "2026-01-31T04:00:00.000Z"
    (observation,) = verdict.observations
    assert observation.endpoint == CREATE
    assert {"status", "type"} <= set(observation.matched)


def test_duplicate_name_is_noted_without_its_secret() -> None:
    text = json.dumps(OVERLOADED_BODY).replace('"request_id"', f'"{KEY}": 1, "{KEY}": 2, "request_id"')
    verdict = judge_record(OVERLOADED, make_attempt(529, parse_json(text)))
    assert verdict.outcome is Outcome.CONFORMS
    (note,) = [finding for finding in verdict.findings if finding.code == FindingCode.DUPLICATE_NAME]
    assert note.location.startswith("/${")
    assert KEY not in json.dumps(verdict.to_json())


def test_record_without_exchange_is_not_probed() -> None:
    verdict = judge_record(UNKNOWN_MODEL, OVERLOADED_ATTEMPT)
    assert verdict.outcome is Outcome.NOT_PROBED
    assert verdict.reason is not None
    assert verdict.reason.code == "not-in-traffic"


def test_a_recording_selects_its_providers_and_is_evidence_of_few_of_their_records() -> None:
    traffic = judge_traffic(OVERLOADED_ATTEMPT)
    assert set(traffic.providers) == {"pa"}
    assert [traffic.has_evidence_of(address) for address in (OVERLOADED, UNKNOWN_MODEL)] == [True, False]
    assert set(judge_traffic(make_attempt(200, {}, {}, url="")).providers) == {"pa", "pb", "pc", "pd"}, (
        "of none, so of all"
    )


def test_unambiguous_refusal_drifts() -> None:
    verdict = judge_record(OVERLOADED, make_attempt(529, {**OVERLOADED_BODY, "request_id": "req_other"}))
    assert verdict.outcome is Outcome.DRIFTED
    assert {finding.location for finding in verdict.drifts} == ANOTHER_REQUEST_ID


def judged_records(*attempts: RecordedAttempt, provider: str = "pa") -> dict[str, Outcome]:
    """Return the outcomes of the records that the traffic is evidence of."""
    traffic = judge_traffic(*attempts)
    outcomes = {
        str(record.address): traffic.result(str(record.address)).outcome for record in catalog().select(provider)
    }
    return {address: outcome for address, outcome in outcomes.items() if outcome is not Outcome.NOT_PROBED}


INVALID_KEY = ("authentication_error", "invalid x-api-key")
UNKNOWN_ERROR = {"type": "error", "error": {"type": "something_new", "message": "new"}, "request_id": "req_011"}
NO_CREDIT = (
    "invalid_request_error",
    "Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits.",
)


def test_ambiguous_or_unknown_answer_is_evidence_of_no_record(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, RecordedAttempt]] = [
        ("shared-type", make_attempt(400, error_body(*REFUSED), HEADERS)),
        ("redacted-id", make_attempt(401, error_body(*INVALID_KEY), {**NO_RETRY_HEADERS, "request-id": "[redacted]"})),
        ("other-id", make_attempt(401, {**error_body(*INVALID_KEY), "request_id": "req_other"}, NO_RETRY_HEADERS)),
        ("credit", make_attempt(400, error_body(*NO_CREDIT), NO_RETRY_HEADERS)),
        ("credit-no-url", make_attempt(400, error_body(*NO_CREDIT), NO_RETRY_HEADERS, url="")),
        ("credit-403", make_attempt(403, error_body(*NO_CREDIT), NO_RETRY_HEADERS, url="")),
        ("type", make_attempt(529, error_body("capacity_error", "Overloaded"))),
        ("status", make_attempt(418, OVERLOADED_BODY)),
        ("both", make_attempt(529, UNKNOWN_ERROR)),
    ]
    for case, attempt in cases:
        with subtests.test(case=case):
            assert judged_records(replace(attempt, provider="pa")) == {}


def list_unrecognised(*attempts: RecordedAttempt) -> list[dict[str, Any]]:
    refusals: list[dict[str, Any]] = judge_traffic(*attempts).to_json()["unrecognised"]
    return refusals


def test_undocumented_refusals_are_counted() -> None:
    teapot = make_attempt(418, error_body("teapot_error", "short and stout"))
    unknown_endpoint = make_attempt(418, error_body("teapot_error", "short"), url="http://127.0.0.1:9/pa/v1/nowhere")
    refusals = list_unrecognised(teapot, OVERLOADED_ATTEMPT, unknown_endpoint, teapot)
    counts = {
        (refusal["endpoint"], refusal["status"], refusal["code"], refusal["why"]): refusal["count"]
        for refusal in refusals
    }
    undocumented = "like no documented answer"
    assert counts == {(CREATE, 418, "teapot_error", undocumented): 2, ("", 418, "teapot_error", undocumented): 1}


def make_stream_attempt(*events: Event) -> RecordedAttempt:
    response = Response(200, {"content-type": "text/event-stream"}, None, "empty", events=events)
    request = Request("POST", "http://127.0.0.1:9/pc/v1/responses", {}, {"model": "m-1", "stream": True})
    return RecordedAttempt("night.har, entry 1", (Exchange("", request, response),), AT, "pc")


def test_an_error_in_a_stream_is_listed_with_its_code_and_an_example() -> None:
    created = Event("response.created", {"type": "response.created", "response": {"id": "resp_1", "error": None}})
    for code, kind, candidates in [
        ("server_is_overloaded", "service_unavailable_error", ["pc/errors/server/server_is_overloaded"]),
        ("server_error", "server_error", ["pc/errors/stream/server_error"]),
        ("a_new_code", "new_error", []),
    ]:
        error = {"type": kind, "code": code, "message": f"Not now, {KEY}.", "param": None}
        attempt = make_stream_attempt(created, Event("error", {"type": "error", "error": error, "sequence_number": 1}))
        keyed = replace(attempt.exchanges[0].request, headers={"authorization": f"Bearer {KEY}"})
        attempt = replace(attempt, exchanges=(replace(attempt.exchanges[0], request=keyed),))
        (refusal,) = list_unrecognised(attempt, attempt)
        assert (refusal["code"], refusal["count"], list(refusal["candidates"])) == (code, 2, candidates)
        assert refusal["endpoint"] == "pc/endpoints/responses/create_response"
        assert refusal["example"].startswith("Not now, ")
        assert KEY not in json.dumps(refusal)


def test_a_stream_without_an_error_is_no_refusal() -> None:
    response = {"id": "resp_1", "status": "completed", "error": None}
    completed = Event("response.completed", {"type": "response.completed", "response": response})
    assert list_unrecognised(make_stream_attempt(completed)) == []


def test_ambiguous_refusal_is_listed_with_its_candidates() -> None:
    (refusal,) = list_unrecognised(make_attempt(401, error_body(*INVALID_KEY), NO_RETRY_HEADERS))
    assert refusal["why"] == "which say too little to be evidence of one record"
    assert refusal["endpoint"] == CREATE
    assert len(refusal["candidates"]) > 1
    assert {catalog()[address].data["http_status"] for address in refusal["candidates"]} == {401}


def test_listed_refusals_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_judge, "MAX_REFUSAL_KINDS", 3)
    many = [make_attempt(418, error_body(f"teapot_{number}", "short")) for number in range(5)]
    assert len(list_unrecognised(*many)) == 3
    assert judge_traffic(*many).to_json()["left_out"] == {"like no documented answer": 5}


BAD_TOKEN = {"error": {"code": 401, "message": "Request had invalid credentials.", "status": "UNAUTHENTICATED"}}


def test_redacted_key_counts_as_a_credential(subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, str], bool]] = [
        ({"authorization": "[redacted]"}, False),
        ({"authorization": "***"}, False),
        ({}, True),
    ]
    for headers, is_candidate in cases:
        with subtests.test(headers=headers):
            response = Response(401, {"content-type": "application/json"}, BAD_TOKEN, "json")
            url = "http://127.0.0.1:9/pb/v1beta/models/small:generateContent"
            attempt = RecordedAttempt(
                "night.har, entry 1", (Exchange("", Request("POST", url, headers), response),), AT, "pb"
            )
            (refusal,) = list_unrecognised(attempt)
            assert (MISSING_TOKEN in refusal["candidates"]) is is_candidate, refusal


def test_answer_of_several_records_confirms_none() -> None:
    """The answer does not say which fault provoked it."""
    traffic = judge_traffic(make_attempt(400, error_body(*REFUSED), NO_RETRY_HEADERS))
    outcomes = {
        str(record.address): traffic.result(str(record.address)).outcome for record in catalog().select(provider="pa")
    }
    assert Outcome.CONFORMS not in {outcome for address, outcome in outcomes.items() if "/errors/" in address}
    assert sum(traffic.to_json()["left_out"].values()) == 1


def test_own_attempt_is_judged_by_its_label() -> None:
    """The label says which record was probed, even if other records document the same answer."""
    record = "pa/errors/invalid_request/prefill_unsupported"
    attempt = make_attempt(400, error_body(*REFUSED), NO_RETRY_HEADERS)
    labelled = replace(attempt, exchanges=(replace(attempt.exchanges[0], label="answer"),), record=record)
    assert judge_record(record, attempt).outcome is Outcome.NOT_PROBED
    assert judge_record(record, labelled).outcome is Outcome.CONFORMS
    assert judge_record(record, replace(labelled, record="pa/errors/general/none")).outcome is Outcome.NOT_PROBED


def test_missing_header_of_a_filtered_recording_is_not_observed(subtests: pytest.Subtests) -> None:
    cases: list[tuple[bool, Outcome]] = [(True, Outcome.DRIFTED), (False, Outcome.CONFORMS)]
    for complete, outcome in cases:
        with subtests.test(complete=complete):
            bare = {key: value for key, value in HEADERS.items() if key != "pa-workspace-id"}
            attempt = replace(make_attempt(529, OVERLOADED_BODY, bare), headers_complete=complete)
            verdict = judge_record(OVERLOADED, attempt)
            assert verdict.outcome is outcome, verdict.findings
            (observation,) = verdict.observations
            assert ("header:pa-workspace-id" in observation.not_observed) is not complete
            assert "header:pa-workspace-id" not in observation.matched


def test_recording_without_request_id_counts_as_filtered() -> None:
    bare = {"content-type": "application/json"}
    assert judge_record(OVERLOADED, make_attempt(529, OVERLOADED_BODY, bare)).outcome is Outcome.CONFORMS
    with_request_id = {"content-type": "application/json", "request-id": "req_011"}
    assert judge_record(OVERLOADED, make_attempt(529, OVERLOADED_BODY, with_request_id)).outcome is Outcome.DRIFTED


def test_present_header_of_a_filtered_recording_is_compared() -> None:
    attempt = make_attempt(402, error_body("billing_error", "Pay first."), HEADERS)
    verdict = judge_record("pa/errors/general/payment_problem", replace(attempt, headers_complete=False))
    assert {finding.location for finding in verdict.drifts} == {"x-should-retry"}


# The locations of the drifts of an answer whose request id is not that of its header.
ANOTHER_REQUEST_ID = {"equals:/request_id", "contains"}

REDACTION_MARKS = ["[redacted]", "REDACTED", "***", "XXXX", "<filtered>", "req_[redacted]", "**REDACTED**"]


def test_redacted_header_is_not_observed(subtests: pytest.Subtests) -> None:
    for mark in [*REDACTION_MARKS, ""]:
        with subtests.test(mark=mark):
            attempt = make_attempt(529, OVERLOADED_BODY, {**HEADERS, "request-id": mark})
            verdict = judge_record(OVERLOADED, replace(attempt, provider="pa"))
            assert verdict.outcome is Outcome.CONFORMS, verdict.findings
            (observation,) = verdict.observations
            hidden = {"header:request-id", "relation:equals:/request_id"}
            assert hidden <= observation.not_observed.keys()
            assert hidden.isdisjoint({*observation.matched, *observation.mismatched})
            assert {"status", "type", "header:pa-workspace-id"} <= set(observation.matched)


def test_ordinary_header_value_is_compared(subtests: pytest.Subtests) -> None:
    cases: list[str] = ["req_other", "filtered", "content_removed", "sk-*** is no key"]
    for value in cases:
        with subtests.test(value=value):
            attempt = make_attempt(529, OVERLOADED_BODY, {**HEADERS, "request-id": value})
            assert {finding.location for finding in judge_record(OVERLOADED, attempt).drifts} == ANOTHER_REQUEST_ID


def test_redacted_field_is_not_observed() -> None:
    body = {**OVERLOADED_BODY, "request_id": REDACTION_MARKS[0]}
    verdict = judge_record(OVERLOADED, make_attempt(529, body))
    assert verdict.outcome is Outcome.CONFORMS, verdict.findings
    (observation,) = verdict.observations
    assert not any("/request_id" in key for key in (*observation.matched, *observation.mismatched))


def test_redacted_error_type_matches_no_record() -> None:
    assert judged_records(make_attempt(529, error_body(REDACTION_MARKS[0], "Overloaded"))) == {}


def make_own_attempt(**body: Any) -> RecordedAttempt:
    """Return an attempt of our own run, which has all headers."""
    attempt = make_attempt(529, {**OVERLOADED_BODY, **body})
    return replace(attempt, exchanges=(replace(attempt.exchanges[0], label="answer"),), record=OVERLOADED)


def test_own_redaction_is_not_observed() -> None:
    verdict = judge_record(OVERLOADED, make_own_attempt(request_id="[hidden: contains ${PA_API_KEY}]"))
    assert verdict.outcome is Outcome.CONFORMS, verdict.findings
    (observation,) = verdict.observations
    assert observation.not_observed["relation:equals:/request_id"] == "not-recorded"


def test_foreign_redaction_mark_in_an_own_run_is_compared() -> None:
    assert {
        finding.location for finding in judge_record(OVERLOADED, make_own_attempt(request_id="[redacted]")).drifts
    } == ANOTHER_REQUEST_ID


def test_fully_hidden_body_is_evidence_of_nothing() -> None:
    attempt = make_own_attempt()
    (exchange,) = attempt.exchanges
    assert exchange.response is not None
    hidden = replace(attempt, exchanges=(replace(exchange, response=replace(exchange.response, body=TOO_MUCH)),))
    traffic = judge_traffic(hidden)
    assert traffic.result(OVERLOADED).outcome is Outcome.NOT_PROBED
    assert traffic.to_json()["left_out"] == {"hidden whole": 1}


def test_values_are_compared_before_redaction() -> None:
    headers = {**HEADERS, "request-id": f"req_{KEY}"}
    for body_id, drifts in ((f"req_{KEY}", set()), (f"req_{KEY}-other", {"equals:/request_id"})):
        body = {**OVERLOADED_BODY, "request_id": body_id}
        verdict = judge_record(OVERLOADED, make_attempt(529, body, headers))
        assert {finding.location for finding in verdict.drifts} == drifts
        assert KEY not in json.dumps(verdict.to_json())


def test_empty_header_of_a_complete_recording_is_compared() -> None:
    attempt = make_attempt(529, OVERLOADED_BODY, {**HEADERS, "pa-workspace-id": ""})
    assert judge_record(OVERLOADED, replace(attempt, headers_complete=True)).outcome is Outcome.DRIFTED
    assert judge_record(OVERLOADED, attempt).outcome is Outcome.CONFORMS


def make_live_target(base: str) -> Target:
    provider = Provider("pa", {"base_url": base}, key_header="x-api-key", header_prefix="acme-", id_prefix="acme_")
    return Target("night", live=True, allow=frozenset(), providers={"pa": provider})


def test_live_target_uses_only_its_own_traffic() -> None:
    real = {key.replace("pa-", "acme-"): value for key, value in HEADERS.items()}
    attempt = make_attempt(529, OVERLOADED_BODY, real, "https://api.example/v1/messages")
    traffic = judge_traffic(attempt, OVERLOADED_ATTEMPT, target=make_live_target("https://api.example"))
    verdict = traffic.result(OVERLOADED)
    assert verdict.outcome is Outcome.CONFORMS, verdict.findings
    assert len(verdict.attempts) == 1
    assert traffic.to_json()["left_out"] == {"to no provider of the target": 1}
    timeless = replace(attempt, at="")
    assert (
        judge_traffic(timeless, target=make_live_target("https://api.example")).result(OVERLOADED).outcome
        is Outcome.NOT_PROBED
    )
    is_from_mock = judge_traffic(attempt, target=make_live_target("https://api.example"), is_from_mock=True)
    assert is_from_mock.result(OVERLOADED).outcome is Outcome.NOT_PROBED


def test_host_with_the_same_prefix_is_another() -> None:
    near = make_attempt(529, OVERLOADED_BODY, url="https://api.example.evil/v1/messages")
    assert (
        judge_traffic(near, target=make_live_target("https://api.example")).result(OVERLOADED).outcome
        is Outcome.NOT_PROBED
    )


def test_results_contain_no_secret() -> None:
    body = error_body("overloaded_error", f"Overloaded; you sent {KEY}")
    verdict = judge_record(OVERLOADED, make_attempt(529, body, {**HEADERS, "set-cookie": "session=canary-cookie-99"}))
    text = json.dumps(verdict.to_json())
    for secret in (KEY, "canary-cookie-99", "canary-org-5b1f7c0a", "wrkspc_canary0001"):
        assert secret not in text
    assert verdict.attempts, "the exchange itself is evidence"


def test_results_contain_no_secret_split_over_events() -> None:
    pieces = tuple(Event("text", {"text": KEY[at : at + 8]}) for at in range(0, len(KEY), 8))
    attempt = make_attempt(200, None, stream=True)
    (exchange,) = attempt.exchanges
    assert exchange.response is not None
    streamed = replace(exchange, response=replace(exchange.response, body=None, body_type="empty", events=pieces))
    verdict = judge_record(CREATE, replace(attempt, exchanges=(streamed,)))
    (kept_exchange,) = (exchange for attempt in verdict.attempts for exchange in attempt.exchanges)
    assert kept_exchange.response is not None
    hidden = {"text": "[hidden: part of ${CREDENTIAL_1}]"}
    assert [event.data for event in kept_exchange.response.events or ()] == [hidden] * len(pieces)


def test_requests_with_different_keys_are_different() -> None:
    """Hidden keys still differ: their accounts may be answered differently."""
    same, other = (make_attempt(529, OVERLOADED_BODY) for _ in range(2))
    request = replace(other.exchanges[0].request, headers={"x-api-key": "sk-another-canary-11aa22bb"})
    response = make_attempt(529, OVERLOADED_BODY, {"request-id": "req_011"}).exchanges[0].response
    other_request = replace(other, exchanges=(Exchange("", request, response),))
    assert judge_record(OVERLOADED, same, other_request).outcome is Outcome.CONFORMS
    same_request = replace(other_request, exchanges=(Exchange("", same.exchanges[0].request, response),))
    assert judge_record(OVERLOADED, same, same_request).outcome is Outcome.FLAKY


def test_different_requests_may_have_different_answers() -> None:
    good = {"type": "message", "id": "msg_1"}
    full = {
        **good,
        "role": "assistant",
        "model": "small",
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    assert judge_record(CREATE, make_attempt(200, full)).outcome is Outcome.CONFORMS
    other = make_attempt(200, good, messages=[])
    assert judge_record(CREATE, other).outcome is Outcome.DRIFTED
    assert judge_record(CREATE, make_attempt(200, full), other).outcome is Outcome.CONFORMS
    assert judge_record(CREATE, make_attempt(200, full), make_attempt(200, good)).outcome is Outcome.FLAKY


def test_key_in_the_query_parameter_of_the_target_is_hidden() -> None:
    url = f"https://h.example/v1/messages?license={KEY}&limit=2"
    exchange = Exchange("answer", Request("GET", url), Response(200, {}, {"echo": f"was {KEY}"}, "json"))
    attempt = RecordedAttempt("here", (exchange,))
    by_query = replace(unknown_target().providers["pa"], key_query="license")
    assert KEY in make_redactor([attempt], [unknown_target()]).redact_url(url, Work()), "nothing says that it is one"
    redactor = make_redactor([attempt], [replace(unknown_target(), providers={"pa": by_query})])
    assert redactor.redact_url(url, Work()) == "https://h.example/v1/messages?license=${CREDENTIAL_1}&limit=2"
    assert redactor.redact_text(f"was {KEY}") == "[hidden: contains ${CREDENTIAL_1}]"
