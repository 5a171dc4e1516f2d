"""Bodies that are not the provider's: a gateway's page, a portal's text, a success that lost its body."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.status import is_success
from catalog_probe.catalog.reading.expected import expected_http_status
from catalog_probe.probes.judging.comparison.message import quote

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence

PAGE = "a page of HTML"
"""What all pages are counted as, whatever their words: gateways put the time and an id into them."""

_EVENT_STREAM = ("data:", "event:")
"""How a stream of events begins."""


def find_gateway_page(evidence: Evidence) -> Reason | None:
    """Return a reason for HTML under another status than the stated one, or in place of a stated success.

    Under the stated status of an error it may be the provider's own, whose body changed: `find_body_in_question`.
    """
    expected, response = evidence.expected, evidence.response
    if is_stated(evidence):
        is_gateways = is_page(expected, response) and (response.status or 0) < 400
    else:
        is_file = expected.envelope.body == "any" and expected.stream is None and (response.status or 0) < 300
        is_gateways = response.events is None and is_html(response) and not is_file
    return Reason(ReasonCode.GATEWAY_PAGE, quote(response)) if is_gateways else None


def find_body_in_question(evidence: Evidence) -> Reason | None:
    """Return a reason where the body may be somebody else's, or lost, and may as well be the provider's new one."""
    expected, response = evidence.expected, evidence.response
    in_question = (
        is_page(expected, response)
        or is_refusal_in_text(expected, response)
        or is_success_without_body(expected, response)
    )
    return Reason(ReasonCode.GATEWAY_PAGE, quote(response)) if in_question else None


def find_foreign_body(evidence: Evidence) -> Reason | None:
    """Return a reason where several endpoints answered with pages of HTML, or with one text under a success."""
    kind = foreign_body(evidence.expected, evidence.response)
    endpoints = evidence.key.foreign_bodies.get(kind, ())
    if len(endpoints) < 2 or not evidence.is_judged:
        return None
    came = "pages of HTML came from" if kind == PAGE else "one text came from"
    return Reason(ReasonCode.GATEWAY_PAGE, f"{came} {len(endpoints)} endpoints: {quote(evidence.response)}")


def foreign_body(expected: Expected, response: Response) -> str:
    """What a body is counted as which no document promises; empty if it is promised, or the provider's own refusal."""
    if is_page(expected, response):
        return PAGE
    return quote(response) if is_success_in_text(expected, response) else ""


def is_stated(evidence: Evidence) -> bool:
    """Whether the status is the stated one, one of a choice, or none at all, as of a socket or a call."""
    expected, status = evidence.expected, evidence.status
    return status is None or status == expected_http_status(expected) or status in expected.alternative_statuses


def is_page(expected: Expected, response: Response) -> bool:
    """Whether an answer is a page of HTML where the documents promise JSON, a stream, or no body at all."""
    return _is_promised_otherwise(expected) and response.events is None and is_html(response)


def is_success_in_text(expected: Expected, response: Response) -> bool:
    """Whether a text that is no JSON came under a success, where the documents promise neither such a one nor a text.

    Proxies greet so, or say that somebody has to log in. A stream that was asked for is one whatever its type says.
    """
    if response.body_type != "text" or is_html(response) or not is_success(response.status):
        return False
    if expected.stream is not None and str(response.body).startswith(_EVENT_STREAM):
        return False
    return _is_promised_otherwise(expected) or not is_success(expected.status)


def is_refusal_in_text(expected: Expected, response: Response) -> bool:
    """Whether a refusal is a text, and says so itself, where the documents promise JSON, a stream, or no body at all.

    An edge refuses so in a word or two (`error code: 1020`, `RBAC: access denied`); so may the provider.
    """
    has_text = isinstance(response.body, str) and response.body_type == "text" and bool(response.body.strip())
    says_text = response.headers.get("content-type", "").lower().startswith("text/")
    is_refusal = 400 <= (response.status or 0) < 500
    return _is_promised_otherwise(expected) and has_text and says_text and response.events is None and is_refusal


def is_success_without_body(expected: Expected, response: Response) -> bool:
    """Whether a success came without the JSON or the stream that the documents promise."""
    promised = expected.envelope.body == "json" if expected.stream is None else expected.stream.protocol == "sse"
    return promised and is_success(response.status) and response.body_type == "empty" and not response.events


def _is_promised_otherwise(expected: Expected) -> bool:
    """Whether the documents promise JSON, a stream, or no body at all: no text."""
    return expected.envelope.body in ("json", "empty") or expected.stream is not None


def is_html(response: Response) -> bool:
    """Whether a body is HTML, or is called so; JSON is compared with the documents whatever its type says."""
    body = response.body
    looks_so = isinstance(body, str) and body.lstrip()[:1] == "<"
    called_so = "text/html" in response.headers.get("content-type", "").lower()
    return looks_so or (called_so and not isinstance(body, dict | list))
