"""Rules on our own request: what we assumed of it, and what nobody confirmed.

Only an answer about the request itself blames an assumption. A field that the request lacks is not to blame, nor is
anything on which a success of the same record rests.
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
from catalog_probe.catalog.reading.expectations import CONTINUE_STATUS, answer_body
from catalog_probe.catalog.text.json_values import ABSENT, find_value, list_strings_and_names
from catalog_probe.probes.judging.comparison.basis import is_no_refusal, weigh_findings
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.comparison.findings import quote_message
from catalog_probe.probes.judging.inconclusive.evidence import Assumption, AttemptEvidence, EndpointAnswer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model.exchange import Request
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence
    from catalog_probe.probes.judging.verdict import Verdict


# Assumptions on all requests of a record: where they go, and on which endpoints its error is met.
PATH, ENDPOINTS = "path", "endpoints"

# Statuses of a refusal that is about the request, and not about the key, the account or the state of something.
_ASSUMPTION_STATUSES = NO_SUCH_PATH | {400, 415, 422}

_ERROR_ASPECTS = frozenset({Aspect.STATUS, Aspect.TYPE, Aspect.CODE})


def find_assumed_request(evidence: Evidence) -> Reason | None:
    """Return a reason if a refusal came for a success, and an assumed header, query or field may explain it."""
    if not is_no_refusal(evidence.expected.status) or evidence.response.status not in _ASSUMPTION_STATUSES:
        return None
    keys = [key for key in _list_open_assumptions(evidence) if key not in (PATH, TRIGGER, ENDPOINTS)]
    return _blame(evidence, keys[0]) if keys else None


def find_assumed_path(evidence: Evidence) -> Reason | None:
    """Return a reason if the path is assumed, and the answer is that of a path or method that does not exist."""
    differing = {finding.aspect for finding in evidence.verdict.findings if finding.is_drift}
    # An unknown path may be answered 404 without the provider's envelope (1:4.4), also where a 404 is documented.
    is_without_envelope = Aspect.BODY in differing and evidence.response.body_type != "json"
    if evidence.response.status not in NO_SUCH_PATH or not (Aspect.STATUS in differing or is_without_envelope):
        return None
    return _blame(evidence, PATH) if PATH in _list_open_assumptions(evidence) else None


def find_assumed_trigger(evidence: Evidence) -> Reason | None:
    """Return a reason if we assumed that the request provokes an error, and it was accepted or met another error.

    If the documented error came, its headers and shape are compared as usual.
    """
    if TRIGGER not in _list_open_assumptions(evidence) or not (_is_accepted(evidence) or _is_another_error(evidence)):
        return None
    return _blame(evidence, TRIGGER)


def find_refused_header(evidence: Evidence) -> Reason | None:
    """Return a reason if a success of this attempt was refused alike because of an assumed header of its request.

    Such a header may be refused before anybody looks at the key or at the fault.
    """
    if evidence.verdict.outcome is not Outcome.DRIFTED or not _has_assumed_header(evidence):
        return None
    detail = evidence.attempt.refused_headers.get(EndpointAnswer(evidence.exchange.endpoint, evidence.fingerprint))
    return Reason(ReasonCode.ASSUMPTION_FAILED, detail) if detail is not None else None


def find_assumed_endpoint_path(evidence: Evidence) -> Reason | None:
    """Return a reason if an error's endpoint has an assumed path, and nothing but 404 or 405 ever came from there."""
    differs = any(finding.is_drift and finding.aspect is Aspect.STATUS for finding in evidence.verdict.findings)
    if not evidence.assumed_path_reason or evidence.verdict.outcome is not Outcome.DRIFTED or not differs:
        return None
    if evidence.status not in NO_SUCH_PATH or evidence.endpoint in evidence.key.reached_endpoints:
        return None
    detail = f"path: {evidence.assumed_path_reason} Nothing but 404 or 405 came from {evidence.endpoint}"
    return Reason(ReasonCode.ASSUMPTION_FAILED, detail)


