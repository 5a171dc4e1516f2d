"""Observations: what one exchange showed of each assertion of a step. Pure.

An assertion is *matched* (the answer agrees with it), *mismatched* (a finding speaks of it) or *not observed* (this
answer could not have shown it). A verdict rests on observed assertions only, so each assertion that was not observed
has a reason.

`Expected.assertions` has the key of each assertion with its label (`answer/header:retry-after`). An observation is of
one label, so it has local keys (`header:retry-after`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from catalog_probe.catalog.evidence.causes import observed_class
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model.assertion import Basis, Observation
from catalog_probe.catalog.model.layers import find_layer
from catalog_probe.catalog.reading.assertions import ANOTHER_REVISION
from catalog_probe.catalog.reading.expectations import Expected, answer_body
from catalog_probe.catalog.text.json_values import ABSENT
from catalog_probe.probes.judging.comparison.basis import has_foreign_body, is_no_refusal
from catalog_probe.probes.judging.comparison.locations import is_within_empty_list
from catalog_probe.probes.judging.comparison.relations import (
    NO_OTHER_ANSWERS,
    NOTHING_THERE,
    OtherAnswers,
    relations_not_observed,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from catalog_probe.catalog.model import Event, Exchange, Finding, Reason, Request, Response
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.expectations import StreamRule
    from catalog_probe.catalog.recognition.endpoints import EndpointIndex


def assertions_of_other_revisions(expected: Expected, request: Request) -> frozenset[str]:
    """Return the keys of the assertions that do not hold under the revision of the API that the request selected.

    Example: `{"answer/type"}` if the record documents the type since a later revision. Nearly always empty.
    """
    return frozenset(
        key
        for key, assertion in expected.assertions.items()
        if (assertion.since or assertion.until) and not _is_in_force(assertion, expected.provider, request)
    )


def drop_unasked(findings: Iterable[Finding], expected: Expected, request: Request) -> Iterator[Finding]:
    """Yield the findings without those on assertions of other revisions, and of layers that the target leaves out."""
    findings = tuple(findings)
    keys = assertions_of_other_revisions(expected, request) if findings else frozenset()
    return (
        finding
        for finding in findings
        if finding.assertion not in keys and not is_left_out(expected, finding.assertion.partition("/")[2])
    )


def is_left_out(expected: Expected, local_key: str) -> bool:
    """Whether the target leaves out the layer of an assertion, e.g. `vendor-headers` of `header:x-request-id`."""
    return bool(expected.left_out) and find_layer(local_key) in expected.left_out


def _is_in_force(assertion: Assertion, provider: str, request: Request) -> bool:
    """Whether an assertion holds under the revision of a request, or under the provider's default revision."""
    revisions = manifest(provider).revisions
    if revisions is None:
        return True
    headers = {name.lower(): value for name, value in request.headers.items()}
    revision = revisions.selected_by(urlsplit(request.url).path, headers) or revisions.default
    return revisions.is_in_force(assertion.since, assertion.until, revision)


# Why an assertion was not observed. The codes are part of the format of results.
NO_ANSWER = "no-answer"  # the connection ended before a response
ANOTHER_ANSWER = "another-answer"  # an answer with another status shows neither headers nor body of the documented one
NO_BODY = "no-body"  # the body is missing, or is no JSON
NO_STREAM = "no-stream"  # a stream is documented, and a plain response came
NOT_SHOWN = "not-shown"  # a header that may be absent is absent
LEFT_OUT = "left-out"  # the target leaves out its layer

# How a stream or a socket opens, whatever comes over it.
OPENING_KEYS = frozenset({"status", "event"})

_BODY_ASPECTS = frozenset({"body", "type", "code", "param", "message"})
_STREAM_ASPECTS = frozenset({"event", "order"})


