"""Rules on the account: its credit, quota and standing, and the rights of a key.

Which records are about the account is data: `[account]` of a manifest. An answer that also fits the record at hand is
judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import wire_values
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.exchange import is_success
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import answer_body, expected_http_status
from catalog_probe.probes.judging.comparison.findings import quote
from catalog_probe.probes.judging.inconclusive.one_answer import is_generic

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence


def find_account_trouble(evidence: Evidence) -> Reason | None:
    """Return a reason if an answer is about the account: by its message, as a documented record, or by its code."""
    response, vocabulary, body = evidence.response, evidence.vocabulary, _refusal_body(evidence)
    message = response.grpc.message if response.grpc is not None else vocabulary.find_message(body)
    if not is_success(response.status) and vocabulary.says_no_credit(evidence.expected, message):
        return Reason(ReasonCode.NO_CREDIT, f"this account has no credit; {quote(response)}")
    status = response.status
    answers = vocabulary.match_account_trouble(status, body) or vocabulary.match_moved_account_trouble(status, body)
    if not answers and not _has_documented_type(evidence.expected, status, body):
        answers = vocabulary.match_account_trouble_by_code(status, body)
    if not answers or any(_allows_answer(evidence.expected, answer.expected) for answer in answers):
        return None
    codes = {answer.account_reason for answer in answers}
    code = codes.pop() if len(codes) == 1 else None
    consequence = "this account has no credit: " if code is ReasonCode.NO_CREDIT else ""
    records = " or ".join(answer.address for answer in answers)
    return Reason(code or ReasonCode.ACCOUNT_TROUBLE, f"{consequence}this is {records}; {quote(response)}")


def _refusal_body(evidence: Evidence) -> Json:
    """Return the body, also of a refusal that came in place of a stream."""
    response = evidence.response
    return response.body if response.events is None else answer_body(evidence.expected, response)


def _has_documented_type(expected: Expected, status: int | None, body: Json) -> bool:
    """Whether status and type are those of the record: then it is the record's answer, and only the code differs."""
    documented = expected.wire.get("type")
    return (
        documented is not None
        and status == expected.status
        and wire_values(expected.envelope, body).get("type") == documented
    )


def _allows_answer(expected: Expected, other: Expected) -> bool:
    """Whether the other's answer conforms here too, as the same one or as a documented alternative."""
    return (
        (expected.status == other.status or other.status in expected.alternative_statuses)
        and expected.wire.keys() == other.wire.keys()
        and all(
            value == other.wire[aspect] or other.wire[aspect] in expected.alternatives(aspect)
            for aspect, value in expected.wire.items()
        )
        and expected.message_pattern == other.message_pattern
    )


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
