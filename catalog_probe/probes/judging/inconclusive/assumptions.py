"""Rules on our own request: its assumed parts, and the values and addresses of the target that nobody confirmed.

The first rules are about an *assumption*: a path, trigger, header, parameter or field that no document shows. Only an
answer about the request itself blames an assumption. A field that the request lacks is not to blame, nor is an
assumption on which a success of the same record rests.

The others are about *unconfirmed* values and hosts: a model or an address that a person set, and that no answer to this
key has shown to be right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from catalog_probe.catalog.evidence.causes import ABSENT as ABSENT_CLASS
from catalog_probe.catalog.model import Aspect, Outcome, Reason
from catalog_probe.catalog.model.exchange import NO_SUCH_PATH
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.assertions import TRIGGER
from catalog_probe.catalog.reading.expectations import CONTINUE_STATUS, answer_body, http_status_of
from catalog_probe.catalog.text.json_values import ABSENT, find_value, list_strings_and_names
from catalog_probe.probes.judging.comparison.basis import is_no_refusal, weigh_findings
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.comparison.findings import quote_message
from catalog_probe.probes.judging.comparison.observations import is_refused_by_close
from catalog_probe.probes.judging.inconclusive.evidence import (
    AcceptedRequest,
    Assumption,
    AttemptEvidence,
    EndpointAnswer,
    find_source,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.model.exchange import Request
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence, KeyEvidence
    from catalog_probe.probes.judging.verdict import Verdict


# Keys of the assumptions on all requests of a record: their path, and the endpoints on which its error is met.
PATH, ENDPOINTS = "path", "endpoints"

# Statuses of a refusal that is about the request, and not about the key, the account or the state of a resource.
_REQUEST_STATUSES = NO_SUCH_PATH | {400, 415, 422}

_ERROR_ASPECTS = frozenset({Aspect.STATUS, Aspect.TYPE, Aspect.CODE})


def find_assumed_request(evidence: Evidence) -> Reason | None:
    """Return a reason if a refusal came for a success, and an assumed header, parameter or field may explain it.

    Example: the request has the assumed header `pa-beta`, and 400 came in place of 200.
    """
    is_success_refused = is_no_refusal(evidence.expected.status) and evidence.response.status in _REQUEST_STATUSES
    if not is_success_refused or is_promise_broken(evidence):
        return None
    keys = [key for key in _list_open_assumptions(evidence) if key not in (PATH, TRIGGER, ENDPOINTS)]
    return _blame(evidence, keys[0]) if keys else None


def is_promise_broken(evidence: Evidence) -> bool:
    """Whether a request that the documents promise to accept was refused, while another one was accepted there.

    Example: `inference_geo` may be given. The message with it is answered 400, the message without it 200. Only the
    value `us` is ours to assume. Live, that value may be wrong: there a night must have seen it accepted before.
    """
    expected, response = evidence.expected, evidence.response
    status = expected.assertions.get(f"{expected.label}/status")
    if status is None or not is_no_refusal(expected.status) or (evidence.live and not status.has_matched):
        return False
    source = find_source(evidence.exchange, evidence.vocabulary)
    has_control = any(
        request.source == source and request.label != expected.label for request in evidence.attempt.accepted
    )
    is_refused_by_provider = evidence.vocabulary.is_in_envelope(answer_body(expected, response))
    return has_control and (is_refused_by_provider or is_refused_by_close(expected, response))


def find_assumed_path(evidence: Evidence) -> Reason | None:
    """Return a reason if the path is assumed, and the answer is that of a path or method that does not exist.

    Example: `/v1/files` is assumed, and 404 came in place of the list.
    """
    differing = {finding.aspect for finding in evidence.verdict.findings if finding.is_drift}
    # An unknown path may be answered 404 without the provider's envelope (1:4.4), also where a 404 is documented.
    is_without_envelope = Aspect.BODY in differing and evidence.response.body_type != "json"
    is_another_answer = Aspect.STATUS in differing or is_without_envelope
    if evidence.response.status not in NO_SUCH_PATH or not is_another_answer:
        return None
    return _blame(evidence, PATH) if PATH in _list_open_assumptions(evidence) else None


def find_assumed_trigger(evidence: Evidence) -> Reason | None:
    """Return a reason if we assumed that the request provokes an error, and it was accepted or met another error.

    If the documented error came, its headers and shape are compared as usual. Example: a made-up key of the compliance
    API should be refused with 401, and 404 came for its type.
    """
    if TRIGGER not in _list_open_assumptions(evidence) or not (_is_accepted(evidence) or _is_another_error(evidence)):
        return None
    return _blame(evidence, TRIGGER)


def find_refused_header(evidence: Evidence) -> Reason | None:
    """Return a reason if a success of this attempt was refused alike because of an assumed header of its request.

    A provider may refuse the header before it looks at the key or at the fault. Example: a made-up key and a good key
    both meet "400: Unexpected value for the beta header".
    """
    if evidence.verdict.outcome is not Outcome.DRIFTED or not _has_assumed_header(evidence):
        return None
    detail = evidence.attempt.refused_headers.get(EndpointAnswer(evidence.exchange.endpoint, evidence.fingerprint))
    return Reason(ReasonCode.ASSUMPTION_FAILED, detail) if detail is not None else None


def find_assumed_endpoint_path(evidence: Evidence) -> Reason | None:
    """Return a reason if an endpoint has an assumed path, and only 404 or 405 came from there in this run.

    `find_assumed_path` is about the record of that endpoint, this rule about errors that are provoked on the endpoint.
    """
    assumption = evidence.vocabulary.assumed_paths.get(evidence.endpoint, "")
    status_differs = any(finding.is_drift and finding.aspect is Aspect.STATUS for finding in evidence.verdict.findings)
    is_path_unknown = evidence.status in NO_SUCH_PATH and evidence.endpoint not in evidence.key.reached_endpoints
    if not assumption or not status_differs or not is_path_unknown:
        return None
    detail = f"path: {assumption} Nothing but 404 or 405 came from {evidence.endpoint}"
    return Reason(ReasonCode.ASSUMPTION_FAILED, detail)


def add_reached_endpoint(key: KeyEvidence, exchange: Exchange, provider: str, vocabulary: ProviderVocabulary) -> None:
    """Remember the endpoint of an answer, unless the answer is that of an unknown path."""
    status = http_status_of(exchange.response, provider)
    if status is not None and status not in NO_SUCH_PATH:
        key.reached_endpoints.add(exchange.endpoint or vocabulary.endpoints.find(exchange))


def compare_attempt(evidence_of_answers: Iterable[Evidence]) -> AttemptEvidence:
    """Learn from all answers of an attempt which assumptions are right, and which assumed headers are refused.

    Example: a list with the assumed header `pa-beta` conforms, so an error of the same record with this header is
    judged. If the list is refused instead, its refusal is remembered with the header.
    """
    evidence_of_answers = tuple(evidence_of_answers)
    confirmed = frozenset(
        assumption
        for evidence in evidence_of_answers
        if evidence.verdict.outcome is Outcome.CONFORMS
        for assumption in _list_confirmed(evidence)
    )
    accepted = frozenset(
        AcceptedRequest(evidence.expected.label, find_source(evidence.exchange, evidence.vocabulary))
        for evidence in evidence_of_answers
        if evidence.verdict.outcome is Outcome.CONFORMS and is_no_refusal(evidence.expected.status)
    )
    refused_headers = {}
    for evidence in evidence_of_answers:
        if evidence.verdict.outcome is not Outcome.DRIFTED or not _has_assumed_header(evidence):
            continue
        informed = replace(evidence, attempt=AttemptEvidence(confirmed, accepted))
        reason = find_assumed_path(informed) or find_assumed_trigger(informed) or find_assumed_request(informed)
        if reason is not None:
            refused_headers[EndpointAnswer(evidence.exchange.endpoint, evidence.fingerprint)] = reason.detail
    return AttemptEvidence(confirmed, accepted, refused_headers)


def _list_confirmed(evidence: Evidence) -> Iterator[Assumption]:
    """Yield the assumptions on which a conforming answer rests: those of its request, if a success is documented."""
    status = evidence.expected.status
    if is_no_refusal(status) and status != CONTINUE_STATUS:
        yield from (Assumption(evidence.exchange.endpoint, key) for key in _list_open_assumptions(evidence))


def _blame(evidence: Evidence, key: str) -> Reason:
    """Return the reason that an assumption failed: `HTTP 404: Not found; what we assumed may be why: path: …`."""
    quoted = quote_message(evidence.response, evidence.vocabulary)
    detail = f"{quoted}; what we assumed may be why: {key}: {evidence.expected.request_assumptions[key]}"
    return Reason(ReasonCode.ASSUMPTION_FAILED, detail)


def _list_open_assumptions(evidence: Evidence) -> list[str]:
    """List the keys of what is assumed of this very request and not confirmed, e.g. `["path", "header:pa-beta"]`."""
    return [
        key
        for key in evidence.expected.request_assumptions
        if is_part_of(evidence.request, key)
        and Assumption(evidence.exchange.endpoint, key) not in evidence.attempt.confirmed
    ]


def is_part_of(request: Request, key: str) -> bool:
    """Whether a request has the assumed part. Example: `body:/tools` is part of `{"tools": []}`, and not of `{}`.

    A path, a header and a whole body are part of every request. A field is part of every body that is kept as text,
    because the field cannot be looked up there.
    """
    aspect, _, location = key.partition(":")
    if aspect == "query":
        return location in dict(parse_qsl(urlsplit(request.url).query, keep_blank_values=True))
    if aspect == "body" and location:
        return isinstance(request.body, str) or find_value(request.body, location) is not ABSENT
    return True


def _has_assumed_header(evidence: Evidence) -> bool:
    return any(key.startswith("header:") for key in evidence.expected.request_assumptions)


def _is_accepted(evidence: Evidence) -> bool:
    """Whether a request that should have been refused, or its socket closed, was accepted."""
    expected, response = evidence.expected, evidence.response
    if not is_no_refusal(response.status):
        return False
    if not is_no_refusal(expected.status):
        return True
    stays_open = response.close is None and response.ended == "stalled"
    return expected.stream is not None and expected.stream.describes_close and stays_open


def _is_another_error(evidence: Evidence) -> bool:
    """Whether the provider answered with another status, type or code, and not just left the documented one out."""
    response, vocabulary = evidence.response, evidence.vocabulary
    differs = any(
        finding.is_drift and finding.aspect in _ERROR_ASPECTS and finding.observed != ABSENT_CLASS
        for finding in evidence.verdict.findings
    )
    body = answer_body(evidence.expected, response)
    # Some documented refusals are a JSON string or have no body (2:7.1).
    is_bare = not isinstance(body, dict | list) and response.body_type in ("json", "empty")
    return differs and (vocabulary.is_in_envelope(body) or (is_bare and vocabulary.has_status(response.status)))


# Statuses of a refusal that may be due to a value in the request, also if the request has a fault.
_VALUE_STATUSES = frozenset({403, 404, 410})

# The same of a request without a fault. With a fault, 400 and 422 are more likely about the fault.
_VALUE_STATUSES_WITHOUT_FAULT = _VALUE_STATUSES | {400, 422}

_UNJUDGED = frozenset({Outcome.INCONCLUSIVE, Outcome.HARNESS_ERROR})


def find_unconfirmed_value(evidence: Evidence) -> Reason | None:
    """Return a reason if the answer may be due to values of the target that no success with this key contained.

    Example: a request to the model `old-model` is answered 404, and so is every other request to that model.
    """
    target = evidence.key.target
    unconfirmed = find_blamed_values(evidence, target.unconfirmed_values) - evidence.key.confirmed_values
    if not unconfirmed:
        return None
    fixes = " or ".join(target.value_fixes.get(name, name) for name in sorted(unconfirmed))
    detail = f"{fixes}: it is refused wherever it is named, and nothing shows that this key may use it"
    return Reason(ReasonCode.VALUE_NOT_FOUND, detail)


def find_unconfirmed_host(evidence: Evidence) -> Reason | None:
    """Return a reason if no answer from an address without a control was clearly the provider's.

    Example: the variable of the regional address names another server, which answers 404 to everything.
    """
    service, target = evidence.unconfirmed_host, evidence.key.target
    if not service or service in evidence.key.confirmed_hosts or evidence.verdict.outcome in _UNJUDGED:
        return None
    name = target.address_names.get(service, service)
    detail = f"nothing from {target.addresses[service]} was as documented"
    return Reason.with_advice(ReasonCode.CONTROL_FAILED, detail, f"look at {name}")


def find_blamed_values(evidence: Evidence, values: Mapping[str, str]) -> frozenset[str]:
    """Return the names of the values that alone may explain the answer.

    A refusal may be due to any value in the request. A success may be due to a value in its query: the list of the
    chats of an unknown user is empty. Examples: `{"small_model": "old-model"}` and 404 for `/v1/models/old-model` ->
    `{"small_model"}`; `{"user": "user_1"}` and an empty list for `/chats?user_ids=user_1` -> `{"user"}`.
    """
    if not values or not _may_be_due_to_value(evidence.verdict):
        return frozenset()
    request, status = evidence.request, evidence.status
    values_in_query = _list_values(values, unquote(request.url.partition("?")[2]))
    if is_no_refusal(status):
        return values_in_query
    has_no_fault = is_no_refusal(evidence.expected.status)
    value_statuses = _VALUE_STATUSES_WITHOUT_FAULT if has_no_fault else _VALUE_STATUSES
    return values_in_query | list_named_values(request, values) if status in value_statuses else frozenset()


def list_named_values(request: Request, values: Mapping[str, str]) -> frozenset[str]:
    """List the names of the values that a request contains, as whole words of its path, headers or body.

    Example: `{"small_model": "haiku-1"}` and the path `/v1/models/haiku-1:count` -> `{"small_model"}`; the path
    `/v1/models/haiku-10` contains another word. The query is left out, since a success of a list does not show that the
    value exists by which the list is filtered.
    """
    path = unquote(request.url.partition("?")[0])
    return _list_values(values, path, *request.headers.values(), *list_strings_and_names(request.body))


def find_service(request: Request, addresses: Mapping[str, str]) -> str:
    """Return the service that was asked, by its address; empty if none of them was. A longer address goes first.

    The scheme is ignored, because a WebSocket of a service is asked by `wss:`. Example:
    `{"live": "https://live.provider.example"}` and `wss://live.provider.example/socket` -> `"live"`.
    """
    url = _without_scheme(request.url)
    services = [name for name, address in addresses.items() if url.startswith(_without_scheme(address))]
    return max(services, key=lambda name: len(addresses[name]), default="")


def add_confirmed_host(key: KeyEvidence, evidence: Evidence) -> None:
    """Remember an unconfirmed host whose answer only the provider gives."""
    if evidence.unconfirmed_host and confirms_host(evidence):
        key.confirmed_hosts.add(evidence.unconfirmed_host)


def confirms_host(evidence: Evidence) -> bool:
    """Whether only the provider gives this answer: it conforms, and an empty object in its place would not.

    Example: `{"data": []}` confirms the host if the record documents `/data`, but not if it documents a status alone.
    """
    response = evidence.response
    if evidence.verdict.outcome is not Outcome.CONFORMS:
        return False
    is_streamed = response.events is not None or response.close is not None or response.grpc is not None
    if is_streamed:
        return True
    empty = replace(evidence.exchange, response=replace(response, body={}, body_type="json", cut=None))
    return any(finding.is_drift for finding in weigh_findings(evidence.expected, compare(evidence.expected, empty)))


def _may_be_due_to_value(verdict: Verdict) -> bool:
    """Whether a wrong value may explain the verdict: a drift, a restriction or a failed assumption.

    A difference in headers alone is not due to a value: a refusal would differ in status or body as well.
    """
    if verdict.outcome is Outcome.DRIFTED:
        return any(finding.is_drift and finding.aspect is not Aspect.HEADER for finding in verdict.findings)
    return verdict.outcome is Outcome.RESTRICTED or verdict.has_failed_assumption


def _list_values(values: Mapping[str, str], *texts: str) -> frozenset[str]:
    """List the names of the values that are a word of any of the texts."""
    text = "\n".join(texts)
    return frozenset(name for name, value in values.items() if _as_word(value).search(text))


@lru_cache(maxsize=256)
def _as_word(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-]){re.escape(text)}(?![\w.-])")


def _without_scheme(url: str) -> str:
    return url.partition("://")[2] or url
