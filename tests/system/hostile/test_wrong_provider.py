"""An HTTP provider wrong in one thing: the verdict names it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model import Aspect, Outcome, Severity
from tests.harness.engines import mock_target_at, probe
from tests.harness.serving import serving
from tests.harness.wrong_provider import Spoil, SpoilableAnswer, WrongProvider

if TYPE_CHECKING:
    from collections.abc import Callable

    from catalog_probe.catalog.evidence.results import Result

UNKNOWN_MODEL = "pa/errors/general/unknown_model"
MISSING_MAX_TOKENS = "pa/errors/invalid_request/missing_max_tokens"
STREAM_ERROR = "pa/errors/stream/overloaded"
LIST_MODELS = "pa/endpoints/models/list_models"
CREATE_MESSAGE = "pa/endpoints/messages/create_message"
GENERATE = "pb/endpoints/generation/generate_content_v1"
"""Its 200 is documented (2:7.4); of most endpoints it is assumed, and another one no drift."""


def probe_spoiled(spoil: Spoil, address: str) -> Result:
    """The result of one record on the mock whose answers are spoiled."""
    with serving(WrongProvider(spoil)) as base:
        return probe(mock_target_at(base), [address])[address]


def set_status(number: int) -> Spoil:
    return lambda answer: setattr(answer, "status", number)


def set_header(name: str, value: str | None) -> Spoil:
    def change(answer: SpoilableAnswer) -> None:
        answer.headers.pop(name, None)
        if value is not None:
            answer.headers[name] = value

    return change


def edit_body(change: Callable[[Any], None]) -> Spoil:
    return lambda answer: answer.edit(change)


def replace_body(content: bytes) -> Spoil:
    return lambda answer: setattr(answer, "body", content)


def replace_in_events(old: bytes, new: bytes) -> Spoil:
    """Replace something in the text of an event stream; other answers stay."""

    def change(answer: SpoilableAnswer) -> None:
        if "event-stream" in answer.headers.get("content-type", ""):
            assert old in answer.body, f"the mock's stream has no {old!r}"
            answer.body = answer.body.replace(old, new)

    return change


def answer_instead_of_stream(number: int, error_type: str) -> Spoil:
    """Send the error as an HTTP status instead of in the stream."""

    def change(answer: SpoilableAnswer) -> None:
        if "event-stream" in answer.headers.get("content-type", ""):
            answer.status = number
            answer.headers["content-type"] = "application/json"
            error = {"type": error_type, "message": "too late for an event"}
            answer.body = json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()

    return change


def when(condition: Callable[[SpoilableAnswer], bool], spoil: Spoil) -> Spoil:
    return lambda answer: spoil(answer) if condition(answer) else None


def wrap_in_list(answer: SpoilableAnswer) -> None:
    answer.body = b"[" + answer.body + b"]"


@dataclass(frozen=True)
class Mismatch:
    """One thing that is wrong, and the finding that must report it."""

    what: str
    address: str
    spoil: Spoil
    code: str
    aspect: Aspect
    at: str | None = None


MISMATCHES = (
    Mismatch("status", UNKNOWN_MODEL, set_status(410), "status-differs", Aspect.STATUS),
    Mismatch(
        "status of a success",
        GENERATE,
        when(lambda a: a.status == 200, set_status(202)),
        "status-differs",
        Aspect.STATUS,
    ),
    Mismatch(
        "type", UNKNOWN_MODEL, edit_body(lambda b: b["error"].update(type="gone_error")), "type-differs", Aspect.TYPE
    ),
    Mismatch("no type", UNKNOWN_MODEL, edit_body(lambda b: b["error"].pop("type")), "type-differs", Aspect.TYPE),
    Mismatch(
        "message",
        "pa/errors/general/key_malformed",
        edit_body(lambda b: b["error"].update(message="no")),
        "message-differs",
        Aspect.MESSAGE,
    ),
    Mismatch(
        "header present", UNKNOWN_MODEL, set_header("request-id", None), "header-missing", Aspect.HEADER, "request-id"
    ),
    Mismatch(
        "header absent",
        "pa/errors/general/key_malformed",
        set_header("pa-organization-id", "org_1"),
        "header-unexpected",
        Aspect.HEADER,
        "pa-organization-id",
    ),
    Mismatch(
        "header equals",
        UNKNOWN_MODEL,
        set_header("x-should-retry", "true"),
        "header-differs",
        Aspect.HEADER,
        "x-should-retry",
    ),
    Mismatch(
        "header equals, absent",
        UNKNOWN_MODEL,
        set_header("x-should-retry", None),
        "header-missing",
        Aspect.HEADER,
        "x-should-retry",
    ),
    Mismatch(
        "header format",
        "pa/errors/general/rate_limit",
        set_header("retry-after", "soon"),
        "header-malformed",
        Aspect.HEADER,
        "retry-after",
    ),
    Mismatch("envelope flat", UNKNOWN_MODEL, replace_body(b'{"detail": "no such model"}'), "body-shape", Aspect.BODY),
    Mismatch("envelope in a list", UNKNOWN_MODEL, wrap_in_list, "body-shape", Aspect.BODY),
    Mismatch(
        "envelope field missing",
        UNKNOWN_MODEL,
        edit_body(lambda b: b["error"].pop("message")),
        "body-shape",
        Aspect.BODY,
    ),
    Mismatch(
        "envelope field of another kind",
        UNKNOWN_MODEL,
        edit_body(lambda b: b["error"].update(message=7)),
        "body-shape",
        Aspect.BODY,
    ),
    Mismatch("not JSON", UNKNOWN_MODEL, replace_body(b"no such model"), "body-malformed", Aspect.BODY),
    Mismatch("half of the JSON", UNKNOWN_MODEL, replace_body(b'{"type": "error", "err'), "body-malformed", Aspect.BODY),
    Mismatch("no body", UNKNOWN_MODEL, replace_body(b""), "body-malformed", Aspect.BODY),
    Mismatch(
        "field missing",
        "pa/errors/outcomes/refusal",
        edit_body(lambda b: b.pop("stop_details")),
        "field-missing",
        Aspect.BODY,
        "/stop_details/category",
    ),
    Mismatch(
        "field of another value",
        "pa/errors/outcomes/refusal",
        edit_body(lambda b: b.update(stop_reason="end_turn")),
        "field-differs",
        Aspect.BODY,
        "/stop_reason",
    ),
    Mismatch(
        "event renamed",
        STREAM_ERROR,
        replace_in_events(b"event: error", b"event: failure"),
        "event-missing",
        Aspect.EVENT,
        "error",
    ),
    Mismatch(
        "error event missing",
        STREAM_ERROR,
        lambda a: setattr(a, "body", a.body.partition(b"event: error")[0]),
        "event-missing",
        Aspect.EVENT,
        "error",
    ),
    Mismatch(
        "error as status",
        STREAM_ERROR,
        answer_instead_of_stream(409, "conflict_error"),
        "stream-not-started",
        Aspect.EVENT,
    ),
    Mismatch(
        "event of another type",
        STREAM_ERROR,
        replace_in_events(b"overloaded_error", b"invalid_request_error"),
        "type-differs",
        Aspect.TYPE,
    ),
    Mismatch(
        "event data not JSON",
        STREAM_ERROR,
        replace_in_events(b'data: {"type":"error"', b"data: oops"),
        "stream-malformed",
        Aspect.EVENT,
        "error",
    ),
    Mismatch(
        "stream of one JSON",
        CREATE_MESSAGE,
        when(lambda a: "event-stream" in a.headers["content-type"], set_header("content-type", "application/json")),
        "stream-not-started",
        Aspect.EVENT,
    ),
)


@pytest.mark.parametrize("wrong", MISMATCHES, ids=lambda wrong: wrong.what.replace(" ", "-"))
def test_one_wrong_thing_is_drift_with_its_code(wrong: Mismatch) -> None:
    result = probe_spoiled(wrong.spoil, wrong.address)
    assert result.outcome is Outcome.DRIFTED, (result.outcome, result.reason)
    found = [finding for finding in result.drifts if finding.code == wrong.code]
    assert found, [finding.message for finding in result.findings]
    assert found[0].aspect is wrong.aspect
    assert wrong.at is None or wrong.at in {finding.location for finding in found}
    assert len(result.attempts) == 2, "a drift is confirmed by a second attempt, and both are kept"


def test_an_assumed_place_is_reported_but_no_drift() -> None:
    """That the request id is in the body is documented (2:7.1), and where is not."""
    result = probe_spoiled(edit_body(lambda b: b.update(id=b.pop("request_id"))), UNKNOWN_MODEL)
    assert result.outcome is Outcome.CONFORMS, result.reason or result.drifts
    found = [finding for finding in result.findings if finding.location == "/request_id"]
    assert {finding.severity for finding in found} == {Severity.SHOULD}, result.findings


def test_an_extra_field_is_reported_but_no_drift() -> None:
    result = probe_spoiled(edit_body(lambda b: b["error"].update(doc_url="https://docs.example/errors")), UNKNOWN_MODEL)
    assert result.outcome is Outcome.CONFORMS
    found = [finding for finding in result.findings if finding.code == "undocumented-field"]
    assert [(finding.location, finding.severity) for finding in found] == [("/error/doc_url", Severity.INFO)]


def test_an_extra_header_is_reported_but_no_drift() -> None:
    result = probe_spoiled(set_header("pa-novelty", "yes"), UNKNOWN_MODEL)
    assert result.outcome is Outcome.CONFORMS
    assert ("undocumented-header", "pa-novelty") in {(finding.code, finding.location) for finding in result.findings}


def test_another_records_answer_is_recognised() -> None:
    def answer_conflict(answer: SpoilableAnswer) -> None:
        answer.status = 409
        answer.edit(lambda b: b["error"].update(type="conflict_error", message="somebody was faster"))

    result = probe_spoiled(answer_conflict, UNKNOWN_MODEL)
    assert result.outcome is Outcome.DRIFTED
    told = [finding for finding in result.findings if finding.code == "matches-another-record"]
    fits = ["pa/errors/general/conflict_concurrent", "pa/errors/general/conflict_uniqueness"]
    assert [finding.observed for finding in told] == [fits]
    assert [finding.message for finding in told] == [f"this is {' or '.join(fits)}"]


def test_an_answer_about_the_account_is_inconclusive() -> None:
    def answer_unpaid(answer: SpoilableAnswer) -> None:
        answer.status = 402
        answer.edit(lambda b: b["error"].update(type="billing_error", message="see your payment details"))

    result = probe_spoiled(answer_unpaid, UNKNOWN_MODEL)
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "no-credit")
    assert result.reason is not None
    assert "this is pa/errors/general/payment_problem" in result.reason.detail


def test_a_refused_permission_on_a_mock_is_drift() -> None:
    def refuse(answer: SpoilableAnswer) -> None:
        if answer.status == 200:
            answer.status = 403
            error = {"type": "permission_error", "message": "your account may not list models"}
            answer.body = json.dumps({"type": "error", "error": error, "request_id": "req_1"}).encode()

    result = probe_spoiled(refuse, LIST_MODELS)
    assert result.outcome is Outcome.DRIFTED, "the documents say that the key suffices"
    assert "status-differs" in {finding.code for finding in result.drifts}


def spoil_attempts(numbers: set[int], spoil: Spoil) -> Spoil:
    """Spoil only these attempts, which the mock's session names."""
    return when(lambda answer: int(answer.request_headers["x-mock-session"].rpartition("/")[2]) in numbers, spoil)


