"""Rules on bodies that are not the provider's: a gateway's page, a portal's text, a success that lost its body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.exchange import is_success
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import expected_http_status
from catalog_probe.probes.judging.comparison.findings import quote

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence

# The kind of all pages, whatever their text: gateways put the time and an id into them.
PAGE = "a page of HTML"

_NO_CONTENT = 204  # a success that never has a body (RFC 9110, 15.3.5)

_EVENT_STREAM_STARTS = ("data:", "event:")


def find_gateway_page(evidence: Evidence) -> Reason | None:
    """Return a reason for HTML with another status than the documented one, or in place of a success.

    With the documented status of an error it may be the provider's, whose body changed: see `find_body_in_question`.
    """
    expected, response = evidence.expected, evidence.response
    if has_documented_status(evidence):
        is_gateway_page = is_page(expected, response) and (response.status or 0) < 400
    else:
        is_file = expected.envelope.body == "any" and expected.stream is None and (response.status or 0) < 300
        is_gateway_page = response.events is None and is_html(response) and not is_file
    return Reason(ReasonCode.GATEWAY_PAGE, quote(response)) if is_gateway_page else None


def find_body_in_question(evidence: Evidence) -> Reason | None:
    """Return a reason if the body may be foreign or lost, but may also be a new one of the provider."""
    expected, response = evidence.expected, evidence.response
    is_questionable = (
        is_page(expected, response)
        or is_refusal_in_text(expected, response)
        or is_success_without_body(expected, response)
    )
    return Reason(ReasonCode.GATEWAY_PAGE, quote(response)) if is_questionable else None


def find_foreign_body(evidence: Evidence) -> Reason | None:
    """Return a reason if several endpoints answered with pages of HTML, or with the same text as a success."""
    kind = classify_foreign_body(evidence.expected, evidence.response)
    endpoints = evidence.key.foreign_bodies.get(kind, ())
    if len(endpoints) < 2 or not evidence.is_judged:
        return None
    body = "pages of HTML" if kind == PAGE else "the same text"
    return Reason(ReasonCode.GATEWAY_PAGE, f"{body} came from {len(endpoints)} endpoints: {quote(evidence.response)}")


def classify_foreign_body(expected: Expected, response: Response) -> str:
    """Return the kind of a body that no document promises; empty if one does, or if it is a refusal."""
    if is_page(expected, response):
        return PAGE
    return quote(response) if is_success_in_text(expected, response) else ""


def has_documented_status(evidence: Evidence) -> bool:
    """Whether the status is the documented one or an alternative, or there is none, as for a socket."""
    expected, status = evidence.expected, evidence.status
    return status is None or status == expected_http_status(expected) or status in expected.alternative_statuses


def is_page(expected: Expected, response: Response) -> bool:
    """Whether an answer is a page of HTML in place of JSON, a stream, or no body."""
    return _promises_no_text(expected) and response.events is None and is_html(response)


def is_success_in_text(expected: Expected, response: Response) -> bool:
    """Whether a success in plain text came where the documents promise no success, or no text.

    A portal greets so, or asks to log in. A stream counts as one whatever its content type says.
    """
    if response.body_type != "text" or is_html(response) or not is_success(response.status):
        return False
    if expected.stream is not None and str(response.body).startswith(_EVENT_STREAM_STARTS):
        return False
    return _promises_no_text(expected) or not is_success(expected.status)


def is_refusal_in_text(expected: Expected, response: Response) -> bool:
    """Whether a refusal is plain text, by its content type too, in place of JSON, a stream, or no body.

    An edge refuses so in a word or two (`error code: 1020`, `RBAC: access denied`); so may the provider.
    """
    has_text = isinstance(response.body, str) and response.body_type == "text" and bool(response.body.strip())
    says_text = response.headers.get("content-type", "").lower().startswith("text/")
    is_refusal = 400 <= (response.status or 0) < 500
    return _promises_no_text(expected) and has_text and says_text and response.events is None and is_refusal


def is_success_without_body(expected: Expected, response: Response) -> bool:
    """Whether a success has no body although the documents promise no empty one.

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
