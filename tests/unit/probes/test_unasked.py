"""Answers that say nothing of what was asked: by their status, by who gave them, or because they never ended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.model import Event, Exchange, GrpcStatus, Reason, Request, Response, Severity
from catalog_probe.catalog.model.assertion import Assertion, Basis, Key
from catalog_probe.catalog.reading.assertions import asserted
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.reading.streams import StreamRule
from catalog_probe.catalog.recognition.known import Known
from catalog_probe.probes.judging.inconclusive.unasked import (
    broken_off,
    held_to_its_own_record,
    is_page,
    is_refusal_in_text,
    is_success_in_text,
    of_the_account,
    tells_nothing,
    tells_of_the_limit,
    unasked,
    words,
)
from tests.harness.engines import catalog
from tests.unit.probes.judging_one import HEADERS, LIMITED, RATE_LIMIT, known

HTML = {"content-type": "text/html; charset=utf-8"}
PAGE = "<html>Bad gateway</html>"
MODELS, LIMITS = "pa/endpoints/models/list_models", "pa/rate_limits/limits/general"
INVALID = Expected("answer", "pa/errors/general/invalid", envelope("pa"), 400, wire={"type": "invalid_request_error"})
LISTED = Expected("success", MODELS, envelope("pa_result"), 200)
FILE = Expected("success", MODELS, envelope("any"), 200)
BROKEN = Expected("answer", "pa/errors/general/internal", envelope("pa"), 500, wire={"type": "api_error"})
SOCKET = Expected("socket", "pb/errors/live/x", envelope("any"), 101, stream=StreamRule("websocket", event="error"))
CLOSING = replace(SOCKET, stream=StreamRule("websocket", close_code=(1008, 1008)))
STREAMED = Expected("stream", MODELS, envelope("any"), 200, stream=StreamRule("sse", event="message_stop"))


def said(kind: str, message: str = "no") -> dict[str, Any]:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def reason(expected: Expected, response: Response, events: set[str] | None = None) -> str:
    found = unasked(expected, response, events)
    return found.code if found is not None else ""


def choosing(expected: Expected, within: str, *values: Any) -> Expected:
    key = Key(expected.label, within)
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
    assert reason(INVALID, Response(status, {}, said("x"), "json")) == code
    assert reason(replace(INVALID, status=status), Response(status, {}, said("x"), "json")) == ""
    assert reason(choosing(INVALID, "status", 400, status), Response(status, {}, said("x"), "json")) == ""


@pytest.mark.parametrize(
    ("status", "body", "code"),
    [
        (503, None, "server-fault"),
        (503, "", "server-fault"),
        (503, said("api_error"), "server-fault"),
        (503, said("overloaded_error"), "unasked-overload"),
        (503, {}, "unasked-overload"),
        (599, None, "server-fault"),
        (499, None, ""),
    ],
)
def test_a_sibling_of_a_stated_server_fault_is_told_by_its_type_or_is_bare(status: int, body: Any, code: str) -> None:
    assert reason(BROKEN, Response(status, {}, body, "json" if body else "empty")) == code


def test_no_server_fault_is_the_sibling_of_a_refusal() -> None:
    assert reason(replace(BROKEN, status=499), Response(503, {}, None, "empty")) == "unasked-overload"


@pytest.mark.parametrize(
    ("expected", "status", "code"),
    [
        (INVALID, 400, ""),
        (INVALID, 403, "gateway-page"),
        (LISTED, 200, "gateway-page"),
        (FILE, 200, ""),
        (FILE, 299, ""),
        (FILE, 404, "gateway-page"),
        (STREAMED, 200, "gateway-page"),
        (STREAMED, 202, "gateway-page"),
        (replace(LISTED, status=399), 399, "gateway-page"),
    ],
)
def test_a_page_of_html_is_a_gateways_unless_a_file_or_the_stated_refusal_may_be_one(
    expected: Expected, status: int, code: str
) -> None:
    assert reason(expected, Response(status, HTML, PAGE, "text")) == code
    assert reason(expected, Response(status, {"content-type": "Text/HTML"}, "no", "text")) == code
    assert reason(expected, Response(status, {}, f"  {PAGE}", "text")) == code
    assert reason(expected, Response(status, {"content-type": "text/plain"}, "words", "text")) == ""


def test_what_is_json_is_no_page_whatever_its_type_is_called() -> None:
    """Nor is it a gateway's: it is held against what is documented. A word that happens to be JSON may be a page."""
    for kind in ("text/html", "application/json, text/html"):
        assert reason(LISTED, Response(200, {"content-type": kind}, {"data": []}, "json")) == ""
        assert reason(INVALID, Response(403, {"content-type": kind}, [said("x")], "json")) == ""
        assert not is_page(INVALID, Response(400, {"content-type": kind}, said("x"), "json"))
    assert reason(LISTED, Response(200, HTML, 404, "json")) == "gateway-page"


