"""Of which records a recorded exchange is evidence, and of which it is none; what was filtered; what was secret."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model import Event, Exchange, Outcome, Request, Response
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.probes.targets.target import Provider, Target
from catalog_probe.probes.traffic import record_judge
from catalog_probe.probes.traffic.normalizing import make_redactor
from catalog_probe.probes.traffic.recording import RecordedAttempt, Recording
from catalog_probe.probes.traffic.sources import unknown_target
from catalog_probe.probes.traffic.traffic import Traffic
from catalog_probe.probes.wire.body import parse_json
from catalog_probe.probes.wire.redaction.redactor import TOO_MUCH
from catalog_probe.probes.wire.redaction.work import Work
from tests.harness.engines import catalog

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

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


def error(kind: str, message: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_011"}


NOT_AGAIN = {**HEADERS, "x-should-retry": "false"}
REFUSED = ("invalid_request_error", "something is wrong")


def exchanged(
    status: int, body: Any, headers: dict[str, str] | None = None, url: str = URL, **asked: Any
) -> RecordedAttempt:
    request = Request("POST", url, {"x-api-key": KEY}, {"model": "small", **asked})
    shown = Response(status, HEADERS if headers is None else headers, body, "json")
    return RecordedAttempt("night.har, entry 1", (Exchange("", request, shown),), AT)


def traffic(*recorded: RecordedAttempt, target: Target | None = None, of_a_mock: bool = False) -> Traffic:
    recording = Recording("night.har", recorded, is_from_mock=of_a_mock)
    return Traffic([recording], catalog(), [target or unknown_target()], of_target=target is not None)


def result(address: str, *recorded: RecordedAttempt) -> Result:
    return traffic(*recorded).result(address)


OVERLOAD = exchanged(529, error("overloaded_error", "Overloaded"))


def test_a_refusal_is_evidence_of_the_one_record_that_it_can_be() -> None:
    verdict = result(OVERLOADED, OVERLOAD)
    assert verdict.outcome is Outcome.CONFORMS, verdict.findings
    assert verdict.trigger == "recorded"
    assert verdict.observed_at == "2026-01-31T04:00:00.000Z"
    (observation,) = verdict.observations
    assert observation.endpoint == CREATE
    assert {"status", "type"} <= set(observation.matched)


def test_a_name_that_a_recorded_body_has_twice_is_told_and_shows_no_secret() -> None:
    text = json.dumps(error("overloaded_error", "Overloaded")).replace(
        '"request_id"', f'"{KEY}": 1, "{KEY}": 2, "request_id"'
    )
    verdict = result(OVERLOADED, exchanged(529, parse_json(text)))
    assert verdict.outcome is Outcome.CONFORMS
    (told,) = [finding for finding in verdict.findings if finding.code == FindingCode.DUPLICATE_NAME]
    assert told.location.startswith("/${")
    assert KEY not in json.dumps(verdict.to_json())


def test_what_nobody_exchanged_is_not_in_the_traffic() -> None:
    verdict = result(UNKNOWN_MODEL, OVERLOAD)
    assert verdict.outcome is Outcome.NOT_PROBED
    assert verdict.reason is not None
    assert verdict.reason.code == "not-in-traffic"


def test_a_refusal_that_is_surely_of_one_record_drifts_where_it_differs() -> None:
    verdict = result(OVERLOADED, exchanged(529, {**error("overloaded_error", "Overloaded"), "request_id": "req_other"}))
    assert verdict.outcome is Outcome.DRIFTED
    assert {finding.location for finding in verdict.drifts} == {"equals:/request_id"}


def judged_records(*recorded: RecordedAttempt, provider: str = "pa") -> dict[str, Outcome]:
    """The records that the traffic is evidence of, by what it says of each."""
    judged = traffic(*recorded)
    outcomes = {
        str(record.address): judged.result(str(record.address)).outcome for record in catalog().select(provider)
    }
    return {address: outcome for address, outcome in outcomes.items() if outcome is not Outcome.NOT_PROBED}


INVALID_KEY = ("authentication_error", "invalid x-api-key")
UNLIKE = {"type": "error", "error": {"type": "something_new", "message": "new"}, "request_id": "req_011"}
NO_CREDIT = (
    "invalid_request_error",
    "Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits.",
)


@pytest.mark.parametrize(
    "recorded",
    [
        exchanged(400, error(*REFUSED), HEADERS),
        exchanged(401, error(*INVALID_KEY), {**NOT_AGAIN, "request-id": "[redacted]"}),
        exchanged(401, {**error(*INVALID_KEY), "request_id": "req_other"}, NOT_AGAIN),
        exchanged(400, error(*NO_CREDIT), NOT_AGAIN),
        exchanged(400, error(*NO_CREDIT), NOT_AGAIN, url=""),
        exchanged(403, error(*NO_CREDIT), NOT_AGAIN, url=""),
        exchanged(529, error("capacity_error", "Overloaded")),
        exchanged(418, error("overloaded_error", "Overloaded")),
        exchanged(529, UNLIKE),
    ],
    ids="shared-type redacted-id other-id credit credit-no-url credit-403 type status both".split(),
)
def test_an_answer_that_is_surely_of_no_record_is_held_against_none(recorded: RecordedAttempt) -> None:
    assert judged_records(replace(recorded, provider="pa")) == {}


def unrecognised(*recorded: RecordedAttempt) -> list[dict[str, Any]]:
    verdict: list[dict[str, Any]] = traffic(*recorded).to_json()["unrecognised"]
    return verdict


def test_refusals_that_no_record_documents_are_counted_by_endpoint_status_and_code() -> None:
    teapot = exchanged(418, error("teapot_error", "short and stout"))
    nowhere = exchanged(418, error("teapot_error", "short"), url="http://127.0.0.1:9/pa/v1/nowhere")
    told = unrecognised(teapot, OVERLOAD, nowhere, teapot)
    counts = {
        (refusal["endpoint"], refusal["status"], refusal["code"], refusal["why"]): refusal["count"] for refusal in told
    }
    undocumented = "like no documented answer"
    assert counts == {(CREATE, 418, "teapot_error", undocumented): 2, ("", 418, "teapot_error", undocumented): 1}


def test_an_ambiguous_refusal_is_listed_with_its_candidates() -> None:
    (told,) = unrecognised(exchanged(401, error(*INVALID_KEY), NOT_AGAIN))
    assert told["why"] == "which could be that of several records"
    assert told["endpoint"] == CREATE
    assert len(told["candidates"]) > 1
    assert {catalog()[address].data["http_status"] for address in told["candidates"]} == {401}


def test_of_codes_without_end_only_the_first_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_judge, "MAX_REFUSAL_KINDS", 3)
    many = [exchanged(418, error(f"teapot_{number}", "short")) for number in range(5)]
    assert len(unrecognised(*many)) == 3
    assert traffic(*many).left_out == {"like no documented answer": 5}


BAD_TOKEN = {"error": {"code": 401, "message": "Request had invalid credentials.", "status": "UNAUTHENTICATED"}}


@pytest.mark.parametrize(
    ("headers", "is_candidate"),
    [({"authorization": "[redacted]"}, False), ({"authorization": "***"}, False), ({}, True)],
)
def test_a_request_that_shows_a_key_is_never_one_without_a_credential(
    headers: dict[str, str], is_candidate: bool
) -> None:
    response = Response(401, {"content-type": "application/json"}, BAD_TOKEN, "json")
    url = "http://127.0.0.1:9/pb/v1beta/models/small:generateContent"
    recorded = RecordedAttempt("night.har, entry 1", (Exchange("", Request("POST", url, headers), response),), AT, "pb")
    (told,) = unrecognised(recorded)
    assert (MISSING_TOKEN in told["candidates"]) is is_candidate, told


def test_an_answer_that_several_records_document_verifies_none() -> None:
    """Nothing in it says which of them was brought about."""
    judged = traffic(exchanged(400, error(*REFUSED), NOT_AGAIN))
    statuses = {
        str(record.address): judged.result(str(record.address)).outcome for record in catalog().select(provider="pa")
    }
    assert Outcome.CONFORMS not in {outcome for address, outcome in statuses.items() if "/errors/" in address}
    assert sum(judged.left_out.values()) == 1


def test_attempts_of_ours_are_judged_by_their_labels() -> None:
    """The label says what was asked, so an answer that many records share is evidence of its own."""
    record = "pa/errors/invalid_request/prefill_unsupported"
    attempt = exchanged(400, error(*REFUSED), NOT_AGAIN)
    labelled = replace(attempt, exchanges=(replace(attempt.exchanges[0], label="answer"),), record=record)
    assert result(record, attempt).outcome is Outcome.NOT_PROBED
    assert result(record, labelled).outcome is Outcome.CONFORMS
    assert result(record, replace(labelled, record="pa/errors/general/none")).outcome is Outcome.NOT_PROBED


@pytest.mark.parametrize(("complete", "outcome"), [(True, Outcome.DRIFTED), (False, Outcome.CONFORMS)])
def test_a_header_that_a_filtered_recording_lacks_is_not_looked_at(complete: bool, outcome: Outcome) -> None:
    bare = {key: value for key, value in HEADERS.items() if key != "pa-workspace-id"}
    attempt = replace(exchanged(529, error("overloaded_error", "Overloaded"), bare), headers_complete=complete)
    verdict = result(OVERLOADED, attempt)
    assert verdict.outcome is outcome, verdict.findings
    (observation,) = verdict.observations
    assert ("header:pa-workspace-id" in observation.not_observed) is not complete
    assert "header:pa-workspace-id" not in observation.matched


def test_a_recording_without_any_request_id_was_filtered() -> None:
    bare = {"content-type": "application/json"}
    assert result(OVERLOADED, exchanged(529, error("overloaded_error", "Overloaded"), bare)).outcome is Outcome.CONFORMS
    kept = {"content-type": "application/json", "request-id": "req_011"}
    assert result(OVERLOADED, exchanged(529, error("overloaded_error", "Overloaded"), kept)).outcome is Outcome.DRIFTED


def test_a_present_header_is_looked_at_whatever_was_filtered() -> None:
    attempt = exchanged(404, error("not_found_error", "model: no-such-model"), HEADERS)
    assert result(UNKNOWN_MODEL, replace(attempt, headers_complete=False)).outcome is Outcome.DRIFTED


MARKS = ["[redacted]", "REDACTED", "***", "XXXX", "<filtered>", "req_[redacted]", "**REDACTED**"]


@pytest.mark.parametrize("mark", [*MARKS, ""])
def test_a_header_that_was_hidden_is_not_observed(mark: str) -> None:
    attempt = exchanged(529, error("overloaded_error", "Overloaded"), {**HEADERS, "request-id": mark})
    verdict = result(OVERLOADED, replace(attempt, provider="pa"))
    assert verdict.outcome is Outcome.CONFORMS, verdict.findings
    (observation,) = verdict.observations
    hidden = {"header:request-id", "relation:equals:/request_id"}
    assert hidden <= observation.not_observed.keys()
    assert hidden.isdisjoint({*observation.matched, *observation.mismatched})
    assert {"status", "type", "header:pa-workspace-id"} <= set(observation.matched)


@pytest.mark.parametrize("value", ["req_other", "filtered", "content_removed", "sk-*** is no key"])
def test_a_value_that_no_recorder_hides_with_is_observed(value: str) -> None:
    attempt = exchanged(529, error("overloaded_error", "Overloaded"), {**HEADERS, "request-id": value})
    assert {finding.location for finding in result(OVERLOADED, attempt).drifts} == {"equals:/request_id"}


@pytest.mark.parametrize("mark", MARKS)
def test_a_field_that_was_hidden_is_not_observed(mark: str) -> None:
    shown = {**error("overloaded_error", "Overloaded"), "request_id": mark}
    verdict = result(OVERLOADED, exchanged(529, shown))
    assert verdict.outcome is Outcome.CONFORMS, verdict.findings
    (observation,) = verdict.observations
    assert not any("/request_id" in within for within in (*observation.matched, *observation.mismatched))


@pytest.mark.parametrize("mark", MARKS)
def test_an_error_whose_type_was_hidden_is_of_no_record(mark: str) -> None:
    assert judged_records(exchanged(529, error(mark, "Overloaded"))) == {}


def of_ours(**body: Any) -> RecordedAttempt:
    """An attempt of a run of ours; it has all headers."""
    attempt = exchanged(529, {**error("overloaded_error", "Overloaded"), **body})
    return replace(attempt, exchanges=(replace(attempt.exchanges[0], label="answer"),), record=OVERLOADED)


def test_what_a_run_of_ours_hid_is_not_observed() -> None:
    verdict = result(OVERLOADED, of_ours(request_id="[hidden: contains ${PA_API_KEY}]"))
    assert verdict.outcome is Outcome.CONFORMS, verdict.findings
    (observation,) = verdict.observations
    assert observation.not_observed["relation:equals:/request_id"] == "not-recorded"


def test_a_run_of_ours_hides_with_no_other_mark() -> None:
    assert {finding.location for finding in result(OVERLOADED, of_ours(request_id="[redacted]")).drifts} == {
        "equals:/request_id"
    }


def test_an_answer_whose_body_was_hidden_whole_is_evidence_of_nothing() -> None:
    ours = of_ours()
    (exchange,) = ours.exchanges
    assert exchange.response is not None
    hidden = replace(ours, exchanges=(replace(exchange, response=replace(exchange.response, body=TOO_MUCH)),))
    judged = traffic(hidden)
    assert judged.result(OVERLOADED).outcome is Outcome.NOT_PROBED
    assert judged.left_out == {"hidden whole": 1}


def test_values_of_a_recording_are_compared_before_they_are_hidden() -> None:
    same, other = f"req_{KEY}", f"req_{KEY}-other"
    headers = {**HEADERS, "request-id": same}
    for request_id, drifts in ((same, set()), (other, {"equals:/request_id"})):
        body = {**error("overloaded_error", "Overloaded"), "request_id": request_id}
        verdict = result(OVERLOADED, exchanged(529, body, headers))
        assert {finding.location for finding in verdict.drifts} == drifts
        assert KEY not in json.dumps(verdict.to_json())


def test_a_full_recording_shows_an_empty_header_as_it_is() -> None:
    attempt = exchanged(529, error("overloaded_error", "Overloaded"), {**HEADERS, "pa-workspace-id": ""})
    assert result(OVERLOADED, replace(attempt, headers_complete=True)).outcome is Outcome.DRIFTED
    assert result(OVERLOADED, attempt).outcome is Outcome.CONFORMS


def live(base: str) -> Target:
    provider = Provider("pa", {"base_url": base}, key_header="x-api-key", header_prefix="acme-", id_prefix="acme_")
    return Target("night", live=True, allow=frozenset(), providers={"pa": provider})


def test_of_a_live_target_only_its_own_traffic_counts() -> None:
    real = {key.replace("pa-", "acme-"): value for key, value in HEADERS.items()}
    mine = exchanged(529, error("overloaded_error", "Overloaded"), real, "https://api.example/v1/messages")
    judged = traffic(mine, OVERLOAD, target=live("https://api.example"))
    verdict = judged.result(OVERLOADED)
    assert verdict.outcome is Outcome.CONFORMS, verdict.findings
    assert len(verdict.attempts) == 1
    assert judged.left_out == {"to no provider of the target": 1}
    timeless = replace(mine, at="")
    assert traffic(timeless, target=live("https://api.example")).result(OVERLOADED).outcome is Outcome.NOT_PROBED
    of_a_mock = traffic(mine, target=live("https://api.example"), of_a_mock=True)
    assert of_a_mock.result(OVERLOADED).outcome is Outcome.NOT_PROBED


def test_a_host_that_only_begins_alike_is_another() -> None:
    near = exchanged(529, error("overloaded_error", "Overloaded"), url="https://api.example.evil/v1/messages")
    assert traffic(near, target=live("https://api.example")).result(OVERLOADED).outcome is Outcome.NOT_PROBED


def test_secrets_of_the_recording_are_in_no_result() -> None:
    body = error("overloaded_error", f"Overloaded; you sent {KEY}")
    verdict = result(OVERLOADED, exchanged(529, body, {**HEADERS, "set-cookie": "session=canary-cookie-99"}))
    kept = json.dumps(verdict.to_json())
    for secret in (KEY, "canary-cookie-99", "canary-org-5b1f7c0a", "wrkspc_canary0001"):
        assert secret not in kept
    assert verdict.attempts, "the exchange itself is evidence"


def test_nor_are_parts_of_them_in_events_that_follow_each_other() -> None:
    pieces = tuple(Event("error", {"text": KEY[at : at + 8]}) for at in range(0, len(KEY), 8))
    recorded = exchanged(200, None, stream=True)
    (exchange,) = recorded.exchanges
    assert exchange.response is not None
    streamed = replace(exchange, response=replace(exchange.response, body=None, body_type="empty", events=pieces))
    verdict = result(CREATE, replace(recorded, exchanges=(streamed,)))
    (kept,) = (exchange for attempt in verdict.attempts for exchange in attempt.exchanges)
    assert kept.response is not None
    hidden = {"text": "[hidden: part of ${CREDENTIAL_1}]"}
    assert [event.data for event in kept.response.events or ()] == [hidden] * len(pieces)


def test_requests_with_different_keys_differ() -> None:
    """A key is hidden, and still another than the next: its account may be answered otherwise."""
    same, other = (exchanged(529, error("overloaded_error", "Overloaded")) for _ in range(2))
    asked = replace(other.exchanges[0].request, headers={"x-api-key": "sk-another-canary-11aa22bb"})
    answered = exchanged(529, error("overloaded_error", "Overloaded"), {"request-id": "req_011"}).exchanges[0].response
    bare = replace(other, exchanges=(Exchange("", asked, answered),))
    assert result(OVERLOADED, same, bare).outcome is Outcome.CONFORMS
    alike = replace(bare, exchanges=(Exchange("", same.exchanges[0].request, answered),))
    assert result(OVERLOADED, same, alike).outcome is Outcome.FLAKY


def test_requests_that_differ_may_be_answered_differently() -> None:
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
    assert result(CREATE, exchanged(200, full)).outcome is Outcome.CONFORMS
    other = exchanged(200, good, messages=[])
    assert result(CREATE, other).outcome is Outcome.DRIFTED
    assert result(CREATE, exchanged(200, full), other).outcome is Outcome.CONFORMS
    assert result(CREATE, exchanged(200, full), exchanged(200, good)).outcome is Outcome.FLAKY


def test_a_key_in_the_query_is_hidden_under_whatever_name_a_target_says_that_it_has() -> None:
    url = f"https://h.example/v1/messages?apitoken={KEY}&limit=2"
    exchange = Exchange("answer", Request("GET", url), Response(200, {}, {"echo": f"was {KEY}"}, "json"))
    recorded = RecordedAttempt("here", (exchange,))
    by_query = replace(unknown_target().providers["pa"], key_query="apitoken")
    assert KEY in make_redactor([recorded], [unknown_target()]).redact_url(url, Work()), "nothing says that it is one"
    redactor = make_redactor([recorded], [replace(unknown_target(), providers={"pa": by_query})])
    assert redactor.redact_url(url, Work()) == "https://h.example/v1/messages?apitoken=${CREDENTIAL_1}&limit=2"
    assert redactor.redact_text(f"was {KEY}") == "[hidden: contains ${CREDENTIAL_1}]"