def observe(
    expected: Expected,
    exchange: Exchange,
    findings: Collection[Finding],
    reason: Reason | None,
    endpoints: EndpointIndex,
    other_answers: OtherAnswers = NO_OTHER_ANSWERS,
) -> Observation:
    """Sort the assertions of a step into matched, mismatched and not observed.

    Example: a 410 came in place of a documented 404 with type `not_found_error` -> mismatched `{"status": "410"}`, not
    observed `{"type": "another-answer"}`.

    Args:
        expected: what is documented of the answer.
        exchange: the request as sent, with its response if there was one.
        findings: the differences that the comparison found.
        reason: why the step has no verdict, or None. Without a verdict no assertion was observed.
        endpoints: finds the endpoint record of a method and path.
        other_answers: answers of other steps, for relations between two answers.
    """
    mismatched = {
        expected.assertions[finding.assertion].key.local_key: observed_class(finding)
        for finding in findings
        if finding.assertion in expected.assertions
    }
    # Another success than an assumed success is a finding too, but headers and body of that answer are compared.
    status_differs = any(
        finding.assertion == f"{expected.label}/status" and not _is_only_another_success(finding)
        for finding in findings
    )
    remaining = [assertion for assertion in expected.assertions.values() if assertion.key.local_key not in mismatched]

    other_revisions = assertions_of_other_revisions(expected, exchange.request)
    not_observed: dict[str, str] = {}
    for assertion in remaining:
        if str(assertion.key) in other_revisions:
            code = ANOTHER_REVISION
        elif is_left_out(expected, assertion.key.local_key):
            code = LEFT_OUT
        else:
            code = _explain_not_observed(
                expected, exchange, assertion, mismatched, reason, status_differs=status_differs
            )
        if code:
            not_observed[assertion.key.local_key] = code
    for local_key, code in relations_not_observed(expected, exchange, other_answers).items():
        if local_key not in mismatched:
            not_observed.setdefault(local_key, code)
    if has_foreign_body(findings):
        # Text in place of JSON is of another system: even a status that matches resolves no assumption.
        for assertion in remaining:
            if assertion.basis is Basis.ASSUMED:
                not_observed.setdefault(assertion.key.local_key, ANOTHER_ANSWER)

    return Observation(
        endpoint=_observed_endpoint(expected, exchange, endpoints),
        label=expected.label,
        matched=tuple(
            assertion.key.local_key for assertion in remaining if assertion.key.local_key not in not_observed
        ),
        mismatched=mismatched,
        not_observed=not_observed,
    )


def is_answered(expected: Expected, response: Response) -> bool:
    """Whether more came than the opening of a stream, socket or call.

    The opening, a handshake or a 200, does not show that the request was accepted. This must come after the opening:
    - in gRPC: a status;
    - on a socket whose close is documented: the close;
    - in other streams: any message, unless the peer refuses after the opening.

    A plain response in place of a stream is an answer. A stream that cannot be parsed is no answer.
    """
    rule = expected.stream
    if rule is None:
        return True
    if rule.protocol == "grpc":
        return response.grpc is not None
    if response.events is None:
        return True
    if response.ended == "malformed":
        return False
    if rule.describes_close and rule.event is None:
        return response.close is not None
    received = [event for event in response.events if not event.sent]
    return bool(received) and not _is_refused_after_opening(rule, response, received)


def _is_refused_after_opening(rule: StreamRule, response: Response, received: Sequence[Event]) -> bool:
    """Whether the peer closed a socket, or sent an error, in place of all events that were waited for.

    This rule prevents that an open stream counts as acceptance if its events are only assumed. The rule can hide a
    success that comes under another name than the documented name, on a socket that is closed at once. The case that
    made it necessary: an ephemeral token that was refused by close 1008.
    """
    awaited = {name for name in (rule.event, rule.terminal, *rule.events) if name is not None}
    if not awaited or any(event.event in awaited for event in received):
        return False
    is_closed = response.close is not None and not rule.describes_close
    return is_closed or any(_is_error(event) for event in received)


# Close codes of a peer that refuses what it was sent (RFC 6455, 7.4.1). Others may be a restart or an overload.
_REFUSING_CLOSE_CODES = frozenset({1003, 1007, 1008})


def is_refused_by_close(expected: Expected, response: Response) -> bool:
    """Whether a socket was opened and then closed as a refusal, e.g. with 1008, in place of all awaited events."""
    rule, close = expected.stream, response.close
    if rule is None or close is None or rule.describes_close or close.code not in _REFUSING_CLOSE_CODES:
        return False
    received = [event for event in response.events or () if not event.sent]
    return _is_refused_after_opening(rule, response, received)