def compare_attempt(evidence_of_answers: Iterable[Evidence]) -> AttemptEvidence:
    """Learn from all answers of an attempt which assumptions are right, and which assumed headers are refused."""
    evidence_of_answers = tuple(evidence_of_answers)
    confirmed = frozenset(
        assumption
        for evidence in evidence_of_answers
        if evidence.verdict.outcome is Outcome.CONFORMS
        for assumption in _list_confirmed(evidence)
    )
    refused_headers = {}
    for evidence in evidence_of_answers:
        if evidence.verdict.outcome is Outcome.DRIFTED and _has_assumed_header(evidence):
            reason = _find_failed_assumption(replace(evidence, attempt=AttemptEvidence(confirmed)))
            if reason is not None:
                answer = EndpointAnswer(evidence.exchange.endpoint, evidence.fingerprint)
                refused_headers[answer] = reason.detail
    return AttemptEvidence(confirmed, refused_headers)


def _list_confirmed(evidence: Evidence) -> Iterator[Assumption]:
    """Yield the assumptions on which a conforming answer rests: those of its request, if a success was asked for."""
    status = evidence.expected.status
    if is_no_refusal(status) and status != CONTINUE_STATUS:
        yield from (Assumption(evidence.exchange.endpoint, key) for key in _list_open_assumptions(evidence))


def _find_failed_assumption(evidence: Evidence) -> Reason | None:
    return find_assumed_path(evidence) or find_assumed_trigger(evidence) or find_assumed_request(evidence)


def _blame(evidence: Evidence, key: str) -> Reason:
    quoted = quote_message(evidence.response, evidence.vocabulary)
    detail = f"{quoted}; what we assumed may be why: {key}: {evidence.expected.request_assumptions[key]}"
    return Reason(ReasonCode.ASSUMPTION_FAILED, detail)


def _list_open_assumptions(evidence: Evidence) -> list[str]:
    """List what is assumed of this very request and not confirmed."""
    return [
        key
        for key in evidence.expected.request_assumptions
        if is_part_of(evidence.request, key)
        and Assumption(evidence.exchange.endpoint, key) not in evidence.attempt.confirmed
    ]


def is_part_of(request: Request, key: str) -> bool:
    """Whether a request holds what is assumed (`body:/tools`, `query:order`).

    A path, a header and a whole body are always part of it. So is a field of a body that is kept as text, in which it
    cannot be looked up.
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
    """Whether an error of the provider came with another status, type or code, and not just without one."""
    response, vocabulary = evidence.response, evidence.vocabulary
    differs = any(
        finding.is_drift and finding.aspect in _ERROR_ASPECTS and finding.observed != ABSENT_CLASS
        for finding in evidence.verdict.findings
    )
    body = answer_body(evidence.expected, response)
    # Some documented refusals are a JSON string or have no body (2:7.1).
    is_bare = not isinstance(body, dict | list) and response.body_type in ("json", "empty")
    return differs and (vocabulary.is_in_envelope(body) or (is_bare and vocabulary.has_status(response.status)))


# Statuses of a refusal that may be due to a value that a request names, whatever else is wrong with the request.
_NAMED_VALUE_STATUSES = frozenset({403, 404, 410})

# The same if nothing else is wrong with the request.
_BLAMING_STATUSES = _NAMED_VALUE_STATUSES | {400, 422}

_UNJUDGED = frozenset({Outcome.INCONCLUSIVE, Outcome.HARNESS_ERROR})


def find_unconfirmed_value(evidence: Evidence) -> Reason | None:
    """Return a reason if the answer may be due to values of the target, and no success with this key named them."""
    target = evidence.key.target
    unconfirmed = find_blamed_values(evidence, target.unconfirmed_values) - evidence.key.confirmed_values
    if not unconfirmed:
        return None
    fixes = " or ".join(target.value_fixes.get(name, name) for name in sorted(unconfirmed))
    detail = f"{fixes}: it is refused wherever it is named, and nothing shows that this key may use it"
    return Reason(ReasonCode.VALUE_NOT_FOUND, detail)


def find_unconfirmed_host(evidence: Evidence) -> Reason | None:
    """Return a reason if nothing from the address that was asked was clearly the provider's."""
    service, target = evidence.unconfirmed_host, evidence.key.target
    if not service or service in evidence.key.confirmed_hosts or evidence.verdict.outcome in _UNJUDGED:
        return None
    name = target.address_names.get(service, service)
    detail = f"nothing from {target.addresses[service]} was as documented; look at {name}"
    return Reason(ReasonCode.CONTROL_FAILED, detail)


