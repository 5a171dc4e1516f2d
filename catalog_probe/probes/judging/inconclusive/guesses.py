"""Requests that the documents do not show: where what we assumed of one may be why it was answered so.

Only an answer that is about the request itself speaks against how we asked. A field that the request lacks is not to
blame, nor is anything on which a success of the same record rests.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from catalog_probe.catalog.evidence.drift_identity import ABSENT as ABSENT_CLASS
from catalog_probe.catalog.model import Aspect, Outcome, Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.status import NO_SUCH_PATH
from catalog_probe.catalog.reading.assertions import TRIGGER
from catalog_probe.catalog.reading.expectations import CONTINUE_STATUS
from catalog_probe.catalog.reading.expected import answer_body
from catalog_probe.catalog.text.json_pointer import ABSENT, find_value
from catalog_probe.probes.judging.comparison.basis import is_no_refusal
from catalog_probe.probes.judging.comparison.message import quote_message
from catalog_probe.probes.judging.inconclusive.evidence import Assumption, AttemptEvidence
from catalog_probe.probes.judging.inconclusive.key_evidence import AnswerOn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Request
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence

PATH, ENDPOINTS = "path", "endpoints"
"""What may be assumed of all requests of a record: where they go, and on which endpoints its error is met."""

_BLAMES_THE_REQUEST = NO_SUCH_PATH | {400, 415, 422}
"""Statuses of a refusal that is about the request, and not about the key, the account or the state of something."""

_ONE_ERROR_FROM_ANOTHER = frozenset({Aspect.STATUS, Aspect.TYPE, Aspect.CODE})


def find_assumed_request(evidence: Evidence) -> Reason | None:
    """Return a reason if a success was stated, and a refusal came that a header, query or field of ours may explain."""
    if not is_no_refusal(evidence.expected.status) or evidence.response.status not in _BLAMES_THE_REQUEST:
        return None
    return _blame(evidence, *(within for within in _open_guesses(evidence) if within not in (PATH, TRIGGER, ENDPOINTS)))


def find_assumed_path(evidence: Evidence) -> Reason | None:
    """Return a reason if the path is a guess, and what came is what comes where no such path or method is."""
    differing = {finding.aspect for finding in evidence.verdict.findings if finding.is_drift}
    # An unknown path may be answered 404 without the provider's envelope (1:4.4), where a 404 is stated.
    without_envelope = Aspect.BODY in differing and evidence.response.body_type != "json"
    if evidence.response.status not in NO_SUCH_PATH or not (Aspect.STATUS in differing or without_envelope):
        return None
    return _blame(evidence, PATH) if PATH in _open_guesses(evidence) else None


def find_assumed_trigger(evidence: Evidence) -> Reason | None:
    """Return a reason if the request is a guess at what provokes an error, and the provider answered otherwise.

    It accepted the request, or told another error. Headers and shape are compared where the stated error came.
    """
    if TRIGGER not in _open_guesses(evidence) or not (_is_accepted(evidence) or _is_another_error(evidence)):
        return None
    return _blame(evidence, TRIGGER)


def find_refused_header(evidence: Evidence) -> Reason | None:
    """Return a reason if the same words refused a success of this attempt where the request has a header of ours.

    A header that nobody should have sent may be refused before anybody looks at the key or at the fault.
    """
    if evidence.verdict.outcome is not Outcome.DRIFTED or not _has_assumed_header(evidence):
        return None
    blamed = evidence.attempt.refused_headers.get(AnswerOn(evidence.exchange.endpoint, evidence.words))
    return Reason(ReasonCode.ASSUMPTION_FAILED, blamed) if blamed is not None else None


def find_endpoints_path(evidence: Evidence) -> Reason | None:
    """Return a reason if an error's endpoint has an assumed path, and nothing but 404 or 405 ever came from there."""
    differs = any(finding.is_drift and finding.aspect is Aspect.STATUS for finding in evidence.verdict.findings)
    if not evidence.path_guess or evidence.verdict.outcome is not Outcome.DRIFTED or not differs:
        return None
    if evidence.status not in NO_SUCH_PATH or evidence.endpoint in evidence.key.reached:
        return None
    detail = f"path: {evidence.path_guess} Nothing but 404 or 405 came from {evidence.endpoint}"
    return Reason(ReasonCode.ASSUMPTION_FAILED, detail)