def _is_error(event: Event) -> bool:
    return event.event == "error" or (isinstance(event.data, dict) and event.data.get("error") not in (None, {}))


def shows_documented(expected: Expected, observation: Observation) -> bool:
    """Whether anything documented was observed, and not only what we assumed."""
    assertions = expected.assertions.values()
    documented = {assertion.key.local_key for assertion in assertions if assertion.basis is Basis.DOCUMENTED}
    if expected.stream is not None:
        # The opening of a stream counts only if no document says what comes over the stream.
        beyond_opening = documented - OPENING_KEYS
        documented = beyond_opening or documented
    elif expected.is_documented:
        # The documents say that the answer is a success, or a refusal; only the number is assumed.
        documented |= {assertion.key.local_key for assertion in assertions if assertion.is_only_status_assumed}
    return not documented.isdisjoint((*observation.matched, *observation.mismatched))


def _is_only_another_success(finding: Finding) -> bool:
    """Whether another success came than the assumed one, e.g. 201 for 200: headers and body are still as documented."""
    return not finding.is_drift and is_no_refusal(finding.documented) and is_no_refusal(finding.observed)


def _observed_endpoint(expected: Expected, exchange: Exchange, endpoints: EndpointIndex) -> str:
    """Return the endpoint that was asked: by the record, else by the recipe, else by method and path.

    The record of an endpoint is about that endpoint, whatever its requests ask. The address of the record is in each of
    the assertions.
    """
    record_address = next((assertion.address for assertion in expected.assertions.values()), "")
    # Not parsed: what is expected of a control has the provider's name in place of an address.
    if "/endpoints/" in record_address:
        return record_address
    return exchange.endpoint or endpoints.find(exchange, expected.claimed_endpoints)


def _explain_not_observed(
    expected: Expected,
    exchange: Exchange,
    assertion: Assertion,
    mismatched: Mapping[str, str],
    reason: Reason | None,
    *,
    status_differs: bool,
) -> str:
    """Return why this exchange says nothing of an assertion; empty if it was observed. The first rule wins."""
    response = exchange.response
    local_key = assertion.key.local_key
    if reason is not None:
        return str(reason.code)
    if expected.failure is not None:
        return ""  # what happens in the client is observed there, without any answer
    if response is None:
        return NO_ANSWER
    if local_key != "status" and (status_differs or expected.select_for(response) is not expected):
        return ANOTHER_ANSWER
    # Relations are compared in the documented answer alone: not beside another status, even if ours was assumed.
    if assertion.key.aspect == "relation" and not expected.is_answered_by(response):
        return ANOTHER_ANSWER
    return _explain_hidden(expected, response, assertion, mismatched)


def _explain_hidden(expected: Expected, response: Response, assertion: Assertion, mismatched: Mapping[str, str]) -> str:
    """Return why the documented answer did not show an assertion although it came; empty if it did."""
    aspect, location = assertion.key.aspect, assertion.key.location
    body = answer_body(expected, response)
    if aspect in _STREAM_ASPECTS and response.events is None:
        return NO_STREAM
    if aspect in _BODY_ASPECTS or (aspect == "status" and location):  # a status with a location is in the envelope
        is_event = expected.stream is not None and expected.stream.event is not None
        is_no_json = expected.envelope.body == "json" and not is_event and response.body_type != "json"
        # Text in place of JSON is one finding, on the body. It shows nothing of the members that JSON would have.
        if body is ABSENT or (is_no_json and "body" in mismatched):
            return NO_BODY
    if aspect == "body" and is_within_empty_list(expected, body, assertion.key.local_key, location):
        return NOTHING_THERE
    if aspect == "header" and _is_absent_optional_header(expected, response, location):
        return NOT_SHOWN
    return ""


def _is_absent_optional_header(expected: Expected, response: Response, name: str) -> bool:
    """Whether a header that may be absent is absent: that conforms, and shows nothing."""
    rule = next((rule for rule in expected.headers if rule.name == name), None)
    return rule is not None and rule.optional and rule.name_in(response.headers) not in response.headers
