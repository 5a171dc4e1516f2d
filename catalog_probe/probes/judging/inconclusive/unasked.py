"""Answers that say nothing about what was asked: overload, limits, redirects, faults, pages of a gateway."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.projection import wire_of
from catalog_probe.catalog.model import Aspect, Exchange, Finding, Reason, Response, Severity
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.catalog.model.exchange import UNNAMED
from catalog_probe.catalog.model.status import is_success
from catalog_probe.catalog.reading.expected import Expected, answer_body, asked_of
from catalog_probe.catalog.reading.grpc_statuses import status_of
from catalog_probe.probes.judging.comparison.compare import compare

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping

    from catalog_probe.catalog.model import Json
    from catalog_probe.catalog.model.exchange import Request
    from catalog_probe.catalog.recognition.known import Known

UNASKED: Mapping[int, ReasonCode] = {
    407: ReasonCode.GATEWAY_PAGE,  # a proxy wants a key of its own (RFC 9110, 15.5.8): no provider says so
    408: ReasonCode.UNASKED_TIMEOUT,
    429: ReasonCode.UNASKED_RATE_LIMIT,
    502: ReasonCode.UNASKED_OVERLOAD,
    503: ReasonCode.UNASKED_OVERLOAD,
    504: ReasonCode.UNASKED_TIMEOUT,
    529: ReasonCode.UNASKED_OVERLOAD,
}
"""Statuses that say nothing about a record which documents another one."""


QUOTED = 160
"""Characters of an answer's own words that a reason quotes."""

OF_THE_KEY = 401

OF_LIMITS = frozenset({ReasonCode.UNASKED_RATE_LIMIT, ReasonCode.ACCOUNT_TROUBLE})
"""What it is called where somebody may no longer, for all that was used before."""

LIMITS = "limits"
"""The family of the records that look at limits: of rate-limit records, and of endpoints whose rules are limits."""

PRIVATE = "x-mock-session"
"""The header under which a mock, and nobody else, counts what one client uses apart from all others."""


ENDED: Mapping[str, ReasonCode] = {
    "capped": ReasonCode.STREAM_ENDLESS,
    "stalled": ReasonCode.STREAM_STALLED,
    "cut": ReasonCode.CONNECTION_RESET,
}


def unasked(expected: Expected, response: Response, events: Container[str] | None = None) -> Reason | None:
    """Why an answer says nothing about what was asked, or None where it does.

    `events` are the names of all events that the documents know; without them a silence is never taken for an answer.
    """
    status = status_of(response, expected.provider)
    if response.ended in ENDED and not (
        _seen_before_the_end(expected, response) or (events is not None and _another_came(expected, response, events))
    ):
        code = (
            ReasonCode.BODY_TOO_LARGE if response.events is None and response.close is None else ENDED[response.ended]
        )
        return Reason(code, f"{len(response.events or ())} events were read" if response.events else "")
    stated = status is None or status == asked_of(expected) or status in expected.choices
    if status is not None and not stated and 300 <= status < 400 and status != 304:
        return Reason(ReasonCode.UNASKED_REDIRECT, f"{status} to {response.headers.get('location', 'nowhere')}")
    if _from_a_gateway(expected, response, stated=stated):
        return Reason(ReasonCode.GATEWAY_PAGE, words(response))
    if stated or status is None:  # no status: a call or a socket, whose own end is compared
        return None
    # Before the table: 503 for a documented 529 may be the provider's other status, and not just an overload.
    if _is_a_sibling(expected, response, status):
        return Reason(ReasonCode.SERVER_FAULT, words(response))
    if status in UNASKED:
        return Reason(UNASKED[status], words(response))
    if status >= 500:
        return Reason(ReasonCode.SERVER_FAULT, words(response))
    return None


def tells_nothing(expected: Expected, response: Response) -> Reason | None:
    """Why an answer to a request of our own (a control, a look-up) says nothing of the key or the account.

    A refusal in plain text is an edge's and may be gone in a while, unless its status speaks of the key.
    """
    trouble = unasked(expected, response)
    if trouble is None and response.status != OF_THE_KEY and is_refusal_in_text(expected, response):
        return Reason(ReasonCode.GATEWAY_PAGE, words(response))
    return trouble


