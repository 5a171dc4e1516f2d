"""One answer to everything: the same words to different faults say nothing of any of them.

An account that somebody blocked may be refused in one sentence whatever is sent, and each record that documents the
status would conform. A portal before the provider answers 200 to everything, and each would drift. The same request
without its fault decides: if it succeeds, the message is generic and the verdicts stand; if it is answered alike,
nobody looked at any of the faults.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Finding, Outcome, Reason, Severity
from catalog_probe.catalog.model.codes import FindingCode, ReasonCode
from catalog_probe.catalog.reading.expected import expected_http_status
from catalog_probe.catalog.reading.grpc_statuses import http_status_of
from catalog_probe.probes.judging.comparison.basis import is_no_refusal, weigh_findings
from catalog_probe.probes.judging.comparison.compare import compare
from catalog_probe.probes.judging.comparison.message import normalize_message
from catalog_probe.probes.judging.inconclusive.foreign import is_success_in_text
from catalog_probe.probes.judging.inconclusive.key_evidence import (
    AnswerOn,
    FaultFreeAnswer,
    Replacement,
    Shows,
    Words,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence
    from catalog_probe.probes.judging.inconclusive.key_evidence import KeyEvidence

FAULTS = 3
"""So many different faults with one answer are no accident: a night without trouble has two at most."""

REQUESTS = 2
"""How often the fault-free request is sent at most, if its answer gets lost on the way."""

_OF_A_MOMENT = frozenset({408, 429})


def find_answer_to_everything(evidence: Evidence) -> Reason | None:
    """Return a reason if a request without a fault got these words as well."""
    where = _find_shown(evidence.key, evidence.words) if _is_refusal(evidence) else ""
    return Reason(ReasonCode.ONE_ANSWER_TO_EVERYTHING, where) if where else None


def find_words_in_doubt(evidence: Evidence) -> Reason | None:
    """Return a reason if several faults got these words, and the request without a fault showed nothing.

    On that endpoint nothing stands. On others a match does, for it was answered as documented; a mismatch with another
    key does unless the words came in place of other answers to the lane's key too.
    """
    if not _is_refusal(evidence):
        return None
    key, words = evidence.key, evidence.words
    own = key.fault_free.get(AnswerOn(evidence.endpoint, words))
    if own is not None:
        return Reason(ReasonCode.TWIN_NOT_ALLOWED, own.detail) if own.shows is Shows.NOTHING else None
    doubts = [answer for on, answer in sorted(_of_words(key, words)) if answer.shows is Shows.NOTHING]
    is_open = evidence.verdict.outcome is Outcome.DRIFTED or evidence.verdict.has_failed_assumption
    replaced_others = bool(key.plain.get(words)) or any(each.fault for each in key.replacements.get(words, ()))
    if not doubts or not is_open or not (evidence.own_key or replaced_others):
        return None
    return Reason(ReasonCode.TWIN_NOT_ALLOWED, doubts[0].detail)


def is_generic(evidence: Evidence) -> bool:
    """Whether the request without its fault was answered otherwise: the words depend on the request."""
    own = evidence.key.fault_free.get(AnswerOn(evidence.endpoint, evidence.words))
    return own is not None and own.shows is Shows.OTHERWISE


def describe_generic_message(evidence: Evidence) -> Finding:
    """Tell, of an answer that conforms, that several faults share its message."""
    own = evidence.key.fault_free[AnswerOn(evidence.endpoint, evidence.words)]
    return Finding(
        code=FindingCode.GENERIC_MESSAGE,
        aspect=Aspect.MESSAGE,
        severity=Severity.INFO,
        message=own.detail,
        label=evidence.expected.label,
        observed=evidence.words.message,
    )


def add_refusal(key: KeyEvidence, evidence: Evidence) -> None:
    """Remember what a refusal, or a success in place of one, answered and replaced."""
    if not _is_refusal(evidence):
        return
    words, verdict = evidence.words, evidence.verdict
    replaces = _replaces(evidence)
    if replaces:
        # Limits are stated as endpoints of their own, so the path tells where it was.
        path = evidence.known.endpoints.find(evidence.exchange) or evidence.endpoint
        where = path or f"{evidence.request.method} {evidence.request.url}"
        key.replacements.setdefault(words, set()).add(
            Replacement(evidence.fault, expected_http_status(evidence.expected), where)
        )
    if not evidence.own_key or _is_success_of_endpoint(evidence):
        return
    is_asked_rightly = verdict.has_unknown_trigger or not verdict.has_failed_assumption
    if evidence.fault and evidence.endpoint and is_asked_rightly:
        key.faults.setdefault(AnswerOn(evidence.endpoint, words), set()).add(evidence.fault)
    in_place_of_success = (replaces or verdict.has_failed_assumption) and is_no_refusal(
        expected_http_status(evidence.expected)
    )
    if in_place_of_success and not evidence.provokes_refusal:
        key.plain.setdefault(words, set()).add(evidence.endpoint)


def list_suspicions(key: KeyEvidence) -> list[AnswerOn]:
    """List what too many faults were answered with, and no request without a fault was sent for yet.

    What is known to be answered to everything needs no further request, on whichever endpoint.
    """
    suspicious = (on for on, faults in key.faults.items() if len(faults) >= FAULTS and on not in key.fault_free)
    return sorted(on for on in suspicious if not _find_shown(key, on.words))


def judge_fault_free(
    suspicion: AnswerOn, answer: Exchange, expected: Expected, known: ProviderVocabulary
) -> FaultFreeAnswer:
    """Tell what the answer to a fault-free request shows. `expected` is what a control must be answered with."""
    where = f"{answer.request.method} {answer.request.url} without a fault"
    response, words = answer.response, suspicion.words
    if response is None:
        failure = answer.failure.code if answer.failure else "nothing"
        return FaultFreeAnswer(Shows.NOTHING, f"{where} was not answered: {failure}")
    status = http_status_of(response, expected.provider)
    if Words(status, normalize_message(expected, response, known)) == words:
        return FaultFreeAnswer(Shows.ALIKE, _describe_alike(where, words))
    # A refusal of another kind shows as much as a success: the request was told apart from those with a fault.
    if status is None or status >= 500 or status in _OF_A_MOMENT:
        return FaultFreeAnswer(Shows.NOTHING, f"{where} was answered {status}")
    return FaultFreeAnswer(Shows.OTHERWISE, f"{where} was answered {status}; different faults got: {words.message}")


def _find_shown(key: KeyEvidence, words: Words) -> str:
    """Return who showed that these words are an answer to everything, or an empty text."""
    alike = [answer.detail for _, answer in sorted(_of_words(key, words)) if answer.shows is Shows.ALIKE]
    if alike:
        return alike[0]
    endpoint = _find_shown_by_the_night(key, words)
    return _describe_alike(f"{endpoint} without a fault", words) if endpoint else ""


def _find_shown_by_the_night(key: KeyEvidence, words: Words) -> str:
    """Return an endpoint on which the night's own requests showed it, or an empty text.

    A request without a fault was refused in these words, and so were too many faults, on several endpoints: one
    endpoint alone may be gone, and that is to be told. What is let through is to be told as well; but a success to the
    letter like those in place of refusals of other statuses is none.
    """
    replaced, plain = key.replacements.get(words, set()), key.plain.get(words, set())
    endpoints = {each.endpoint for each in replaced}
    if plain:
        documented = (faults for on, faults in key.faults.items() if on.words == words)
        different = len({each.fault for each in replaced}.union(*documented) - {""})
    else:
        is_success = words.status is not None and words.status < 400
        different = len({each.status for each in replaced}) if is_success else 0
    return min(plain or endpoints) if different >= FAULTS and len(endpoints) > 1 else ""


def _of_words(key: KeyEvidence, words: Words) -> Iterable[tuple[AnswerOn, FaultFreeAnswer]]:
    return ((on, answer) for on, answer in key.fault_free.items() if on.words == words)


def _describe_alike(where: str, words: Words) -> str:
    return f"{where} was answered alike: {words.status}: {words.message or 'no words'}"


def _is_refusal(evidence: Evidence) -> bool:
    """Whether it was judged, and is a refusal, or a whole success in place of another answer."""
    verdict, response, status = evidence.verdict, evidence.response, evidence.status
    if not evidence.is_judged or not verdict.observations or status is None:
        return False
    if status >= 400:
        return True
    is_whole = 200 <= (response.status or 0) < 300 and response.grpc is None and response.events is None
    return _replaces(evidence) and is_whole and not is_success_in_text(evidence.expected, response)


def _replaces(evidence: Evidence) -> bool:
    """Whether it came in place of another answer. To a request that is only assumed to be the fault, it may as well."""
    return evidence.is_mismatch or evidence.verdict.has_unknown_trigger


def _is_success_of_endpoint(evidence: Evidence) -> bool:
    """Whether a success may be the documented one of its endpoint: that the provider let it through is to be told."""
    if evidence.status is None or evidence.status >= 400:
        return False
    if evidence.success is None:
        return True
    differences = weigh_findings(evidence.success, compare(evidence.success, evidence.exchange))
    return not any(finding.is_drift and finding.aspect is Aspect.BODY for finding in differences)
