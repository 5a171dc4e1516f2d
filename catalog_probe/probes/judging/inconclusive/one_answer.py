"""Rules on one answer to everything: the same answer to different faults shows nothing of any of them.

A blocked account may be refused in one sentence whatever is sent: each record that documents the status would conform.
A portal before the provider may answer 200 to everything: each record would drift. Two proofs tell such an answer from
a provider that only words several faults alike:

- *The fault-free request.* If an endpoint refuses `MIN_FAULTS` different faults alike, the run sends the request
  without a fault. If that is refused alike too, the provider did not look at the faults, and every verdict on this
  answer is retracted. If not, the message is generic, and the verdicts stay.
- *The run itself.* Often the requests that the run sends anyway include one without a fault that was refused alike.

Only the run itself proves a *success* to be one answer to everything: by the different statuses in whose place it came.
An endpoint that no longer refuses a fault is drift, however alike its successes are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.exchange import is_success
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.catalog.reading.expectations import expected_http_status, http_status_of
from catalog_probe.probes.judging.comparison.basis import is_no_refusal
from catalog_probe.probes.judging.comparison.findings import normalize_message
from catalog_probe.probes.judging.inconclusive.evidence import (
    EndpointAnswer,
    FaultFreeAnswer,
    FaultFreeResult,
    Fingerprint,
    Replacement,
    find_source,
)

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence, KeyEvidence

# Different faults with one answer that are no accident: a run without trouble has two at most.
MIN_FAULTS = 3

# Different documented statuses in whose place one success came that are no accident. Statuses are counted and not
# faults: an API that no longer refuses unknown ids answers many 404s with a success, and that is drift.
MIN_STATUSES = 3

# How often the fault-free request is sent if its answer gets lost.
MAX_REQUESTS = 2

_TRANSIENT_STATUSES = frozenset({408, 429})


def find_answer_to_everything(evidence: Evidence) -> Reason | None:
    """Return a reason if a request without a fault was answered alike.

    Example: three faults on messages and the fault-free message all get "403: This account is blocked." Then a record
    of any endpoint that got this answer is retracted, also one that documents a 403.
    """
    proof = _describe_proof(evidence.key, evidence.fingerprint) if _may_answer_everything(evidence) else ""
    return Reason(ReasonCode.ONE_ANSWER_TO_EVERYTHING, proof) if proof else None


def find_unclear_answer(evidence: Evidence) -> Reason | None:
    """Return a reason if several faults were refused alike, and the fault-free request showed nothing.

    On the endpoint of the fault-free request every verdict is retracted. On other endpoints a match stays, because it
    was answered as documented, and the same message may be right there.
    """
    if not _may_answer_everything(evidence):
        return None
    fault_free = _find_fault_free_answer(evidence)
    if fault_free is not None:
        details = [fault_free.detail] if fault_free.result is FaultFreeResult.UNKNOWN else []
    elif evidence.verdict.outcome is Outcome.CONFORMS:
        details = []
    else:
        details = _list_details(evidence.key, evidence.fingerprint, FaultFreeResult.UNKNOWN)
    return Reason(ReasonCode.FAULT_FREE_NOT_ALLOWED, details[0]) if details else None


def note_shared_message(evidence: Evidence) -> Finding | None:
    """Return a note on an answer whose message several faults share, though the fault-free request was answered."""
    fault_free = _find_fault_free_answer(evidence)
    if fault_free is None or fault_free.result is not FaultFreeResult.DIFFERENT:
        return None
    return Finding(
        code=FindingCode.GENERIC_MESSAGE,
        aspect=Aspect.MESSAGE,
        severity=Severity.INFO,
        remark=fault_free.detail,
        label=evidence.expected.label,
        observed=evidence.fingerprint.message,
    )


def add_answer(key: KeyEvidence, evidence: Evidence) -> None:
    """Remember in whose place an answer came and, of a refusal, which fault or success of the lane's key it met."""
    if not _may_answer_everything(evidence):
        return
    verdict, fingerprint = evidence.verdict, evidence.fingerprint
    documented_status = expected_http_status(evidence.expected)
    source = find_source(evidence.exchange, evidence.vocabulary)
    if _replaces_documented(evidence):
        key.replacements.setdefault(fingerprint, set()).add(Replacement(documented_status, source))
    if is_no_refusal(evidence.status) or not evidence.own_key:
        return
    # A refusal may be due to a wrong assumption on the request. If only the trigger is assumed, the request is right.
    is_request_right = verdict.has_unknown_trigger or not verdict.has_failed_assumption
    # A fault counts by its endpoint: without an endpoint there is no fault-free request to compare it with.
    if evidence.fault and evidence.endpoint and is_request_right:
        answer = EndpointAnswer(evidence.endpoint, fingerprint)
        key.faults_by_answer.setdefault(answer, set()).add(evidence.fault)
    is_refused_success = not evidence.fault and is_no_refusal(documented_status)
    if is_refused_success and verdict.outcome is not Outcome.CONFORMS:
        key.refused_successes.setdefault(fingerprint, set()).add(source)