def test_a_page_may_be_the_providers_own_where_json_a_stream_or_nothing_is_promised() -> None:
    page = Response(400, HTML, PAGE, "text")
    assert is_page(INVALID, page)
    assert is_page(STREAMED, page)
    assert is_page(replace(FILE, envelope=envelope("empty")), page)
    assert not is_page(FILE, page)
    assert not is_page(INVALID, replace(page, events=()))
    assert not is_page(INVALID, Response(400, {}, None, "empty"))


IN_TEXT = Response(403, {"content-type": "Text/Plain; charset=utf-8"}, "error code: 1020", "text")


@pytest.mark.parametrize(
    ("expected", "change", "refused"),
    [
        (LISTED, {}, True),
        (STREAMED, {}, True),
        (replace(FILE, envelope=envelope("empty")), {}, True),
        (FILE, {}, False),
        (LISTED, {"status": 399}, False),
        (LISTED, {"status": 400}, True),
        (LISTED, {"status": 499}, True),
        (LISTED, {"status": 500}, False),
        (LISTED, {"status": None}, False),
        (LISTED, {"headers": {"content-type": "application/json"}}, False),
        (LISTED, {"headers": {}}, False),
        (LISTED, {"body": " \n"}, False),
        (LISTED, {"body": "no", "body_type": "json"}, False),
        (LISTED, {"events": ()}, False),
    ],
)
def test_a_refusal_in_text_is_one_that_says_so_where_the_documents_promise_none(
    expected: Expected, change: dict[str, Any], refused: bool
) -> None:
    assert is_refusal_in_text(expected, replace(IN_TEXT, **change)) is refused


@pytest.mark.parametrize(
    ("response", "code"),
    [
        (IN_TEXT, "gateway-page"),
        (replace(IN_TEXT, status=401), ""),
        (replace(IN_TEXT, status=402), "gateway-page"),
        (replace(IN_TEXT, status=429), "unasked-rate-limit"),
        (Response(403, {}, said("permission_error"), "json"), ""),
        (Response(429, {}, said("rate_limit_error"), "json"), "unasked-rate-limit"),
    ],
    ids=["an edge's", "of the key", "of money", "a limit, in text", "the provider's", "a limit"],
)
def test_a_request_of_our_own_learns_nothing_of_the_key_from_an_edge_nor_from_a_limit(
    response: Response, code: str
) -> None:
    found = tells_nothing(LISTED, response)
    assert (found.code if found else "") == code
    assert found is None or found.detail == words(response)


@pytest.mark.parametrize(
    ("ended", "code"), [("capped", "stream-endless"), ("stalled", "stream-stalled"), ("cut", "connection-reset")]
)
def test_what_never_ended_says_how_and_how_much_was_read(ended: str, code: str) -> None:
    streamed = Response(200, {}, events=(Event("ping", {}), Event("ping", {})), ended=ended)
    assert unasked(STREAMED, streamed) == Reason(code, "2 events were read")
    assert unasked(STREAMED, replace(streamed, events=())) == Reason(code, "")
    assert unasked(STREAMED, replace(streamed, events=None)) == Reason("body-too-large", "")
    assert unasked(STREAMED, replace(streamed, events=(Event("message_stop", {}),))) is None
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
    assert reason(SOCKET, silent) == "stream-stalled"
    assert reason(SOCKET, silent, {"odd"}) == "stream-stalled"
    nameless = replace(silent, events=(Event("known", {}), Event("message", [])))
    assert reason(SOCKET, nameless, {"known", "message"}) == "", "which is a name of events, and of no message"
    assert reason(SOCKET, replace(silent, events=silent.events and silent.events[2:]), {"odd"}) == "stream-stalled"
    assert reason(replace(SOCKET, stream=StreamRule("sse", event="x")), silent, {"known"}) == "stream-stalled"


def test_an_answer_is_told_in_one_line_of_some_words() -> None:
    assert words(Response(502, {}, "Bad\n  gateway " + "x" * 200, "text")) == f"HTTP 502: Bad gateway {'x' * 148}"
    assert words(Response(503, {}, None, "empty")) == "HTTP 503: empty body"
    assert words(Response(400, {}, {"a": 1}, "json")) == "HTTP 400: {'a': 1}"
    refused = GrpcStatus(8, "m" * 161)
    assert words(Response(200, {}, None, "empty", grpc=refused)) == f"gRPC status 8: {'m' * 160}"


@pytest.mark.parametrize(
    ("code", "address", "headers", "tells"),
    [
        ("unasked-rate-limit", LIMITS, {"x-mock-session": "1"}, True),
        ("account-trouble", LIMITS, {"x-mock-session": "1"}, True),
        ("unasked-overload", LIMITS, {"x-mock-session": "1"}, False),
        ("unasked-rate-limit", LIMITS, {}, False),
        ("unasked-rate-limit", RATE_LIMIT, {"x-mock-session": "1"}, False),
    ],
)
def test_a_limit_that_is_met_early_tells_of_it_only_where_nobody_else_uses_it(
    code: str, address: str, headers: dict[str, str], tells: bool
) -> None:
    asked = Request("POST", "https://provider.example/v1/messages", headers)
    assert tells_of_the_limit(Reason(code), replace(INVALID, address=address), asked) is tells


