"""Rules on transient answers: an overload, a limit, a redirect, a server fault, a stream that was cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import wire_values
from catalog_probe.catalog.model import Aspect, Finding, Reason, Severity
from catalog_probe.catalog.model.exchange import DEFAULT_EVENT_NAME
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.catalog.reading.expectations import answer_body, expected_http_status
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.comparison.findings import quote
from catalog_probe.probes.judging.inconclusive.foreign import has_documented_status, is_html

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence

# Status that says nothing of a record with another documented status -> why.
TRANSIENT_STATUSES: Mapping[int, ReasonCode] = {
    407: ReasonCode.GATEWAY_PAGE,  # a proxy wants a key of its own (RFC 9110, 15.5.8): no provider says so
    408: ReasonCode.UNASKED_TIMEOUT,
    429: ReasonCode.UNASKED_RATE_LIMIT,
    502: ReasonCode.UNASKED_OVERLOAD,
    503: ReasonCode.UNASKED_OVERLOAD,
    504: ReasonCode.UNASKED_TIMEOUT,
    529: ReasonCode.UNASKED_OVERLOAD,
}
# Reasons that the refusal of an exhausted limit gets.
_LIMIT_CODES = frozenset({ReasonCode.UNASKED_RATE_LIMIT, ReasonCode.ACCOUNT_TROUBLE})

# The family of the records about limits: rate-limit records, and endpoints whose rules are limits.
_LIMITS = "limits"

# How an answer ended early -> why.
_CUT_SHORT: Mapping[str, ReasonCode] = {
    "capped": ReasonCode.STREAM_ENDLESS,
    "stalled": ReasonCode.STREAM_STALLED,
    "cut": ReasonCode.CONNECTION_RESET,
}


def find_cut_short(evidence: Evidence) -> Reason | None:
    """Return a reason if a body or stream was cut before it had shown what is documented.

    Example: the connection was reset after `message_start`, and the documented event is `error`.
    """
    expected, response = evidence.expected, evidence.response
    code = _CUT_SHORT.get(response.ended)
    if code is None or _has_shown_expected(expected, response):
        return None
    # An unknown message came in place of the documented one: that is drift, though the socket stayed open after it.
    if _ended_with_unknown_message(evidence, evidence.vocabulary.events):
        return None
    if response.events is None and response.close is None:
        code = ReasonCode.BODY_TOO_LARGE
    return Reason(code, f"{len(response.events)} events were read" if response.events else "")


def find_redirect(evidence: Evidence) -> Reason | None:
    """Return a reason for a redirect that the record does not document, e.g. 302 to a login page."""
    status = evidence.status or 0
    is_redirect = 300 <= status < 400 and status != 304  # 304 names no other address: nothing was modified
    if not is_redirect or has_documented_status(evidence):
        return None
    return Reason(ReasonCode.UNASKED_REDIRECT, f"{status} to {evidence.response.headers.get('location', 'nowhere')}")


def find_server_fault(evidence: Evidence) -> Reason | None:
    """Return a reason for a server fault of the provider, e.g. 500 in its envelope in place of a documented 404."""
    reason = _explain_transient(evidence)
    is_fault = reason is not None and reason.code == ReasonCode.SERVER_FAULT
    return reason if is_fault and _is_of_provider(evidence) else None


def find_fault_in_place_of_error(evidence: Evidence) -> Reason | None:
    """Return a reason for a server fault of the provider in place of a documented 4xx, e.g. 500 in place of a 404."""
    documented_status = expected_http_status(evidence.expected) or 0
    return find_server_fault(evidence) if 400 <= documented_status < 500 else None


def find_nameless_fault(evidence: Evidence) -> Reason | None:
    """Return a reason for a server fault that does not show its origin, e.g. 500 with the body `oops`."""
    reason = _explain_transient(evidence)
    is_fault = reason is not None and reason.code == ReasonCode.SERVER_FAULT
    return reason if is_fault and not _is_of_provider(evidence) else None


def find_transient_answer(evidence: Evidence) -> Reason | None:
    """Return a reason for an overload, a limit or a timeout: a status, or an event that breaks off a stream (1:6).

    Examples: 429 in place of a documented 404; the event `overloaded_error` after a 200.
    """
    reason = _explain_transient(evidence)
    return reason if reason is not None and reason.code != ReasonCode.SERVER_FAULT else None


def is_requested_limit(evidence: Evidence, reason: Reason) -> bool:
    """Whether a record about limits, on a mock, got the refusal of the limit that it used up.

    On a mock nobody else uses up a limit. A gateway may refuse too, so the refusal must match the record that documents
    it. Only its relations are ignored: the time to wait does not tell a limit from a gateway.
    """
    is_limit_record = evidence.expected.address.split("/")[2:3] == [_LIMITS]
    may_be_limit = is_limit_record and reason.code in _LIMIT_CODES
    if evidence.live or not may_be_limit:
        return False
    return all(finding.aspect is Aspect.RELATION for finding in compare_with_documented(evidence))


def compare_with_documented(evidence: Evidence) -> Iterator[Finding]:
    """Note how a transient answer differs from the record that documents it.

    Example: a 429 came in place of a 404, and `x-should-retry` is not as `pa/errors/general/rate_limit` documents it.
    """
    response, vocabulary = evidence.response, evidence.vocabulary
    if (
        response.grpc is not None
        or response.status not in TRANSIENT_STATUSES
        or not vocabulary.has_status(response.status)
    ):
        return
    answers = vocabulary.match_answers(response.status, response.body)
    differences = {answer.address: list(compare(answer.expected, evidence.exchange)) for answer in answers}
    nearest = min(differences, key=lambda address: len(differences[address]), default="")
    if nearest and not differences[nearest]:
        return
    first = differences[nearest][0] if nearest else None
    yield Finding(
        code=FindingCode.UNASKED_ANSWER,
        aspect=first.aspect if first is not None else Aspect.STATE,
        severity=Severity.INFO,
        remark=f"{nearest}: {first.message}" if first is not None else "no record documents this answer",
        label=evidence.expected.label,
        location=first.location if first is not None else "",
        documented=first.documented if first is not None else None,
        observed=first.observed if first is not None else response.status,
    )


def _explain_transient(evidence: Evidence) -> Reason | None:
    """Return why an answer is transient: by its status or, if the status is documented, by an event of its stream."""
    status = evidence.status or 0
    if has_documented_status(evidence):
        return _find_breaking_event(evidence)
    # A gateway has no reason to repeat the type of the documented fault: this 503 is the provider's own fault.
    code = None if _is_other_server_fault(evidence) else TRANSIENT_STATUSES.get(status)
    if code is None and status >= 500:
        code = ReasonCode.SERVER_FAULT
    return Reason(code, quote(evidence.response)) if code is not None else None


def _is_other_server_fault(evidence: Evidence) -> bool:
    """Whether a documented server fault came with the status of another: with its type and code, or without a body.

    Example: 503 with the documented type `overloaded_error` of a 529. If no shape of the body is documented, any text
    but a page of HTML counts as no body.
    """
    expected, response = evidence.expected, evidence.response
    if (evidence.status or 0) < 500 or (expected_http_status(expected) or 0) < 500:
        return False
    if expected.is_bare(response.body):
        return not is_html(response)
    return _has_values(expected, wire_values(expected.envelope, response.body))


def _is_of_provider(evidence: Evidence) -> bool:
    """Whether a fault comes from the provider: in its error envelope, in a stream, by gRPC, or without a body.

    A fault without a body counts only if the record documents a server fault, which may have no body either.
    """
    expected, response = evidence.expected, evidence.response
    if response.grpc is not None or response.events is not None:
        return True
    is_bare = expected.is_bare(response.body) and (expected_http_status(expected) or 0) >= 500
    return is_bare or evidence.vocabulary.is_in_envelope(response.body)


def _find_breaking_event(evidence: Evidence) -> Reason | None:
    """Return a reason if a stream broke off with an event of failure before it had shown what is documented."""
    expected, response = evidence.expected, evidence.response
    if expected.stream is None or expected.stream.protocol != "sse":
        return None
    if expected.wire and _has_values(expected, wire_values(expected.envelope, answer_body(expected, response))):
        return None
    for event in response.events or ():
        answers = [] if event.sent else evidence.vocabulary.match_stream_failure(event.event, event.data)
        if answers and expected.address not in (answer.address for answer in answers):
            # Some types are documented both under a status and in a stream. The record of the stream is meant.
            answer = next((answer for answer in answers if answer.expected.stream is not None), answers[0])
            assert answer.transient_reason is not None
            return Reason(answer.transient_reason, f"its event {event.event} is {answer.address}")
    return None


def _has_values(expected: Expected, wire: Mapping[str, object]) -> bool:
    """Whether an answer has type and code of the record, as far as the record documents them."""
    return bool(wire) and all(wire.get(aspect) == value for aspect, value in expected.wire.items())


def _has_shown_expected(expected: Expected, response: Response) -> bool:
    """Whether a cut stream had shown the documented event, or a silent socket had shown that it stays open."""
    rule = expected.stream
    if rule is None:
        return False
    if rule.describes_close and response.ended == "stalled":
        return True
    return rule.event is not None and any(event.event == rule.event for event in response.events or ())


def _ended_with_unknown_message(evidence: Evidence, documented: Container[str]) -> bool:
    """Whether a socket fell silent after a message that no document names."""
    response, stream = evidence.response, evidence.expected.stream
    received = [event.event for event in response.events or () if not event.sent]
    is_unknown = bool(received) and (received[-1] not in documented or received[-1] == DEFAULT_EVENT_NAME)
    return stream is not None and stream.protocol == "websocket" and response.ended == "stalled" and is_unknown