def test_a_provider_that_alternates_is_flaky() -> None:
    result = probe_spoiled(spoil_attempts({1, 3}, set_status(410)), UNKNOWN_MODEL)
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.FLAKY, "attempts-differ")
    assert len(result.attempts) == 2
    assert "status-differs" in {finding.code for finding in result.drifts}


def test_a_different_mismatch_in_each_attempt_is_drift() -> None:
    def spoil_differently(answer: SpoilableAnswer) -> None:
        number = int(answer.request_headers["x-mock-session"].rpartition("/")[2])
        spoils = {1: set_status(410), 2: set_header("request-id", None), 3: replace_body(b"{}")}
        spoils[number](answer)

    result = probe_spoiled(spoil_differently, UNKNOWN_MODEL)
    assert result.outcome is Outcome.DRIFTED, "each attempt was observed against the documents"
    assert len(result.attempts) == 3


def test_two_of_three_attempts_agree() -> None:
    result = probe_spoiled(spoil_attempts({2, 3}, set_status(410)), MISSING_MAX_TOKENS)
    assert result.outcome is Outcome.CONFORMS, "the first attempt conforms, so nothing is probed again"

    def spoil(answer: SpoilableAnswer) -> None:
        is_first = "/1" in answer.request_headers["x-mock-session"][-2:]
        (set_header("request-id", None) if is_first else set_status(410))(answer)

    result = probe_spoiled(spoil, UNKNOWN_MODEL)
    assert result.outcome is Outcome.DRIFTED
    assert {finding.code for finding in result.drifts} == {"status-differs"}
    assert len(result.attempts) == 3


