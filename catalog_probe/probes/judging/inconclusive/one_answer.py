"""One answer to everything: the same answer to different faults shows nothing of any of them.

A blocked account may be refused in one sentence whatever is sent: each record that documents the status would conform.
A portal before the provider may answer 200 to everything: each record would drift. The fault-free request decides. If
it is answered otherwise, the message is generic and the verdicts stay. If it is answered alike, nobody looked at the
faults.

Often the run proves it by itself: the requests that it sends anyway include some without a fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.catalog.reading.expectations import expected_http_status, http_status_of
from catalog_probe.probes.judging.comparison.basis import is_no_refusal, weigh_findings
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.comparison.findings import normalize_message
from catalog_probe.probes.judging.inconclusive.evidence import (
    EndpointAnswer,
    FaultFreeAnswer,
    FaultFreeResult,
    Fingerprint,
    Replacement,
)
from catalog_probe.probes.judging.inconclusive.foreign import is_success_in_text

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence, KeyEvidence

# Different faults with one answer that are no accident: a run without trouble has two at most.
MIN_FAULTS = 3

# Different refusals in whose place one success came that are no accident. Statuses are counted and not faults: an API
# that no longer refuses unknown ids answers many 404s with a success, and that is drift.
MIN_STATUSES = 3

# How often the fault-free request is sent if its answer gets lost.
MAX_REQUESTS = 2

_TRANSIENT_STATUSES = frozenset({408, 429})


def find_answer_to_everything(evidence: Evidence) -> Reason | None:
    """Return a reason if a request without a fault was answered alike."""
    proof = _find_proof(evidence.key, evidence.fingerprint) if _may_answer_everything(evidence) else ""
    return Reason(ReasonCode.ONE_ANSWER_TO_EVERYTHING, proof) if proof else None


def find_unclear_answer(evidence: Evidence) -> Reason | None:
    """Return a reason if several faults were answered alike, and the fault-free request showed nothing.

    On that endpoint every verdict is retracted. On others a match stays, for it was answered as documented. A mismatch
    with another key stays too, unless the lane's key got this answer in place of others.
    """
    if not _may_answer_everything(evidence):
        return None
    key, fingerprint = evidence.key, evidence.fingerprint
    fault_free = _fault_free_answer(evidence)
    if fault_free is not None:
        is_unknown = fault_free.result is FaultFreeResult.UNKNOWN
        return Reason(ReasonCode.FAULT_FREE_NOT_ALLOWED, fault_free.detail) if is_unknown else None

    # From here on it is another endpoint than that of the fault-free request.
    unknown_details = _list_details(key, fingerprint, FaultFreeResult.UNKNOWN)
    if not unknown_details:
        return None
    is_match = evidence.verdict.outcome is not Outcome.DRIFTED and not evidence.verdict.has_failed_assumption
    has_replaced_success = bool(key.unprovoked_endpoints.get(fingerprint))
    has_replaced_error = any(replacement.fault for replacement in key.replacements.get(fingerprint, ()))
    concerns_key = evidence.own_key or has_replaced_success or has_replaced_error
    if is_match or not concerns_key:
        return None
    return Reason(ReasonCode.FAULT_FREE_NOT_ALLOWED, unknown_details[0])


def is_generic(evidence: Evidence) -> bool:
    """Whether the fault-free request was answered otherwise: the answer depends on the request."""
    fault_free = _fault_free_answer(evidence)
    return fault_free is not None and fault_free.result is FaultFreeResult.DIFFERENT


def describe_generic_message(evidence: Evidence) -> Finding:
    """Return a note on an answer that conforms: several faults share its message."""
    fault_free = evidence.key.fault_free_answers[EndpointAnswer(evidence.endpoint, evidence.fingerprint)]
    return Finding(
        code=FindingCode.GENERIC_MESSAGE,
        aspect=Aspect.MESSAGE,
        severity=Severity.INFO,
        message=fault_free.detail,
        label=evidence.expected.label,
        observed=evidence.fingerprint.message,
    )


def add_refusal(key: KeyEvidence, evidence: Evidence) -> None:
    """Remember which fault a refusal, or a success in its place, answered, and what it came in place of."""
    if not _may_answer_everything(evidence):
        return
    fingerprint, verdict = evidence.fingerprint, evidence.verdict
    documented_status = expected_http_status(evidence.expected)
    is_replacement = _replaces_documented(evidence)
    if is_replacement:
        # By the path, and not by the record: the record of a limit counts as its own endpoint, and is asked on another.
        # An endpoint that is in no record counts by method and URL.
        endpoint = evidence.vocabulary.endpoints.find(evidence.exchange) or evidence.endpoint
        source = endpoint or f"{evidence.request.method} {evidence.request.url}"
        replacement = Replacement(evidence.fault, documented_status, source)
        key.replacements.setdefault(fingerprint, set()).add(replacement)
    # The rest counts what the lane's key met. That one endpoint lets a request through is drift, and is not counted.
    if not evidence.own_key or _may_be_success_of_endpoint(evidence):
        return
    # A request with a wrong assumption may be refused for that. One that we only assumed to have the fault is right.
    is_request_right = verdict.has_unknown_trigger or not verdict.has_failed_assumption
    if evidence.fault and evidence.endpoint and is_request_right:
        answer = EndpointAnswer(evidence.endpoint, fingerprint)
        key.faults_by_answer.setdefault(answer, set()).add(evidence.fault)
    replaces_success = (is_replacement or verdict.has_failed_assumption) and is_no_refusal(documented_status)
    if replaces_success and not evidence.provokes_refusal:
        key.unprovoked_endpoints.setdefault(fingerprint, set()).add(evidence.endpoint)


def list_suspicions(key: KeyEvidence) -> list[EndpointAnswer]:
    """List the answers to too many faults for which the fault-free request is still to be sent.

    An answer that is already known to be one to everything needs no further request.
    """
    suspicious = (
        answer
        for answer, faults in key.faults_by_answer.items()
        if len(faults) >= MIN_FAULTS and answer not in key.fault_free_answers
    )
    return sorted(answer for answer in suspicious if not _find_proof(key, answer.fingerprint))


def judge_fault_free(
    suspicion: EndpointAnswer, answer: Exchange, expected: Expected, vocabulary: ProviderVocabulary
) -> FaultFreeAnswer:
    """Return what the answer to a fault-free request shows; `expected` is what a control must be answered with."""
    request = f"{answer.request.method} {answer.request.url} without a fault"
    response, fingerprint = answer.response, suspicion.fingerprint
    if response is None:
        failure = answer.failure.code if answer.failure else "nothing"
        return FaultFreeAnswer(FaultFreeResult.UNKNOWN, f"{request} was not answered: {failure}")
    status = http_status_of(response, expected.provider)
    if Fingerprint(status, normalize_message(expected, response, vocabulary)) == fingerprint:
        return FaultFreeAnswer(FaultFreeResult.SAME, _describe_same_answer(request, fingerprint))
    # A refusal of another kind shows as much as a success: the request was told apart from those with a fault.
    if status is None or status >= 500 or status in _TRANSIENT_STATUSES:
        return FaultFreeAnswer(FaultFreeResult.UNKNOWN, f"{request} was answered {status}")
    detail = f"{request} was answered {status}; different faults got: {fingerprint.message}"
    return FaultFreeAnswer(FaultFreeResult.DIFFERENT, detail)


def _find_proof(key: KeyEvidence, fingerprint: Fingerprint) -> str:
    """Return which request shows that an answer is one to everything; empty if none does."""
    details = _list_details(key, fingerprint, FaultFreeResult.SAME)
    if details:
        return details[0]
    endpoint = _find_proof_of_run(key, fingerprint)
    return _describe_same_answer(f"{endpoint} without a fault", fingerprint) if endpoint else ""


def _find_proof_of_run(key: KeyEvidence, fingerprint: Fingerprint) -> str:
    """Return an endpoint on which the run's own requests show it; empty if none does."""
    replacements = key.replacements.get(fingerprint, set())
    unprovoked = key.unprovoked_endpoints.get(fingerprint, set())
    endpoints = {replacement.endpoint for replacement in replacements}
    # One endpoint alone may be gone: that is drift, and is reported.
    if len(endpoints) < 2:
        return ""
    if unprovoked:
        # A request without a fault was refused so, and so were too many faults.
        faults = {replacement.fault for replacement in replacements if replacement.fault}
        for answer, answered_faults in key.faults_by_answer.items():
            if answer.fingerprint == fingerprint:
                faults |= answered_faults
        return min(unprovoked) if len(faults) >= MIN_FAULTS else ""
    # The same success in place of refusals with different statuses. A single refusal that is let through is drift.
    is_success = fingerprint.status is not None and fingerprint.status < 400
    statuses = {replacement.status for replacement in replacements}
    return min(endpoints) if is_success and len(statuses) >= MIN_STATUSES else ""