def compare_attempt(observations: Iterable[Evidence]) -> AttemptEvidence:
    """Learn from all answers of an attempt which assumptions are right, and which headers of ours are refused."""
    observations = tuple(observations)
    matched = [evidence for evidence in observations if evidence.verdict.outcome is Outcome.CONFORMS]
    confirmed = AttemptEvidence(frozenset(assumption for each in matched for assumption in _confirmed_by(each)))
    refused = {
        AnswerOn(evidence.exchange.endpoint, evidence.words): reason.detail
        for evidence in observations
        if evidence.verdict.outcome is Outcome.DRIFTED and _has_assumed_header(evidence)
        for reason in [_find_guess(replace(evidence, attempt=confirmed))]
        if reason is not None
    }
    return AttemptEvidence(confirmed.confirmed, refused)


def _confirmed_by(evidence: Evidence) -> Iterator[Assumption]:
    """The assumptions on which a match rests: those of its request, if a success was asked for."""
    stated = evidence.expected.status
    if is_no_refusal(stated) and stated != CONTINUE_STATUS:
        yield from (Assumption(evidence.exchange.endpoint, within) for within in _open_guesses(evidence))


def _find_guess(evidence: Evidence) -> Reason | None:
    return find_assumed_path(evidence) or find_assumed_trigger(evidence) or find_assumed_request(evidence)


def _blame(evidence: Evidence, *guesses: str) -> Reason | None:
    """Return the reason that blames the first of these guesses."""
    if not guesses:
        return None
    said = quote_message(evidence.response, evidence.known)
    blamed = f"{guesses[0]}: {evidence.expected.request_assumptions[guesses[0]]}"
    return Reason(ReasonCode.ASSUMPTION_FAILED, f"{said}; what we assumed may be why: {blamed}")


def _open_guesses(evidence: Evidence) -> list[str]:
    """What is assumed of this very request, and nothing has confirmed."""
    return [
        within
        for within in evidence.expected.request_assumptions
        if is_part_of(evidence.request, within)
        and Assumption(evidence.exchange.endpoint, within) not in evidence.attempt.confirmed
    ]


def is_part_of(request: Request, within: str) -> bool:
    """Whether a request holds what is assumed (`body:/tools`, `query:order`).

    A path, a header and a body as a whole are no part that a request may lack. Nor is a field of a body that is kept
    as text, in which nobody can look it up.
    """
    aspect, _, location = within.partition(":")
    if aspect == "query":
        return location in dict(parse_qsl(urlsplit(request.url).query, keep_blank_values=True))
    if aspect == "body" and location:
        return isinstance(request.body, str) or find_value(request.body, location) is not ABSENT
    return True


def _has_assumed_header(evidence: Evidence) -> bool:
    return any(within.startswith("header:") for within in evidence.expected.request_assumptions)


def _is_accepted(evidence: Evidence) -> bool:
    """Whether a request that should have been refused, or its socket closed, was accepted."""
    expected, response = evidence.expected, evidence.response
    if not is_no_refusal(response.status):
        return False
    stays_open = response.close is None and response.ended == "stalled"
    return not is_no_refusal(expected.status) or (
        expected.stream is not None and expected.stream.describes_close and stays_open
    )


def _is_another_error(evidence: Evidence) -> bool:
    """Whether an error of the provider came whose status, type or code is another one; not only absent."""
    response, known = evidence.response, evidence.known
    differs = any(
        finding.is_drift and finding.aspect in _ONE_ERROR_FROM_ANOTHER and finding.observed != ABSENT_CLASS
        for finding in evidence.verdict.findings
    )
    body = answer_body(evidence.expected, response)
    # Some documented refusals are a JSON string or have no body (2:7.1).
    is_bare = not isinstance(body, dict | list) and response.body_type in ("json", "empty")
    return differs and (known.is_in_envelope(body) or (is_bare and known.has_status(response.status)))
