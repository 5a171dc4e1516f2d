"""Foreign bodies: gateway pages, texts, and bodies that may be the provider's or not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.envelopes import load_envelope
from catalog_probe.catalog.model import Event, Exchange, GrpcStatus, Response
from catalog_probe.catalog.reading.expectations import Expected, StreamRule
from catalog_probe.probes.judging.comparison.findings import quote
from catalog_probe.probes.judging.control import explain_silence
from catalog_probe.probes.judging.inconclusive.foreign import (
    PAGE as PAGE_CLASS,
)
from catalog_probe.probes.judging.inconclusive.foreign import (
    classify_foreign_body,
    find_body_in_question,
    find_gateway_page,
    is_page,
    is_refusal_in_text,
    is_success_in_text,
)
from tests.unit.probes.inconclusive.evidence_making import HTML_HEADERS, HTML_PAGE, REQUEST, error_body, make_evidence

if TYPE_CHECKING:
    import pytest

MODELS = "pa/endpoints/models/list_models"
INVALID = Expected(
    "answer", "pa/errors/general/invalid", load_envelope("pa"), 400, wire={"type": "invalid_request_error"}
)
LIST_MODELS = Expected("success", MODELS, load_envelope("pa_result"), 200)
FILE = Expected("success", MODELS, load_envelope("any"), 200)
STREAM = Expected("stream", MODELS, load_envelope("any"), 200, stream=StreamRule("sse", event="message_stop"))
SOCKET = Expected("success", MODELS, load_envelope("any"), 101, stream=StreamRule("websocket", event="done"))
EMPTY_REFUSAL = Expected("answer", "pa/errors/general/empty", load_envelope("empty"), 405)
EMPTY_SUCCESS = replace(EMPTY_REFUSAL, status=200)


TEXT_REFUSAL = Response(403, {"content-type": "Text/Plain; charset=utf-8"}, "error code: 1020", "text")


def find_reason_code(expected: Expected, response: Response) -> str:
    explanation = find_gateway_page(make_evidence(expected, response))
    return explanation.code if explanation is not None else ""


def test_html_is_a_gateway_page_unless_documented(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Expected, int, str]] = [
        (INVALID, 400, ""),
        (INVALID, 403, "gateway-page"),
        (LIST_MODELS, 200, "gateway-page"),
        (FILE, 200, ""),
        (FILE, 299, ""),
        (FILE, 404, "gateway-page"),
        (STREAM, 200, "gateway-page"),
        (STREAM, 202, "gateway-page"),
        (replace(LIST_MODELS, status=399), 399, "gateway-page"),
    ]
    for expected, status, code in cases:
        with subtests.test(expected=expected):
            assert find_reason_code(expected, Response(status, HTML_HEADERS, HTML_PAGE, "text")) == code
            assert find_reason_code(expected, Response(status, {"content-type": "Text/HTML"}, "no", "text")) == code
            assert find_reason_code(expected, Response(status, {}, f"  {HTML_PAGE}", "text")) == code
            assert find_reason_code(expected, Response(status, {"content-type": "text/plain"}, "words", "text")) == ""


def test_json_is_no_page_whatever_its_media_type() -> None:
    """JSON is compared with the documents; only a bare JSON number or word may be a page."""
    for kind in ("text/html", "application/json, text/html"):
        assert find_reason_code(LIST_MODELS, Response(200, {"content-type": kind}, {"data": []}, "json")) == ""
        assert find_reason_code(INVALID, Response(403, {"content-type": kind}, [error_body("x")], "json")) == ""
        assert not is_page(INVALID, Response(400, {"content-type": kind}, error_body("x"), "json"))
    assert find_reason_code(LIST_MODELS, Response(200, HTML_HEADERS, 404, "json")) == "gateway-page"


def test_page_is_recognized_unless_any_body_is_documented() -> None:
    page = Response(400, HTML_HEADERS, HTML_PAGE, "text")
    assert is_page(INVALID, page)
    assert is_page(STREAM, page)
    assert is_page(replace(FILE, envelope=load_envelope("empty")), page)
    assert not is_page(FILE, page)
    assert not is_page(INVALID, replace(page, events=()))
    assert not is_page(INVALID, Response(400, {}, None, "empty"))


def test_refusal_in_text(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Expected, dict[str, Any], bool]] = [
        (LIST_MODELS, {}, True),
        (STREAM, {}, True),
        (replace(FILE, envelope=load_envelope("empty")), {}, True),
        (FILE, {}, False),
        (LIST_MODELS, {"status": 399}, False),
        (LIST_MODELS, {"status": 400}, True),
        (LIST_MODELS, {"status": 499}, True),
        (LIST_MODELS, {"status": 500}, False),
        (LIST_MODELS, {"status": None}, False),
        (LIST_MODELS, {"headers": {"content-type": "application/json"}}, False),
        (LIST_MODELS, {"headers": {}}, False),
        (LIST_MODELS, {"body": " \n"}, False),
        (LIST_MODELS, {"body": "no", "body_type": "json"}, False),
        (LIST_MODELS, {"events": ()}, False),
    ]
    for expected, change, is_refusal in cases:
        with subtests.test(expected=expected):
            assert is_refusal_in_text(expected, replace(TEXT_REFUSAL, **change)) is is_refusal


def test_gateway_or_limit_says_nothing_of_the_key(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, Response, str]] = [
        ("an edge's", TEXT_REFUSAL, "gateway-page"),
        ("of the key", replace(TEXT_REFUSAL, status=401), ""),
        ("of money", replace(TEXT_REFUSAL, status=402), "gateway-page"),
        ("a limit, in text", replace(TEXT_REFUSAL, status=429), "unasked-rate-limit"),
        ("the provider's", Response(403, {}, error_body("permission_error"), "json"), ""),
        ("a limit", Response(429, {}, error_body("rate_limit_error"), "json"), "unasked-rate-limit"),
    ]
    for case, response, code in cases:
        with subtests.test(case=case):
            explanation = explain_silence(Exchange("control", REQUEST, response), "pa")
            assert (explanation.code if explanation else "") == code
            assert explanation is None or explanation.detail == quote(response)


def test_text_under_a_success_is_foreign_unless_documented(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Expected, Response, bool]] = [
        (LIST_MODELS, Response(200, {}, "Welcome.", "text"), True),
        (STREAM, Response(200, {}, "Welcome.", "text"), True),
        (STREAM, Response(200, {}, 'data: {"a": 1}\n\n', "text"), False),
        (STREAM, Response(200, {}, "event: ping\ndata: 1\n\n", "text"), False),
        (LIST_MODELS, Response(200, {}, 'data: {"a": 1}\n\n', "text"), True),
        (replace(FILE, envelope=load_envelope("empty")), Response(200, {}, "Welcome.", "text"), True),
        (INVALID, Response(200, {}, "Welcome.", "text"), True),
        (replace(FILE, status=400), Response(200, {}, "Welcome.", "text"), True),
        (FILE, Response(200, {}, "Welcome.", "text"), False),
        (LIST_MODELS, Response(400, {}, "Welcome.", "text"), False),
        (LIST_MODELS, Response(200, {}, HTML_PAGE, "text"), False),
        (LIST_MODELS, Response(200, {}, {"so": 1}, "json"), False),
    ]
    for expected, response, is_foreign in cases:
        with subtests.test(expected=expected):
            assert is_success_in_text(expected, response) is is_foreign


def test_a_success_without_a_body_lost_it_unless_documented(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Expected, dict[str, Any], bool]] = [
        (LIST_MODELS, {}, True),
        (STREAM, {}, True),
        (FILE, {}, True),
        (INVALID, {}, True),
        (INVALID, {"status": 400}, False),
        (SOCKET, {}, True),
        (EMPTY_REFUSAL, {}, True),
        (EMPTY_SUCCESS, {}, False),
        (INVALID, {"status": 204}, False),
        (SOCKET, {"status": 101}, False),
        (LIST_MODELS, {"grpc": GrpcStatus(14)}, False),
        (LIST_MODELS, {"body": {}, "body_type": "json"}, False),
        (STREAM, {"events": (Event("ping"),)}, False),
    ]
    for expected, change, lost in cases:
        with subtests.test(expected=expected):
            response = replace(Response(200, {}, None, "empty"), **change)
            assert (find_body_in_question(make_evidence(expected, response)) is not None) is lost


def test_foreign_body_is_classified() -> None:
    assert classify_foreign_body(LIST_MODELS, Response(503, HTML_HEADERS, HTML_PAGE, "text")) == PAGE_CLASS
    assert classify_foreign_body(LIST_MODELS, Response(200, {}, "Welcome.", "text")) == "HTTP 200: Welcome."
    assert classify_foreign_body(LIST_MODELS, Response(403, {}, "Go away.", "text")) == ""