def _fault_free_answer(evidence: Evidence) -> FaultFreeAnswer | None:
    """Return what the fault-free request of this endpoint showed of this answer; None if none was suspected."""
    return evidence.key.fault_free_answers.get(EndpointAnswer(evidence.endpoint, evidence.fingerprint))


def _list_details(key: KeyEvidence, fingerprint: Fingerprint, result: FaultFreeResult) -> list[str]:
    detail_by_endpoint = {
        answer.endpoint: fault_free.detail
        for answer, fault_free in key.fault_free_answers.items()
        if answer.fingerprint == fingerprint and fault_free.result is result
    }
    return [detail_by_endpoint[endpoint] for endpoint in sorted(detail_by_endpoint)]


def _describe_same_answer(request: str, fingerprint: Fingerprint) -> str:
    return f"{request} was answered alike: {fingerprint.status}: {fingerprint.message or 'no words'}"


def _may_answer_everything(evidence: Evidence) -> bool:
    """Whether it was judged, and is a refusal, or a complete success in place of another answer."""
    verdict, response, status = evidence.verdict, evidence.response, evidence.status
    if not evidence.is_judged or not verdict.observations or status is None:
        return False
    if status >= 400:
        return True
    # A stream or a call may still fail after its success began. A success in text is a rule of its own (`foreign`).
    is_complete = 200 <= (response.status or 0) < 300 and response.grpc is None and response.events is None
    return _replaces_documented(evidence) and is_complete and not is_success_in_text(evidence.expected, response)


def _replaces_documented(evidence: Evidence) -> bool:
    """Whether it came in place of the documented answer; also to a request that we only assumed to have the fault."""
    return evidence.is_mismatch or evidence.verdict.has_unknown_trigger


def _may_be_success_of_endpoint(evidence: Evidence) -> bool:
    """Whether a success may be the documented one of its endpoint: letting the request through is drift, then."""
    if evidence.status is None or evidence.status >= 400:
        return False
    if evidence.success is None:
        return True  # nothing is documented that it could be compared with
    differences = weigh_findings(evidence.success, compare(evidence.success, evidence.exchange))
    return not any(finding.is_drift and finding.aspect is Aspect.BODY for finding in differences)