def find_blamed_values(evidence: Evidence, values: Mapping[str, str]) -> frozenset[str]:
    """Return the values that alone may explain the answer: a refusal, or a list filtered by one of them."""
    if not values or not _is_in_question(evidence.verdict):
        return frozenset()
    request, status = evidence.request, evidence.status
    if is_failed_setup(evidence.verdict):
        return list_named_values(request, values) if status in _BLAMING_STATUSES else frozenset()
    filtered_by = _list_values(values, unquote(request.url.partition("?")[2]))
    if status is not None and is_no_refusal(status):
        return filtered_by
    blames = _BLAMING_STATUSES if is_no_refusal(evidence.expected.status) else _NAMED_VALUE_STATUSES
    return filtered_by | list_named_values(request, values) if status in blames else frozenset()


def list_named_values(request: Request, values: Mapping[str, str]) -> frozenset[str]:
    """List which of these values a request names, as whole words of its path, headers or body.

    The query is left out: a value that a list is filtered by need not exist.
    """
    path = unquote(request.url.partition("?")[0])
    return _list_values(values, path, *request.headers.values(), *list_strings_and_names(request.body))


def find_service(request: Request, addresses: Mapping[str, str]) -> str:
    """Return which of these services was asked; empty if none. The scheme is ignored, for WebSockets."""
    url = _without_scheme(request.url)
    services = [name for name, address in addresses.items() if url.startswith(_without_scheme(address))]
    return max(services, key=lambda name: len(addresses[name]), default="")


def confirms_host(evidence: Evidence) -> bool:
    """Whether only the provider would answer so: it conforms, and an empty object with its status would not."""
    response = evidence.response
    if evidence.verdict.outcome is not Outcome.CONFORMS:
        return False
    if response.events is not None or response.close is not None or response.grpc is not None:
        return True
    empty = replace(evidence.exchange, response=replace(response, body={}, body_type="json", cut=None))
    return any(finding.is_drift for finding in weigh_findings(evidence.expected, compare(evidence.expected, empty)))


def _is_in_question(verdict: Verdict) -> bool:
    """Whether a value may explain the verdict: a drift, a restriction, a failed assumption or a failed setup.

    A difference in headers alone is not due to a value: a refusal would differ in status or body as well.
    """
    if verdict.outcome is Outcome.DRIFTED:
        return any(finding.is_drift and finding.aspect is not Aspect.HEADER for finding in verdict.findings)
    return verdict.outcome is Outcome.RESTRICTED or verdict.has_failed_assumption or is_failed_setup(verdict)


def is_failed_setup(verdict: Verdict) -> bool:
    """Whether nothing was asked because a setup before it failed."""
    return verdict.reason is not None and verdict.reason.code == ReasonCode.SETUP_FAILED


def _list_values(values: Mapping[str, str], *texts: str) -> frozenset[str]:
    text = "\n".join(texts)
    return frozenset(name for name, value in values.items() if _as_word(value).search(text))


@lru_cache(maxsize=256)
def _as_word(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.-]){re.escape(text)}(?![\w.-])")


def _without_scheme(url: str) -> str:
    return url.partition("://")[2] or url