def broken_off(expected: Expected, response: Response, known: Known) -> Reason | None:
    """Why a stream says nothing about what was asked: an overload or a fault that nobody asked for came in it (1:6).

    What is asserted of it may have been seen nevertheless: an event with the documented values.
    """
    if expected.stream is None or expected.stream.protocol != "sse" or _has_its_values(expected, response):
        return None
    for event in response.events or ():
        found = [] if event.sent else known.breaking_off(event.event, event.data)
        if found and expected.address not in (answer.address for answer in found):
            # Of an event the record of a stream tells, where one does: others have that type under a status.
            told = next((each for each in found if each.expected.stream is not None), found[0])
            assert told.passing is not None
            return Reason(told.passing, f"its event {event.event} is {told.address}")
    return None


def _has_its_values(expected: Expected, response: Response) -> bool:
    if not expected.wire:
        return False
    seen = wire_of(expected.envelope, answer_body(expected, response))
    return all(seen.get(aspect) == value for aspect, value in expected.wire.items())


def of_the_account(expected: Expected, response: Response, known: Known) -> Reason | None:
    """Why an answer tells of the account's credit or place alone, where the record is about nothing of that kind."""
    # A refusal may come where a stream was to begin.
    body = response.body if response.events is None else answer_body(expected, response)
    message = response.grpc.message if response.grpc is not None else known.message_of(body)
    if not is_success(response.status) and known.denies_credit(expected, message):
        return Reason(ReasonCode.NO_CREDIT, f"this account has no credit; {words(response)}")
    answers = known.of_the_account(response.status, body) or known.of_the_account_elsewhere(response.status, body)
    if not answers and not _has_its_type(expected, response.status, body):
        answers = known.of_the_account_by_code(response.status, body)
    if not answers or any(_states(expected, answer.expected) for answer in answers):
        return None
    codes = {answer.account for answer in answers}
    code = codes.pop() if len(codes) == 1 else None
    told = "this account has no credit: " if code is ReasonCode.NO_CREDIT else ""
    named = " or ".join(answer.address for answer in answers)
    return Reason(code or ReasonCode.ACCOUNT_TROUBLE, f"{told}this is {named}; {words(response)}")


def tells_of_the_limit(reason: Reason, expected: Expected, request: Request) -> bool:
    """Whether a refusal for what was used before answers what was asked: a look at a limit, which is not reached yet.

    A provider counts what others use as well. On a mock it is known who used what.
    """
    of_limits = expected.address.split("/")[2:3] == [LIMITS]
    return of_limits and reason.code in OF_LIMITS and is_of_a_mock(request)


def is_of_a_mock(request: Request) -> bool:
    """Whether a mock was asked: its keys are known, and nobody else uses its accounts."""
    return PRIVATE in request.headers


def _has_its_type(expected: Expected, status: int | None, body: Json) -> bool:
    """Whether it is the record's own answer so far as its type: then its code is what differs."""
    stated = expected.wire.get("type")
    return stated is not None and status == expected.status and wire_of(expected.envelope, body).get("type") == stated


def _states(expected: Expected, other: Expected) -> bool:
    """Whether the one's answer is the other's: that of one record, of a rule that names it, or one left to choice."""
    return (
        (expected.status == other.status or other.status in expected.choices)
        and expected.wire.keys() == other.wire.keys()
        and all(
            value == other.wire[aspect] or other.wire[aspect] in expected.alternatives(aspect)
            for aspect, value in expected.wire.items()
        )
        and expected.message_pattern == other.message_pattern
    )


def held_to_its_own_record(
    expected: Expected, exchange: Exchange, response: Response, known: Known
) -> Iterator[Finding]:
    """What an overload, limit or timeout answer that nobody asked for has wrong beside the record that documents it."""
    if response.grpc is not None or response.status not in UNASKED or not known.documents(response.status):
        return
    found = known.matching(response.status, response.body)
    wrong = {answer.address: list(compare(answer.expected, exchange)) for answer in found}
    nearest = min(wrong, key=lambda address: len(wrong[address]), default="")
    if nearest and not wrong[nearest]:
        return
    first = wrong[nearest][0] if nearest else None
    yield Finding(
        code=FindingCode.UNASKED_ANSWER,
        aspect=first.aspect if first is not None else Aspect.STATE,
        severity=Severity.INFO,
        message=f"{nearest}: {first.message}" if first is not None else "no record documents this answer",
        label=expected.label,
        location=first.location if first is not None else "",
        documented=first.documented if first is not None else None,
        observed=first.observed if first is not None else response.status,
    )


def _from_a_gateway(expected: Expected, response: Response, *, stated: bool) -> bool:
    """Whether a page of HTML came under another status than the stated one, or in place of what the documents promise.

    Under the stated status of an error it may be the provider's own, which has changed its body: that is in question.
    """
    if not stated:
        a_file = expected.envelope.body == "any" and expected.stream is None and (response.status or 0) < 300
        return response.events is None and _is_html(response) and not a_file
    return is_page(expected, response) and (response.status or 0) < 400