def answer_500(answer: SpoilableAnswer) -> None:
    answer.status = 500
    answer.edit(lambda b: b["error"].update(type="api_error", message="internal server error"))


def test_a_500_in_three_attempts_is_drift() -> None:
    result = probe_spoiled(answer_500, UNKNOWN_MODEL)
    assert result.outcome is Outcome.DRIFTED
    assert len(result.attempts) == 3
    assert {"status-differs", "type-differs"} <= {finding.code for finding in result.drifts}


def test_a_single_500_is_no_drift() -> None:
    result = probe_spoiled(spoil_attempts({1}, answer_500), UNKNOWN_MODEL)
    assert result.outcome is Outcome.CONFORMS, result.reason or result.drifts
    assert [attempt.exchanges[-1].response.status for attempt in result.attempts if attempt.exchanges[-1].response] == [
        500,
        404,
    ]


def test_drift_of_one_step_makes_the_record_drift() -> None:
    spoil = when(lambda a: a.request_headers.get("x-api-key", "").startswith("catalog-probe"), set_status(403))
    result = probe_spoiled(spoil, LIST_MODELS)
    assert result.outcome is Outcome.DRIFTED
    assert {finding.label for finding in result.drifts} == {"wrong_credential"}


def test_a_setup_answer_without_the_needed_field_is_setup_failed() -> None:
    spoil = when(lambda a: a.status == 200 and a.path == "/pa/v1/agents", edit_body(lambda b: b.pop("id")))
    result = probe_spoiled(spoil, "pa/endpoints/agents/get_agent")
    assert (result.outcome, result.reason and result.reason.code) == (Outcome.INCONCLUSIVE, "setup-failed")
    assert result.reason is not None
    assert "POST /v1/agents was answered otherwise: KeyError: 'id' at s1_4_1_endpoints.py:" in result.reason.detail


def test_earlier_steps_are_judged_when_a_later_step_stops() -> None:
    """The header claims more requests than the budget allows, so the limit cannot be reached; the header drifts."""
    result = probe_spoiled(
        set_header("pa-ratelimit-requests-remaining", "99999999999"), "pa/rate_limits/limits/general"
    )
    assert result.outcome is Outcome.DRIFTED, (result.outcome, result.reason)
    assert "pa-ratelimit-requests-remaining" in {finding.location for finding in result.drifts}
    told = {finding.label: finding.observed for finding in result.findings if finding.code == "not-observed"}
    assert told.get("limited") == "setup-failed"