def noted(response: Response, of: Known | None = None) -> list[tuple[str, str, Any, Any]]:
    exchange = Exchange("answer", Request("POST", "https://provider.example/v1/messages"), response)
    found = list(held_to_its_own_record(INVALID, exchange, response, of or known("pa")))
    assert {each.severity for each in found} <= {Severity.INFO}
    return [(each.message.partition(": ")[0], each.location, each.documented, each.observed) for each in found]


def test_a_limit_that_nobody_asked_for_is_held_to_the_record_that_documents_it() -> None:
    """The nearest of those that it may be, by the first that is wrong with it."""
    assert noted(LIMITED) == []
    bare = {name: HEADERS[name] for name in ("request-id", "retry-after")}
    of_no_account = noted(replace(LIMITED, headers=bare))
    assert of_no_account == [(RATE_LIMIT, "pa-organization-id", "present", "absent")]
    of_nobody = Response(429, HEADERS, said("teapot_error"), "json")
    assert noted(of_nobody) == [("no record documents this answer", "", None, 429)]


def test_only_what_is_documented_over_http_and_says_nothing_else_is_held_to_another_record() -> None:
    assert noted(replace(LIMITED, status=404)) == []
    assert noted(Response(429, {}, said("teapot_error"), "json", grpc=GrpcStatus(8, "no"))) == []
    assert noted(Response(429, {}, said("teapot_error"), "json"), Known()) == []


def test_an_answer_of_the_account_is_asked_for_where_it_is_left_to_choice() -> None:
    address = "pa/errors/general/payment_problem"
    (stated,) = (each for each in asserted(catalog()[address], catalog().__getitem__) if each.label == "answer")
    bill = Response(402, HEADERS, said("billing_error", "Pay your bill."), "json")
    assert of_the_account(stated, bill, known("pa")) is None
    assert of_the_account(replace(stated, status=400), bill, known("pa")) is not None
    assert of_the_account(choosing(replace(stated, status=400), "status", 400, 402), bill, known("pa")) is None


CREATED = Event("response.created", {"type": "response.created"})
PB_STREAM, PC_STREAM = "pb/errors/interactions_stream/service_unavailable", "pc/errors/stream/invalid_prompt"
SAFETY = "pb/errors/interactions_blocked/safety"


def stated(address: str, label: str = "answer") -> Expected:
    return next(each for each in asserted(catalog()[address], catalog().__getitem__) if each.label == label)


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
    found = broken_off(expected, response, known(expected.provider))
    assert (found.code if found is not None else "") == code
    assert found is None or event.event in (found.detail or "")


def test_what_breaks_off_a_stream_is_called_by_the_record_of_a_stream() -> None:
    """Other records have that type, under a status: none of them came."""
    expected = stated("pa/endpoints/messages/create_message", "stream")
    response = Response(200, {}, None, "empty", events=(CREATED, pa_failed("overloaded_error")))
    found = broken_off(expected, response, known("pa"))
    assert found is not None
    assert found.detail == "its event error is pa/errors/stream/overloaded"


def test_what_was_seen_as_documented_is_judged_whatever_came_before_it() -> None:
    expected = stated(SAFETY)
    events = (pb_failed("service_unavailable"), pb_failed("safety"))
    assert broken_off(expected, Response(200, {}, None, "empty", events=events), known("pb")) is None


@pytest.mark.parametrize(
    ("expected", "response", "foreign"),
    [
        (LISTED, Response(200, {}, "Welcome.", "text"), True),
        (STREAMED, Response(200, {}, "Welcome.", "text"), True),
        (STREAMED, Response(200, {}, 'data: {"a": 1}\n\n', "text"), False),
        (STREAMED, Response(200, {}, "event: ping\ndata: 1\n\n", "text"), False),
        (LISTED, Response(200, {}, 'data: {"a": 1}\n\n', "text"), True),
        (replace(FILE, envelope=envelope("empty")), Response(200, {}, "Welcome.", "text"), True),
        (INVALID, Response(200, {}, "Welcome.", "text"), True),
        (replace(FILE, status=400), Response(200, {}, "Welcome.", "text"), True),
        (FILE, Response(200, {}, "Welcome.", "text"), False),
        (LISTED, Response(400, {}, "Welcome.", "text"), False),
        (LISTED, Response(200, {}, PAGE, "text"), False),
        (LISTED, Response(200, {}, {"so": 1}, "json"), False),
    ],
)
def test_a_text_under_a_success_is_foreign_where_no_text_is_promised(
    expected: Expected, response: Response, foreign: bool
) -> None:
    assert is_success_in_text(expected, response) is foreign
