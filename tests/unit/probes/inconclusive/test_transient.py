"""Transient answers: server faults, gateways, limits and unfinished streams that say nothing of a record."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.model import Event, GrpcStatus, Reason, Response, Severity
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.reading.expectations import Expected, StreamRule
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.inconclusive.table import TRANSIENT_RULES, find_reason
from catalog_probe.probes.judging.inconclusive.transient import compare_with_documented, is_requested_limit
from tests.unit.probes.inconclusive.evidence_making import (
    HTML_HEADERS,
    HTML_PAGE,
    error_body,
    load_expected,
    make_evidence,
)
from tests.unit.probes.judging_one import HEADERS, RATE_LIMIT, RATE_LIMITED, load_vocabulary

if TYPE_CHECKING:
    import pytest

MODELS, LIMITS = "pa/endpoints/models/list_models", "pa/rate_limits/limits/general"
INVALID = Expected(
    "answer", "pa/errors/general/invalid", load_envelope("pa"), 400, wire={"type": "invalid_request_error"}
)
LIST_MODELS = Expected("success", MODELS, load_envelope("pa_result"), 200)
FILE = Expected("success", MODELS, load_envelope("any"), 200)
BROKEN = Expected("answer", "pa/errors/general/internal", load_envelope("pa"), 500, wire={"type": "api_error"})
SOCKET = Expected(
    "socket", "pb/errors/live/x", load_envelope("any"), 101, stream=StreamRule("websocket", event="error")
)
CLOSING = replace(SOCKET, stream=StreamRule("websocket", close_code=(1008, 1008)))
STREAM = Expected("stream", MODELS, load_envelope("any"), 200, stream=StreamRule("sse", event="message_stop"))


def find_reason_code(expected: Expected, response: Response, events: set[str] | None = None) -> str:
    explanation = find_transient_reason(expected, response, events)
    return explanation.code if explanation is not None else ""


def find_transient_reason(expected: Expected, response: Response, events: set[str] | None = None) -> Reason | None:
    return find_reason(
        make_evidence(expected, response, vocabulary=ProviderVocabulary(events=frozenset(events or ()))),
        TRANSIENT_RULES,
    )


def allow_values(expected: Expected, aspect: str, *values: Any) -> Expected:
    key = AssertionKey(expected.label, aspect)
    assertion = Assertion(expected.address, key, values[0], Basis.DOCUMENTED, alternatives=values)
    return replace(expected, assertions={str(key): assertion})


def test_transient_status_is_inconclusive_unless_documented(subtests: pytest.Subtests) -> None:
    cases: list[tuple[int, str]] = [
        (407, "gateway-page"),
        (408, "unasked-timeout"),
        (429, "unasked-rate-limit"),
        (500, "server-fault"),
        (502, "unasked-overload"),
        (503, "unasked-overload"),
        (504, "unasked-timeout"),
        (529, "unasked-overload"),
        *((status, "server-fault") for status in (501, 505, 520, 530)),  # the last two are an edge's alone
        *((status, "") for status in (200, 304, 401, 403, 404, 409, 428, 430)),
    ]
    for status, code in cases:
        with subtests.test(status=status):
            assert find_reason_code(INVALID, Response(status, {}, error_body("x"), "json")) == code
            assert (
                find_reason_code(replace(INVALID, status=status), Response(status, {}, error_body("x"), "json")) == ""
            )
            assert (
                find_reason_code(
                    allow_values(INVALID, "status", 400, status), Response(status, {}, error_body("x"), "json")
                )
                == ""
            )


def test_other_server_fault_than_documented(subtests: pytest.Subtests) -> None:
    cases: list[tuple[int, Any, str]] = [
        (503, None, "server-fault"),
        (503, "", "server-fault"),
        (503, error_body("api_error"), "server-fault"),
        (503, error_body("overloaded_error"), "unasked-overload"),
        (503, {}, "unasked-overload"),
        (599, None, "server-fault"),
        (499, None, ""),
    ]
    for status, body, code in cases:
        with subtests.test(status=status):
            assert find_reason_code(BROKEN, Response(status, {}, body, "json" if body else "empty")) == code


def test_text_is_a_server_fault_if_no_shape_is_documented() -> None:
    shapeless = Expected("answer", "pd/errors/server/server_fault", load_envelope("any"), 500)
    assert find_reason_code(shapeless, Response(502, {}, "Internal server error", "text")) == "server-fault"
    assert find_reason_code(shapeless, Response(502, HTML_HEADERS, HTML_PAGE, "text")) == "gateway-page"
    assert find_reason_code(BROKEN, Response(502, {}, "Internal server error", "text")) == "unasked-overload"


def test_unasked_redirect_names_its_location() -> None:
    assert find_transient_reason(LIST_MODELS, Response(301, {"location": "/"})) == Reason(
        "unasked-redirect", "301 to /"
    )
    assert [find_reason_code(LIST_MODELS, Response(status)) for status in (300, 399, 304, 400)] == [
        "unasked-redirect"
    ] * 2 + ["", ""]
    assert find_reason_code(FILE, Response(300, HTML_HEADERS, HTML_PAGE, "text")) == "unasked-redirect"
    assert find_reason_code(replace(LIST_MODELS, status=302), Response(302)) == ""


def test_server_fault_in_place_of_a_refusal_is_an_overload() -> None:
    assert find_reason_code(replace(BROKEN, status=499), Response(503, {}, None, "empty")) == "unasked-overload"


def test_unfinished_answer_says_how_much_was_read(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str]] = [
        ("capped", "stream-endless"),
        ("stalled", "stream-stalled"),
        ("cut", "connection-reset"),
    ]
    for ended, code in cases:
        with subtests.test(ended=ended):
            response = Response(200, {}, events=(Event("ping", {}), Event("ping", {})), ended=ended)
            assert find_transient_reason(STREAM, response) == Reason(code, "2 events were read")
            assert find_transient_reason(STREAM, replace(response, events=())) == Reason(code, "")
            assert find_transient_reason(STREAM, replace(response, events=None)) == Reason("body-too-large", "")
            assert find_transient_reason(STREAM, replace(response, events=(Event("message_stop", {}),))) is None
            assert find_reason_code(LIST_MODELS, replace(response, events=None)) == "body-too-large"


def test_silent_socket_shows_that_it_is_not_closed() -> None:
    silent = Response(101, {}, events=(), ended="stalled")
    assert find_reason_code(CLOSING, silent) == ""
    assert find_reason_code(CLOSING, replace(silent, ended="cut")) == "connection-reset"
    assert find_reason_code(SOCKET, silent) == "stream-stalled"


def test_undocumented_event_in_place_of_the_documented_one_is_judged() -> None:
    silent = Response(
        101, {}, events=(Event("known", {}), Event("odd", {}), Event("known", {}, sent=True)), ended="stalled"
    )
    assert find_reason_code(SOCKET, silent, {"known"}) == ""
    assert find_reason_code(SOCKET, silent, {"odd"}) == "stream-stalled"
    nameless = replace(silent, events=(Event("known", {}), Event("message", [])))
    assert find_reason_code(SOCKET, nameless, {"known", "message"}) == "", (
        "which is a name of events, and of no message"
    )
    assert (
        find_reason_code(SOCKET, replace(silent, events=silent.events and silent.events[2:]), {"odd"})
        == "stream-stalled"
    )
    assert find_reason_code(replace(SOCKET, stream=StreamRule("sse", event="x")), silent, {"known"}) == "stream-stalled"


def test_early_limit_counts_only_on_a_mock_and_its_own_record(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, str, bool, bool]] = [
        ("unasked-rate-limit", LIMITS, False, True),
        ("account-trouble", LIMITS, False, True),
        ("unasked-rate-limit", "pa/endpoints/limits/fast_mode", False, True),
        ("unasked-overload", LIMITS, False, False),
        ("unasked-rate-limit", LIMITS, True, False),
        ("unasked-rate-limit", RATE_LIMIT, False, False),
    ]
    for code, address, live, is_requested in cases:
        with subtests.test(code=code):
            expected = replace(INVALID, address=address)
            assert (
                is_requested_limit(
                    make_evidence(expected, RATE_LIMITED, vocabulary=load_vocabulary("pa"), live=live), Reason(code)
                )
                is is_requested
            )
            foreign = Response(429, {}, error_body("teapot_error"), "json")
            assert not is_requested_limit(
                make_evidence(expected, foreign, vocabulary=load_vocabulary("pa"), live=live), Reason(code)
            )


def summarize_notes(
    response: Response, vocabulary: ProviderVocabulary | None = None
) -> list[tuple[str, str, Any, Any]]:
    findings = list(
        compare_with_documented(make_evidence(INVALID, response, vocabulary=vocabulary or load_vocabulary("pa")))
    )
    assert {finding.severity for finding in findings} <= {Severity.INFO}
    return [
        (finding.message.partition(": ")[0], finding.location, finding.documented, finding.observed)
        for finding in findings
    ]


def test_unasked_limit_is_compared_with_its_own_record() -> None:
    """The nearest documented limit is chosen; its first mismatch is noted."""
    assert summarize_notes(RATE_LIMITED) == []
    headers = {name: HEADERS[name] for name in ("request-id", "retry-after")}
    without_account = summarize_notes(replace(RATE_LIMITED, headers=headers))
    assert without_account == [(RATE_LIMIT, "pa-organization-id", "present", "absent")]
    undocumented = Response(429, HEADERS, error_body("teapot_error"), "json")
    assert summarize_notes(undocumented) == [("no record documents this answer", "", None, 429)]


def test_only_transient_http_answers_are_compared_with_their_record() -> None:
    assert summarize_notes(replace(RATE_LIMITED, status=404)) == []
    assert summarize_notes(Response(429, {}, error_body("teapot_error"), "json", grpc=GrpcStatus(8, "no"))) == []
    assert summarize_notes(Response(429, {}, error_body("teapot_error"), "json"), ProviderVocabulary()) == []


CREATED = Event("response.created", {"type": "response.created"})
PB_STREAM, PC_STREAM = "pb/errors/interactions_stream/service_unavailable", "pc/errors/stream/invalid_prompt"
SAFETY = "pb/errors/interactions_blocked/safety"


def pa_failed(kind: str) -> Event:
    return Event("error", {"type": "error", "error": {"type": kind, "message": "no"}})


def pb_failed(code: str) -> Event:
    return Event("error", {"event_type": "error", "error": {"code": code, "message": "no"}})


def pc_failed(code: str) -> Event:
    return Event("response.failed", {"type": "response.failed", "response": {"error": {"code": code, "message": "no"}}})


def pc_error(code: str) -> Event:
    return Event("error", {"type": "error", "code": code, "message": "no", "param": None, "sequence_number": 2})


def test_stream_broken_off_by_a_fault_is_inconclusive(subtests: pytest.Subtests) -> None:
    """Documented events, errors of our request and undocumented errors are judged."""
    cases: list[tuple[str, str, Event, str]] = [
        ("pa/endpoints/messages/create_message", "stream", pa_failed("overloaded_error"), "unasked-overload"),
        ("pa/endpoints/messages/create_message", "stream", pa_failed("rate_limit_error"), "unasked-rate-limit"),
        ("pa/endpoints/messages/create_message", "stream", pa_failed("timeout_error"), "unasked-timeout"),
        ("pa/endpoints/messages/create_message", "stream", pa_failed("api_error"), "server-fault"),
        ("pa/endpoints/messages/create_message", "stream", pa_failed("invalid_request_error"), ""),
        ("pa/endpoints/messages/create_message", "stream", pa_failed("teapot_error"), ""),
        ("pa/endpoints/messages/create_message", "success", pa_failed("overloaded_error"), ""),
        ("pa/errors/stream/overloaded", "answer", pa_failed("overloaded_error"), ""),
        ("pa/errors/stream/overloaded", "answer", pa_failed("api_error"), "server-fault"),
        ("pc/endpoints/responses/create_response", "stream", pc_failed("server_error"), "server-fault"),
        ("pc/endpoints/responses/create_response", "stream", pc_error("server_error"), "server-fault"),
        ("pc/endpoints/responses/create_response", "stream", pc_failed("rate_limit_exceeded"), "unasked-rate-limit"),
        ("pc/endpoints/responses/create_response", "stream", pc_failed("invalid_prompt"), ""),
        (PC_STREAM, "answer", pc_failed("server_error"), "server-fault"),
        (PC_STREAM, "answer", pc_failed("invalid_image"), ""),
        (PC_STREAM, "answer", replace(pc_failed("server_error"), sent=True), ""),
        ("pc/errors/stream/server_error", "answer", pc_error("server_error"), ""),
        (SAFETY, "answer", pb_failed("service_unavailable"), "unasked-overload"),
        (SAFETY, "answer", pb_failed("rate_limit_exceeded"), "unasked-rate-limit"),
        (SAFETY, "answer", pb_failed("too_many_requests"), "unasked-overload"),
        (SAFETY, "answer", pb_failed("deadline_exceeded"), "unasked-timeout"),
        (SAFETY, "answer", pb_failed("api_error"), "server-fault"),
        (SAFETY, "answer", pb_failed("recitation"), ""),
        (SAFETY, "answer", pb_failed("invalid_request"), ""),
        (PB_STREAM, "answer", pb_failed("service_unavailable"), ""),
    ]
    for address, label, event, code in cases:
        with subtests.test(address=address):
            expected = load_expected(address, label)
            response = Response(200, {}, None, "empty", events=(CREATED, event))
            explanation = find_reason(
                make_evidence(expected, response, vocabulary=load_vocabulary(expected.provider)), TRANSIENT_RULES
            )
            assert (explanation.code if explanation is not None else "") == code
            assert explanation is None or event.event in (explanation.detail or "")


def test_broken_stream_names_the_stream_record() -> None:
    """Other records document the type under a status, but no such answer came."""
    expected = load_expected("pa/endpoints/messages/create_message", "stream")
    response = Response(200, {}, None, "empty", events=(CREATED, pa_failed("overloaded_error")))
    explanation = find_reason(make_evidence(expected, response, vocabulary=load_vocabulary("pa")), TRANSIENT_RULES)
    assert explanation is not None
    assert explanation.detail == "its event error is pa/errors/stream/overloaded"


def test_documented_event_is_judged_after_a_fault() -> None:
    expected = load_expected(SAFETY)
    events = (pb_failed("service_unavailable"), pb_failed("safety"))
    response = Response(200, {}, None, "empty", events=events)
    assert find_reason(make_evidence(expected, response, vocabulary=load_vocabulary("pb")), TRANSIENT_RULES) is None
