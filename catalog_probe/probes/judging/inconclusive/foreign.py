"""Rules on bodies that are not the provider's: a gateway's page, a portal's text, a success that lost its body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.exchange import is_success
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import expected_http_status
from catalog_probe.probes.judging.comparison.findings import quote
from catalog_probe.probes.judging.inconclusive.evidence import find_source

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Response
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence, KeyEvidence

# The kind of all pages, whatever their text: gateways put the time and an id into them.
PAGE = "a page of HTML"

_NO_CONTENT = 204  # a success that never has a body (RFC 9110, 15.3.5)

_EVENT_STREAM_STARTS = ("data:", "event:")


def find_gateway_page(evidence: Evidence) -> Reason | None:
    """Return a reason for a page of HTML, unless the documents leave it possible that the provider sent the page.

    A success may be a file, and a file may be HTML. A page with the documented status of an error may be the
    provider's, whose body changed: see `find_body_in_question`. Examples: a page with 403 in place of a documented 404;
    a page with 200 in place of JSON.
    """
    expected, response = evidence.expected, evidence.response
    is_refusal = (response.status or 0) >= 400
    may_be_file = not is_refusal and not _promises_no_text(expected)
    may_be_documented_error = is_refusal and has_documented_status(evidence)
    if response.events is not None or not is_html(response) or may_be_file or may_be_documented_error:
        return None
    return Reason(ReasonCode.GATEWAY_PAGE, quote(response))


def find_body_in_question(evidence: Evidence) -> Reason | None:
    """Return a reason if the body may be foreign or lost, but may also be a new body of the provider.

    Example: a page of HTML with the documented 404. Three attempts alike make it a drift after all.
    """
    expected, response = evidence.expected, evidence.response
    is_questionable = (
        is_page(expected, response)
        or is_refusal_in_text(expected, response)
        or is_success_without_body(expected, response)
    )
    return Reason(ReasonCode.GATEWAY_PAGE, quote(response)) if is_questionable else None


def find_foreign_body(evidence: Evidence) -> Reason | None:
    """Return a reason if several endpoints answered with pages of HTML, or with the same text as a success.

    Example: "Welcome to the guest network." with 200, from messages and from models.
    """
    kind = classify_foreign_body(evidence.expected, evidence.response)
    endpoints = evidence.key.foreign_bodies.get(kind, ())
    if len(endpoints) < 2 or not evidence.is_judged:
        return None
    body = "pages of HTML" if kind == PAGE else "the same text"
    return Reason(ReasonCode.GATEWAY_PAGE, f"{body} came from {len(endpoints)} endpoints: {quote(evidence.response)}")


def add_foreign_body(key: KeyEvidence, expected: Expected, exchange: Exchange, vocabulary: ProviderVocabulary) -> None:
    """Remember where a body came from that no document promises."""
    kind = classify_foreign_body(expected, exchange.response) if exchange.response is not None else ""
    if kind:
        key.foreign_bodies.setdefault(kind, set()).add(find_source(exchange, vocabulary))


def classify_foreign_body(expected: Expected, response: Response) -> str:
    """Return the kind of a body that no document promises; empty if a document promises it, or if it is a refusal.

    Pages are one kind, a text is its own: `"a page of HTML"`, `"HTTP 200: Welcome to the guest network."`.
    """
    if is_page(expected, response):
        return PAGE
    return quote(response) if is_success_in_text(expected, response) else ""


def has_documented_status(evidence: Evidence) -> bool:
    """Whether the status is the documented one or an alternative, or the answer has none, as from a socket."""
    expected, status = evidence.expected, evidence.status
    return status is None or status == expected_http_status(expected) or status in expected.alternative_statuses


def is_page(expected: Expected, response: Response) -> bool:
    """Whether an answer is a page of HTML in place of JSON, a stream, or no body."""
    return _promises_no_text(expected) and response.events is None and is_html(response)


def is_success_in_text(expected: Expected, response: Response) -> bool:
    """Whether a success in plain text came where the documents promise no success, or no text.

    Example: a portal answers "Please log in." with 200.
    """
    is_plain_text = response.body_type == "text" and not is_html(response)
    # A stream of events is a stream, even if its content type says text.
    is_stream = expected.stream is not None and str(response.body).startswith(_EVENT_STREAM_STARTS)
    if not is_plain_text or is_stream or not is_success(response.status):
        return False
    return _promises_no_text(expected) or not is_success(expected.status)


def is_refusal_in_text(expected: Expected, response: Response) -> bool:
    """Whether a refusal is plain text, by its content type too, in place of JSON, a stream, or no body.

    Examples from an edge: `error code: 1020`, `RBAC: access denied`. The provider may refuse in plain text as well.
    """
    has_text = isinstance(response.body, str) and response.body_type == "text" and bool(response.body.strip())
    is_called_text = response.headers.get("content-type", "").lower().startswith("text/")
    is_plain_text = has_text and is_called_text and response.events is None
    is_refusal = 400 <= (response.status or 0) < 500
    return is_plain_text and is_refusal and _promises_no_text(expected)


def is_success_without_body(expected: Expected, response: Response) -> bool:
    """Whether a success has no body although the documents promise no empty body.

    Gateways put an empty 200 in the place of any answer, e.g. of a file of any content, a refusal or a WebSocket.
    """
    has_content = response.body_type != "empty" or bool(response.events) or response.grpc is not None
    is_documented = expected.envelope.body == "empty" and expected.allows(response.status)
    may_have_body = is_success(response.status) and response.status != _NO_CONTENT
    return may_have_body and not has_content and not is_documented


def _promises_no_text(expected: Expected) -> bool:
    """Whether the documents promise JSON, a stream, or no body."""
    return expected.envelope.body in ("json", "empty") or expected.stream is not None


def is_html(response: Response) -> bool:
    """Whether a body is HTML, or its content type says so; JSON is JSON whatever its content type says."""
    body = response.body
    looks_like_html = isinstance(body, str) and body.lstrip()[:1] == "<"
    is_called_html = "text/html" in response.headers.get("content-type", "").lower()
    return looks_like_html or (is_called_html and not isinstance(body, dict | list))
