"""Rules on keys with more or fewer rights than a record expects. Only live: a mock's keys are vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.exchange import is_success
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import expected_http_status
from catalog_probe.probes.judging.comparison.message import quote
from catalog_probe.probes.judging.inconclusive.one_answer import is_generic

if TYPE_CHECKING:
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence

FORBIDDEN = 403


def find_refused_right(evidence: Evidence) -> Reason | None:
    """Return a reason if a documented permission refusal came in place of a success."""
    expected, response = evidence.expected, evidence.response
    if (expected.status or 0) >= 400:
        return None
    if response.grpc is not None:
        is_refused = evidence.status == FORBIDDEN and expected_http_status(expected) == 200
    else:
        is_refused = any(
            answer.is_permission_refusal for answer in evidence.vocabulary.match_answers(response.status, response.body)
        )
    return Reason(ReasonCode.PROBE_REFUSED, quote(response)) if is_refused else None


def find_accepted_key(evidence: Evidence) -> Reason | None:
    """Return a reason if a success came in place of a permission refusal: the key may be an administrator's."""
    if not is_accepted_key(evidence):
        return None
    advice = f"; look at the account of {evidence.key.target.key_name}" if evidence.own_key else ""
    detail = f"the request was accepted, so the key has the right; the record needs a key without it{advice}"
    return Reason(ReasonCode.ACCOUNT_TROUBLE, detail)


def find_refused_key(evidence: Evidence) -> Reason | None:
    """Return a reason if a documented refusal of the key came in place of a success, though its control succeeds."""
    if explain_refusal_of_key(evidence) is not ReasonCode.ACCOUNT_TROUBLE:
        return None
    advice = f"the key works for its control; look at the account of {evidence.key.target.key_name}"
    return Reason(ReasonCode.ACCOUNT_TROUBLE, f"{quote(evidence.response)}; {advice}")


def is_accepted_key(evidence: Evidence) -> bool:
    """Whether a key was accepted live where the documents refuse one without the right."""
    if not evidence.live or evidence.verdict.outcome is not Outcome.DRIFTED or not is_success(evidence.status):
        return False
    return evidence.expected.address in {
        answer.address for answer in evidence.vocabulary.answers if answer.is_permission_refusal
    }


def explain_refusal_of_key(evidence: Evidence) -> ReasonCode | None:
    """Return what a live refusal of the lane's key, in place of a success, says of the account; None if it is none."""
    if not evidence.live:
        return None
    if evidence.verdict.outcome is Outcome.RESTRICTED:
        return ReasonCode.PROBE_REFUSED
    is_mismatch = evidence.verdict.outcome is Outcome.DRIFTED
    if not is_mismatch or not evidence.own_key or not is_success(evidence.expected.status):
        return None
    answers = evidence.vocabulary.match_answers(evidence.response.status, evidence.response.body)
    return ReasonCode.ACCOUNT_TROUBLE if answers and all(answer.is_key_refusal for answer in answers) else None


def find_repeated_refusal(evidence: Evidence) -> Reason | None:
    """Return a reason if the same answer refused this key in place of a success: rights are checked before bodies.

    A record of a permission refusal is judged all the same. So is an endpoint that answers its fault-free request
    otherwise.
    """
    code = evidence.key.success_refusals.get(evidence.fingerprint)
    is_permission_record = evidence.expected.address in evidence.vocabulary.refusal_addresses
    is_mismatch = evidence.verdict.outcome is Outcome.DRIFTED
    if code is None or not is_mismatch or not evidence.provokes_refusal or is_permission_record or is_generic(evidence):
        return None
    status, message = evidence.fingerprint
    detail = f"the same {status} refused this key where a success is documented: {message}"
    return Reason(code, detail)
