"""Bodies that are not the provider's: pages, texts, and what may be either."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from catalog_probe.catalog.envelopes.envelope import envelope
from catalog_probe.catalog.model import Event, Exchange, Response
from catalog_probe.catalog.reading.expected import Expected
from catalog_probe.catalog.reading.streams import StreamRule
from catalog_probe.probes.judging.comparison.message import quote
from catalog_probe.probes.judging.control import explain_silence
from catalog_probe.probes.judging.inconclusive.foreign import (
    PAGE as A_PAGE,
)
from catalog_probe.probes.judging.inconclusive.foreign import (
    classify_foreign_body,
    find_gateway_page,
    is_page,
    is_refusal_in_text,
    is_success_in_text,
    is_success_without_body,
)
from tests.unit.probes.inconclusive.evidence_making import HTML, PAGE, REQUEST, error_body, evidence

MODELS = "pa/endpoints/models/list_models"
INVALID = Expected("answer", "pa/errors/general/invalid", envelope("pa"), 400, wire={"type": "invalid_request_error"})
LISTED = Expected("success", MODELS, envelope("pa_result"), 200)
FILE = Expected("success", MODELS, envelope("any"), 200)
STREAMED = Expected("stream", MODELS, envelope("any"), 200, stream=StreamRule("sse", event="message_stop"))


IN_TEXT = Response(403, {"content-type": "Text/Plain; charset=utf-8"}, "error code: 1020", "text")


def reason(expected: Expected, response: Response) -> str:
    found = find_gateway_page(evidence(expected, response))
    return found.code if found is not None else ""


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
        assert reason(INVALID, Response(403, {"content-type": kind}, [error_body("x")], "json")) == ""
        assert not is_page(INVALID, Response(400, {"content-type": kind}, error_body("x"), "json"))
    assert reason(LISTED, Response(200, HTML, 404, "json")) == "gateway-page"


def test_a_page_may_be_the_providers_own_where_json_a_stream_or_nothing_is_promised() -> None:
    page = Response(400, HTML, PAGE, "text")
    assert is_page(INVALID, page)
    assert is_page(STREAMED, page)
    assert is_page(replace(FILE, envelope=envelope("empty")), page)
    assert not is_page(FILE, page)
    assert not is_page(INVALID, replace(page, events=()))
    assert not is_page(INVALID, Response(400, {}, None, "empty"))


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
        (Response(403, {}, error_body("permission_error"), "json"), ""),
        (Response(429, {}, error_body("rate_limit_error"), "json"), "unasked-rate-limit"),
    ],
    ids=["an edge's", "of the key", "of money", "a limit, in text", "the provider's", "a limit"],
)
def test_a_request_of_our_own_learns_nothing_of_the_key_from_an_edge_nor_from_a_limit(
    response: Response, code: str
) -> None:
    found = explain_silence(Exchange("control", REQUEST, response), "pa")
    assert (found.code if found else "") == code
    assert found is None or found.detail == quote(response)


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


@pytest.mark.parametrize(
    ("expected", "change", "lost"),
    [
        (LISTED, {}, True),
        (STREAMED, {}, True),
        (FILE, {}, False),
        (LISTED, {"status": 404}, False),
        (LISTED, {"body": {}, "body_type": "json"}, False),
        (STREAMED, {"events": (Event("ping"),)}, False),
    ],
)
def test_a_success_without_its_body_may_have_lost_it(expected: Expected, change: dict[str, Any], lost: bool) -> None:
    assert is_success_without_body(expected, replace(Response(200, {}, None, "empty"), **change)) is lost


def test_a_foreign_body_is_counted_as_a_page_or_by_its_words() -> None:
    assert classify_foreign_body(LISTED, Response(503, HTML, PAGE, "text")) == A_PAGE
    assert classify_foreign_body(LISTED, Response(200, {}, "Welcome.", "text")) == "HTTP 200: Welcome."
    assert classify_foreign_body(LISTED, Response(403, {}, "Go away.", "text")) == ""
