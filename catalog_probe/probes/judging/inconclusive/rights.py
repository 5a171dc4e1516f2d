"""Keys that may do more or less than a record expects: whose right it is, no answer tells. Live alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.status import is_success
from catalog_probe.catalog.reading.expected import expected_http_status
from catalog_probe.probes.judging.comparison.message import quote
from catalog_probe.probes.judging.inconclusive.one_answer import is_generic

if TYPE_CHECKING:
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence

FORBIDDEN = 403


def find_refused_right(evidence: Evidence) -> Reason | None:
    """Return a reason if a documented permission refusal came where a success is stated."""
    expected, response = evidence.expected, evidence.response
    if (expected.status or 0) >= 400:
        return None
    if response.grpc is not None:
        is_refused = evidence.status == FORBIDDEN and expected_http_status(expected) == 200
    else:
        is_refused = any(
            answer.is_permission_refusal for answer in evidence.known.match_answers(response.status, response.body)
        )
    return Reason(ReasonCode.PROBE_REFUSED, quote(response)) if is_refused else None


def find_accepted_key(evidence: Evidence) -> Reason | None:
    """Return a reason if a success came where a permission refusal is stated: the key may be an administrator's."""
    if not is_accepted_key(evidence):
        return None
    observation = f"; look at the account of {evidence.key.target.key_name}" if evidence.own_key else ""
    detail = f"it was let through, as a key with the right is; a key without it is wanted here{observation}"
    return Reason(ReasonCode.ACCOUNT_TROUBLE, detail)


def find_refused_key(evidence: Evidence) -> Reason | None:
    """Return a reason if a documented refusal of the key came for a stated success, though its control succeeds."""
    if explain_refusal_of_key(evidence) is not ReasonCode.ACCOUNT_TROUBLE:
        return None
    observation = f"look at the account of {evidence.key.target.key_name}"
    return Reason(ReasonCode.ACCOUNT_TROUBLE, f"{quote(evidence.response)}; the key is good elsewhere: {observation}")


def is_accepted_key(evidence: Evidence) -> bool:
    """Whether a key was let through live where the documents refuse one without the right."""
    if not evidence.live or evidence.verdict.outcome is not Outcome.DRIFTED or not is_success(evidence.status):
        return False
    return evidence.expected.address in {
        answer.address for answer in evidence.known.answers if answer.is_permission_refusal
    }


def explain_refusal_of_key(evidence: Evidence) -> ReasonCode | None:
    """Return what an answer says of the account if it refused the lane's key live where a success is stated."""
    if not evidence.live:
        return None
    if evidence.verdict.outcome is Outcome.RESTRICTED:
        return ReasonCode.PROBE_REFUSED
    is_mismatch = evidence.verdict.outcome is Outcome.DRIFTED
    if not is_mismatch or not evidence.own_key or not is_success(evidence.expected.status):
        return None
    answers = evidence.known.match_answers(evidence.response.status, evidence.response.body)
    return ReasonCode.ACCOUNT_TROUBLE if answers and all(answer.is_key_refusal for answer in answers) else None


def find_refused_elsewhere(evidence: Evidence) -> Reason | None:
    """Return a reason if the same words refused this key where a success is stated.

    Rights are looked at before ids and bodies. A record that asks for a refusal of rights is judged, and so is an
    endpoint that answers the request without its fault otherwise.
    """
    code = evidence.key.refusals.get(evidence.words)
    is_asked_for = evidence.expected.address in evidence.known.refusal_addresses
    is_mismatch = evidence.verdict.outcome is Outcome.DRIFTED
    if code is None or not is_mismatch or not evidence.provokes_refusal or is_asked_for or is_generic(evidence):
        return None
    status, message = evidence.words
    detail = f"the same {status} refused this key where a success is documented: {message}"
    return Reason(code, detail)