def list_suspicions(key: KeyEvidence) -> list[EndpointAnswer]:
    """List the refusals of too many faults for which the fault-free request is still to be sent.

    A refusal that is already known to be one answer to everything needs no further request.
    """
    suspicious = (
        answer
        for answer, faults in key.faults_by_answer.items()
        if len(faults) >= MIN_FAULTS and answer not in key.fault_free_answers
    )
    return sorted(answer for answer in suspicious if not _describe_proof(key, answer.fingerprint))


def judge_fault_free(
    suspicion: EndpointAnswer, answer: Exchange, expected: Expected, vocabulary: ProviderVocabulary
) -> FaultFreeAnswer:
    """Return what the answer to a fault-free request shows; `expected` is what a control must be answered with.

    Examples, if three faults got "400: Requests of this kind cannot be answered today.": the same 400 is SAME, a 200
    and a 400 with other words are DIFFERENT, a 500 and a lost answer are UNKNOWN.
    """
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


def _describe_proof(key: KeyEvidence, fingerprint: Fingerprint) -> str:
    """Return which request shows that an answer is one answer to everything; empty if no request does."""
    details = _list_details(key, fingerprint, FaultFreeResult.SAME)
    if details:
        return details[0]
    endpoint = _find_endpoint_of_proof(key, fingerprint)
    return _describe_same_answer(f"{endpoint} without a fault", fingerprint) if endpoint else ""


def _find_endpoint_of_proof(key: KeyEvidence, fingerprint: Fingerprint) -> str:
    """Return an endpoint on which the run's own requests prove one answer to everything; empty if none does.

    Example of a refusal: "403: Forbidden" in place of the success of models, and to three faults on messages.
    Example of a success: `{"error": "captcha_required"}` with 200, in place of a documented 400, 401 and 404.
    """
    replacements = key.replacements.get(fingerprint, set())
    endpoints = {replacement.endpoint for replacement in replacements}
    # One endpoint alone may be gone: that is drift, and is reported.
    if len(endpoints) < 2:
        return ""
    if is_no_refusal(fingerprint.status):
        statuses = {replacement.status for replacement in replacements}
        return min(endpoints) if len(statuses) >= MIN_STATUSES else ""
    faults = {
        fault
        for answer, answered_faults in key.faults_by_answer.items()
        if answer.fingerprint == fingerprint
        for fault in answered_faults
    }
    refused_endpoints = key.refused_successes.get(fingerprint, set())
    return min(refused_endpoints) if refused_endpoints and len(faults) >= MIN_FAULTS else ""


def _find_fault_free_answer(evidence: Evidence) -> FaultFreeAnswer | None:
    """Return what the fault-free request of this endpoint showed of this answer; None if it was not suspected."""
    return evidence.key.fault_free_answers.get(EndpointAnswer(evidence.endpoint, evidence.fingerprint))


def _list_details(key: KeyEvidence, fingerprint: Fingerprint, result: FaultFreeResult) -> list[str]:
    """List the details of the fault-free requests with this result, on any endpoint, in a fixed order."""
    detail_by_endpoint = {
        answer.endpoint: fault_free.detail
        for answer, fault_free in key.fault_free_answers.items()
        if answer.fingerprint == fingerprint and fault_free.result is result
    }
    return [detail_by_endpoint[endpoint] for endpoint in sorted(detail_by_endpoint)]


def _describe_same_answer(request: str, fingerprint: Fingerprint) -> str:
    return f"{request} was answered alike: {fingerprint.status}: {fingerprint.message or 'no words'}"


def _may_answer_everything(evidence: Evidence) -> bool:
    """Whether an answer was judged, and is a refusal, or a complete success in place of the documented answer."""
    if not evidence.is_judged or not evidence.verdict.observations or evidence.status is None:
        return False
    if not is_no_refusal(evidence.status):
        return True
    # A stream or a gRPC call may still fail after its success began.
    response = evidence.response
    is_complete_success = is_success(response.status) and response.grpc is None and response.events is None
    return is_complete_success and _replaces_documented(evidence)


def _replaces_documented(evidence: Evidence) -> bool:
    """Whether an answer came in place of the documented one, also if we only assumed that the request has the fault."""
    return evidence.is_mismatch or evidence.verdict.has_unknown_trigger
