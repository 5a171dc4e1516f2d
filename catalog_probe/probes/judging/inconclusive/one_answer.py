"""One answer to everything: the same answer whatever is asked, which shows nothing of what was asked.

A blocked account may be refused in one sentence whatever it sends: each record that documents the status would conform.
A portal before the provider may answer 200 to everything: each record would drift. But a provider may also refuse
several faults in the same words, and that is no trouble. Two proofs tell the trouble from it:

- *The fault-free request.* An endpoint refuses `MIN_FAULTS` different faults alike. Then the run sends the request
  without a fault to that endpoint. If this request is refused alike too, nobody looked at the faults. If it is answered
  differently, the provider did look at the faults, which only share their words.
- *The requests that the run sends anyway.* Two endpoints or more gave one answer in place of `MIN_STATUSES` different
  documented refusals. If that answer is itself a refusal, it also came in place of a documented success.
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

# Two faults may well share their words, e.g. two parameters that a model does not support. A third is worth a request.
MIN_FAULTS = 3

# An API that no longer refuses unknown ids gives many records a success in place of their 404: that is drift. So the
# documented refusals are told apart by their status, and not by their record.
MIN_STATUSES = 3

# If one endpoint was removed, its refusal comes in place of all that it documents: that is drift.
MIN_ENDPOINTS = 2

# How often `running.fault_free` sends a fault-free request whose answer gets lost; `planning.plan_text` counts so many.
MAX_REQUESTS = 2

_TRANSIENT_STATUSES = frozenset({408, 429})


def find_answer_to_everything(evidence: Evidence) -> Reason | None:
    """Return a reason if an answer is proven to be one answer to everything, on whichever endpoint it came.

    Example: three faults on messages and the fault-free message all get "403: This account is blocked." Then a record
    of any endpoint that got this answer is retracted, also one that documents a 403.
    """
    proof = _describe_proof(evidence.key, evidence.fingerprint) if _is_compared(evidence) else ""
    return Reason(ReasonCode.ONE_ANSWER_TO_EVERYTHING, proof) if proof else None


def find_unclear_answer(evidence: Evidence) -> Reason | None:
    """Return a reason if several faults were refused alike, and their fault-free request showed nothing.

    Example: three faults on messages were refused alike, and the fault-free message is not allowed or was answered 500.
    Then each record that got this answer from messages is retracted, also one that documents it. A record that got the
    answer from another endpoint is retracted only if it documents something else.
    """
    if not _is_compared(evidence):
        return None
    fault_free = _find_fault_free_answer(evidence)
    if fault_free is None and evidence.verdict.outcome is not Outcome.CONFORMS:
        fault_free = _find_on_any_endpoint(evidence.key, evidence.fingerprint, FaultFreeResult.UNKNOWN)
    if fault_free is None or fault_free.result is not FaultFreeResult.UNKNOWN:
        return None
    return Reason(ReasonCode.FAULT_FREE_NOT_ALLOWED, fault_free.detail)


def note_shared_message(evidence: Evidence) -> Finding | None:
    """Return a note on a message that several faults share, if the fault-free request was answered differently."""
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
    """Remember which documented answer an answer replaces, and which fault was refused with it.

    Example: "403: Forbidden" came from messages in place of the 400 of a missing field. The evidence of the key gets
    the replacement of a 400 on messages, and the missing field as a fault that got this answer.
    """
    if not _is_compared(evidence):
        return
    documented_status = expected_http_status(evidence.expected)
    documents_success = is_no_refusal(documented_status)
    # If we guessed the request of an error wrong, another refusal is right. But which request *provokes* the error may
    # be guessed: its other parts are right.
    is_request_guessed = evidence.verdict.has_failed_assumption and not evidence.verdict.has_unknown_trigger
    if not documents_success and is_request_guessed:
        return
    # If another key than the lane's is refused a success, the refusal may be due to that key.
    is_due_to_key = documents_success and not evidence.own_key
    if evidence.verdict.outcome is not Outcome.CONFORMS and not is_due_to_key:
        replacement = Replacement(documented_status, find_source(evidence.exchange, evidence.vocabulary))
        key.replacements.setdefault(evidence.fingerprint, set()).add(replacement)
    # Only an endpoint has a fault-free request.
    if evidence.fault and evidence.endpoint and not is_no_refusal(evidence.status):
        answer = EndpointAnswer(evidence.endpoint, evidence.fingerprint)
        key.faults_by_answer.setdefault(answer, set()).add(evidence.fault)


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
    if status is None or status >= 500 or status in _TRANSIENT_STATUSES:
        return FaultFreeAnswer(FaultFreeResult.UNKNOWN, f"{request} was answered {status}")
    # Also if this is another refusal: the provider told the request from those with a fault.
    detail = f"{request} was answered {status}; different faults got: {fingerprint.message}"
    return FaultFreeAnswer(FaultFreeResult.DIFFERENT, detail)


def _describe_proof(key: KeyEvidence, fingerprint: Fingerprint) -> str:
    """Return which requests show that an answer is one answer to everything; empty if none do."""
    fault_free = _find_on_any_endpoint(key, fingerprint, FaultFreeResult.SAME)
    return fault_free.detail if fault_free is not None else _describe_proof_by_replacements(key, fingerprint)


def _describe_proof_by_replacements(key: KeyEvidence, fingerprint: Fingerprint) -> str:
    """Return how the documented answers that an answer replaces prove one answer to everything; empty if they do not.

    Example of a refusal: "403: Forbidden" in place of a documented 400, 401 and 404 of messages, and of the 200 of
    models. Example of a success: `200 {"error": "captcha_required"}` in place of a documented 400 and 401 of messages,
    and of the 404 of models.
    """
    replacements = key.replacements.get(fingerprint, set())
    endpoints = {replacement.endpoint for replacement in replacements}
    refused_statuses = {item.status for item in replacements if not is_no_refusal(item.status)}
    if len(endpoints) < MIN_ENDPOINTS or len(refused_statuses) < MIN_STATUSES:
        return ""
    if is_no_refusal(fingerprint.status):
        statuses = ", ".join(sorted(map(str, refused_statuses)))
        return _describe_same_answer(f"each request that should be refused ({statuses})", fingerprint)
    endpoints_without_success = {item.endpoint for item in replacements if is_no_refusal(item.status)}
    if not endpoints_without_success:
        return ""
    return _describe_same_answer(f"{min(endpoints_without_success)} without a fault", fingerprint)


def _find_fault_free_answer(evidence: Evidence) -> FaultFreeAnswer | None:
    """Return what the fault-free request of this endpoint showed of this answer; None if it was not suspected."""
    return evidence.key.fault_free_answers.get(EndpointAnswer(evidence.endpoint, evidence.fingerprint))


def _find_on_any_endpoint(
    key: KeyEvidence, fingerprint: Fingerprint, result: FaultFreeResult
) -> FaultFreeAnswer | None:
    """Return the first fault-free request with this result on an answer, in the order of the endpoints."""
    answers = sorted(answer for answer in key.fault_free_answers if answer.fingerprint == fingerprint)
    return next((found for answer in answers if (found := key.fault_free_answers[answer]).result is result), None)


def _describe_same_answer(requests: str, fingerprint: Fingerprint) -> str:
    return f"{requests} was answered alike: {fingerprint.status}: {fingerprint.message or 'no words'}"


def _is_compared(evidence: Evidence) -> bool:
    """Whether an answer is compared with the other answers to its key.

    Each judged refusal is. A success is compared only if it came in place of the documented answer: a success as
    documented shows what was asked for. Example: `200 {"error": "captcha_required"}` in place of a 404 is compared.
    """
    if not evidence.is_judged or evidence.status is None:
        return False
    if not is_no_refusal(evidence.status):
        return True
    # A stream or a gRPC call may still fail after its success began.
    response = evidence.response
    is_complete_success = is_success(response.status) and response.grpc is None and response.events is None
    return is_complete_success and evidence.verdict.outcome is not Outcome.CONFORMS
