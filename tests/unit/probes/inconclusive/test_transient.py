"""Answers that say nothing of what was asked: by their status, by who gave them, or because they never ended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.model import Event, GrpcStatus, Reason, Response, Severity
from catalog_probe.catalog.model.assertion import Assertion, AssertionKey, Basis
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.reading.streams import StreamRule
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.probes.judging.inconclusive.applying import find_reason
from catalog_probe.probes.judging.inconclusive.table import TRANSIENT_RULES
from catalog_probe.probes.judging.inconclusive.transient import compare_with_documented, is_requested_limit
from tests.unit.probes.inconclusive.evidence_making import HTML, PAGE, error_body, evidence, stated
from tests.unit.probes.judging_one import HEADERS, LIMITED, RATE_LIMIT, known

MODELS, LIMITS = "pa/endpoints/models/list_models", "pa/rate_limits/limits/general"
INVALID = Expected("answer", "pa/errors/general/invalid", envelope("pa"), 400, wire={"type": "invalid_request_error"})
LISTED = Expected("success", MODELS, envelope("pa_result"), 200)
FILE = Expected("success", MODELS, envelope("any"), 200)
BROKEN = Expected("answer", "pa/errors/general/internal", envelope("pa"), 500, wire={"type": "api_error"})
SOCKET = Expected("socket", "pb/errors/live/x", envelope("any"), 101, stream=StreamRule("websocket", event="error"))
CLOSING = replace(SOCKET, stream=StreamRule("websocket", close_code=(1008, 1008)))
STREAMED = Expected("stream", MODELS, envelope("any"), 200, stream=StreamRule("sse", event="message_stop"))


def reason(expected: Expected, response: Response, events: set[str] | None = None) -> str:
    found = explain(expected, response, events)
    return found.code if found is not None else ""


def explain(expected: Expected, response: Response, events: set[str] | None = None) -> Reason | None:
    return find_reason(
        evidence(expected, response, of=ProviderVocabulary(events=frozenset(events or ()))), TRANSIENT_RULES
    )


def choosing(expected: Expected, within: str, *values: Any) -> Expected:
    key = AssertionKey(expected.label, within)
    left = Assertion(expected.address, key, values[0], Basis.DOCUMENTED, alternatives=values)
    return replace(expected, assertions={str(key): left})


@pytest.mark.parametrize(
    ("status", "code"),
    [
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
    ],
)
def test_some_statuses_say_nothing_of_a_record_that_documents_another(status: int, code: str) -> None:
    assert reason(INVALID, Response(status, {}, error_body("x"), "json")) == code
    assert reason(replace(INVALID, status=status), Response(status, {}, error_body("x"), "json")) == ""
    assert reason(choosing(INVALID, "status", 400, status), Response(status, {}, error_body("x"), "json")) == ""


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (503, None, "server-fault"),
        (503, "", "server-fault"),
        (503, error_body("api_error"), "server-fault"),
        (503, error_body("overloaded_error"), "unasked-overload"),
        (503, {}, "unasked-overload"),
        (599, None, "server-fault"),
        (499, None, ""),
    ],
)
def test_a_sibling_of_a_stated_server_fault_is_told_by_its_type_or_is_bare(status: int, body: Any, code: str) -> None:
    assert reason(BROKEN, Response(status, {}, body, "json" if body else "empty")) == code


def test_where_no_shape_is_documented_any_text_but_a_page_is_as_good_as_none() -> None:
    shapeless = Expected("answer", "pd/errors/server/server_fault", envelope("any"), 500)
    assert reason(shapeless, Response(502, {}, "Internal server error", "text")) == "server-fault"
    assert reason(shapeless, Response(502, HTML, PAGE, "text")) == "gateway-page"
    assert reason(BROKEN, Response(502, {}, "Internal server error", "text")) == "unasked-overload"


def test_a_redirection_that_nobody_asked_for_says_where_it_leads() -> None:
    assert explain(LISTED, Response(301, {"location": "/"})) == Reason("unasked-redirect", "301 to /")
    assert [reason(LISTED, Response(status)) for status in (300, 399, 304, 400)] == ["unasked-redirect"] * 2 + ["", ""]
    assert reason(FILE, Response(300, HTML, PAGE, "text")) == "unasked-redirect"
    assert reason(replace(LISTED, status=302), Response(302)) == ""


def test_no_server_fault_is_the_sibling_of_a_refusal() -> None:
    assert reason(replace(BROKEN, status=499), Response(503, {}, None, "empty")) == "unasked-overload"


@pytest.mark.parametrize(
    ("ended", "code"), [("capped", "stream-endless"), ("stalled", "stream-stalled"), ("cut", "connection-reset")]
)
def test_what_never_ended_says_how_and_how_much_was_read(ended: str, code: str) -> None:
    streamed = Response(200, {}, events=(Event("ping", {}), Event("ping", {})), ended=ended)
    assert explain(STREAMED, streamed) == Reason(code, "2 events were read")
    assert explain(STREAMED, replace(streamed, events=())) == Reason(code, "")
    assert explain(STREAMED, replace(streamed, events=None)) == Reason("body-too-large", "")
    assert explain(STREAMED, replace(streamed, events=(Event("message_stop", {}),))) is None
    assert reason(LISTED, replace(streamed, events=None)) == "body-too-large"


def test_a_socket_that_goes_on_in_silence_has_shown_that_it_is_not_closed() -> None:
    silent = Response(101, {}, events=(), ended="stalled")
    assert reason(CLOSING, silent) == ""
    assert reason(CLOSING, replace(silent, ended="cut")) == "connection-reset"
    assert reason(SOCKET, silent) == "stream-stalled"


def test_a_message_that_no_document_knows_came_in_place_of_another() -> None:
    silent = Response(
        101, {}, events=(Event("known", {}), Event("odd", {}), Event("known", {}, sent=True)), ended="stalled"
    )
    assert reason(SOCKET, silent, {"known"}) == ""
    assert reason(SOCKET, silent, {"odd"}) == "stream-stalled"
    nameless = replace(silent, events=(Event("known", {}), Event("message", [])))
    assert reason(SOCKET, nameless, {"known", "message"}) == "", "which is a name of events, and of no message"
    assert reason(SOCKET, replace(silent, events=silent.events and silent.events[2:]), {"odd"}) == "stream-stalled"
    assert reason(replace(SOCKET, stream=StreamRule("sse", event="x")), silent, {"known"}) == "stream-stalled"


@pytest.mark.parametrize(
    ("code", "address", "live", "tells"),
    [
        ("unasked-rate-limit", LIMITS, False, True),
        ("account-trouble", LIMITS, False, True),
        ("unasked-rate-limit", "pa/endpoints/limits/fast_mode", False, True),
        ("unasked-overload", LIMITS, False, False),
        ("unasked-rate-limit", LIMITS, True, False),
        ("unasked-rate-limit", RATE_LIMIT, False, False),
    ],
)
def test_a_limit_that_is_met_early_tells_of_it_only_where_nobody_else_uses_it(
    code: str, address: str, live: bool, tells: bool
) -> None:
    of_limits = replace(INVALID, address=address)
    assert is_requested_limit(evidence(of_limits, LIMITED, of=known("pa"), live=live), Reason(code)) is tells
    foreign = Response(429, {}, error_body("teapot_error"), "json")
    assert not is_requested_limit(evidence(of_limits, foreign, of=known("pa"), live=live), Reason(code))


def noted(response: Response, of: ProviderVocabulary | None = None) -> list[tuple[str, str, Any, Any]]:
    found = list(compare_with_documented(evidence(INVALID, response, of=of or known("pa"))))
    assert {each.severity for each in found} <= {Severity.INFO}
    return [(each.message.partition(": ")[0], each.location, each.documented, each.observed) for each in found]


def test_a_limit_that_nobody_asked_for_is_held_to_the_record_that_documents_it() -> None:
    """The nearest of those that it may be, by the first that is wrong with it."""
    assert noted(LIMITED) == []
    bare = {name: HEADERS[name] for name in ("request-id", "retry-after")}
    of_no_account = noted(replace(LIMITED, headers=bare))
    assert of_no_account == [(RATE_LIMIT, "pa-organization-id", "present", "absent")]
    of_nobody = Response(429, HEADERS, error_body("teapot_error"), "json")
    assert noted(of_nobody) == [("no record documents this answer", "", None, 429)]


def test_only_what_is_documented_over_http_and_says_nothing_else_is_held_to_another_record() -> None:
    assert noted(replace(LIMITED, status=404)) == []
    assert noted(Response(429, {}, error_body("teapot_error"), "json", grpc=GrpcStatus(8, "no"))) == []
    assert noted(Response(429, {}, error_body("teapot_error"), "json"), ProviderVocabulary()) == []


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


@pytest.mark.parametrize(
    ("address", "label", "event", "code"),
    [
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
    ],
)
def test_a_stream_that_an_overload_or_a_fault_breaks_off_says_nothing_of_what_was_asked(
    address: str, label: str, event: Event, code: str
) -> None:
    """What is to be seen there, what only we did wrong, and what no document knows is judged."""
    expected = stated(address, label)
    response = Response(200, {}, None, "empty", events=(CREATED, event))
    found = find_reason(evidence(expected, response, of=known(expected.provider)), TRANSIENT_RULES)
    assert (found.code if found is not None else "") == code
    assert found is None or event.event in (found.detail or "")


def test_what_breaks_off_a_stream_is_called_by_the_record_of_a_stream() -> None:
    """Other records have that type, under a status: none of them came."""
    expected = stated("pa/endpoints/messages/create_message", "stream")
    response = Response(200, {}, None, "empty", events=(CREATED, pa_failed("overloaded_error")))
    found = find_reason(evidence(expected, response, of=known("pa")), TRANSIENT_RULES)
    assert found is not None
    assert found.detail == "its event error is pa/errors/stream/overloaded"


def test_what_was_seen_as_documented_is_judged_whatever_came_before_it() -> None:
    expected = stated(SAFETY)
    events = (pb_failed("service_unavailable"), pb_failed("safety"))
    response = Response(200, {}, None, "empty", events=events)
    assert find_reason(evidence(expected, response, of=known("pb")), TRANSIENT_RULES) is None