def is_page(expected: Expected, response: Response) -> bool:
    """Whether an answer is a page of HTML where the documents promise JSON, a stream, or no body at all."""
    return _is_promised_otherwise(expected) and response.events is None and _is_html(response)


def is_success_in_text(expected: Expected, response: Response) -> bool:
    """Whether a text that is no JSON came under a success, where the documents promise neither such a one nor a text.

    Proxies greet so, or say that somebody has to log in. HTML is told by itself (`is_page`), and the stream that was
    asked for is one whatever its type is called.
    """
    if response.body_type != "text" or _is_html(response) or not is_success(response.status):
        return False
    if expected.stream is not None and str(response.body).startswith(_OF_EVENTS):
        return False
    return _is_promised_otherwise(expected) or not is_success(expected.status)


_OF_EVENTS = ("data:", "event:")
"""How a stream of events begins."""


def is_refusal_in_text(expected: Expected, response: Response) -> bool:
    """Whether a refusal is a text where the documents promise JSON, a stream, or no body at all, and says so itself.

    An edge refuses so in a word or two (`error code: 1020`, `RBAC: access denied`); so may the provider.
    """
    told = isinstance(response.body, str) and response.body_type == "text" and bool(response.body.strip())
    as_text = response.headers.get("content-type", "").lower().startswith("text/")
    refused = 400 <= (response.status or 0) < 500
    return _is_promised_otherwise(expected) and told and as_text and response.events is None and refused


def is_success_without_body(expected: Expected, response: Response) -> bool:
    """Whether the stated success came without the JSON or the stream that the documents promise: it may be lost.

    If it stays, it is drift.
    """
    promised = expected.envelope.body == "json" if expected.stream is None else expected.stream.protocol == "sse"
    return promised and is_success(response.status) and response.body_type == "empty" and not response.events


def _is_promised_otherwise(expected: Expected) -> bool:
    """Whether the documents promise JSON, a stream, or no body at all: no text."""
    return expected.envelope.body in ("json", "empty") or expected.stream is not None


def _is_a_sibling(expected: Expected, response: Response, status: int) -> bool:
    """Whether another server fault came than the stated one, though with its type and code, or with no body at all.

    Where no shape of its body is documented, any text but a page is as good as none. Seen once it may be an accident;
    if it stays, the provider's status is another one than documented.
    """
    if status < 500 or (asked_of(expected) or 0) < 500:
        return False
    if expected.is_bare(response.body):
        return True
    seen = wire_of(expected.envelope, response.body)
    return bool(seen) and all(seen.get(aspect) == value for aspect, value in expected.wire.items())


def _is_html(response: Response) -> bool:
    """Whether a body is HTML, or is called so: what is JSON nevertheless is held against what is documented."""
    body = response.body
    looks_so = isinstance(body, str) and body.lstrip()[:1] == "<"
    called_so = "text/html" in response.headers.get("content-type", "").lower()
    return looks_so or (called_so and not isinstance(body, dict | list))


def _seen_before_the_end(expected: Expected, response: Response) -> bool:
    """Whether a stream that was cut, capped or stalled had already shown what is asserted of it.

    A socket that goes on in silence has shown that it is not closed.
    """
    rule = expected.stream
    if rule is None:
        return False
    if rule.closes and response.ended == "stalled":
        return True
    return rule.event is not None and any(each.event == rule.event for each in response.events or ())


def _another_came(expected: Expected, response: Response, events: Container[str]) -> bool:
    """Whether a socket fell silent after a message of a name that no document knows, or of none: it came in place of
    another.
    """
    heard = [each.event for each in response.events or () if not each.sent]
    of_a_socket = expected.stream is not None and expected.stream.protocol == "websocket"
    unknown = bool(heard) and (heard[-1] not in events or heard[-1] == UNNAMED)
    return of_a_socket and response.ended == "stalled" and unknown


def message_in_words(response: Response, known: Known) -> str:
    """The status of an answer and the message in its envelope; of another body, its beginning."""
    message = known.message_of(response.body)
    return words(response) if message is None else f"HTTP {response.status}: {' '.join(message.split())[:QUOTED]}"


def words(response: Response) -> str:
    if response.grpc is not None:
        return f"gRPC status {response.grpc.status}: {response.grpc.message[:QUOTED]}"
    body = response.body
    text = body if isinstance(body, str) else str(body) if body is not None else "empty body"
    return f"HTTP {response.status}: {' '.join(text.split())[:QUOTED]}"
