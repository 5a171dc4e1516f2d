"""Rules on the account: its credit, quota, region and blocks, and the rights of its keys.

`find_account_trouble` recognizes answers about the account itself. Which records are about the account is data:
`[account]` of a manifest. The other rules are about the rights of a key, which may have fewer or more of them than a
record needs. They are for live targets only: the rights of a mock's keys are known.

An answer that also fits the record at hand is judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import wire_values
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.exchange import is_success
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import answer_body, expected_http_status
from catalog_probe.probes.judging.comparison.findings import quote

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence, KeyEvidence


def find_account_trouble(evidence: Evidence) -> Reason | None:
    """Return a reason if an answer is about the account: by its message, as a documented record, or by its code.

    Example: 402 with type `billing_error` came in place of a documented 404.
    """
    response, vocabulary, body = evidence.response, evidence.vocabulary, _find_refusal_body(evidence)
    message = response.grpc.message if response.grpc is not None else vocabulary.find_message(body)
    if not is_success(response.status) and vocabulary.says_no_credit(evidence.expected, message):
        return Reason(ReasonCode.NO_CREDIT, f"this account has no credit; {quote(response)}")
    status = response.status
    # As documented, or with another status: a hard billing limit, documented as 429, was observed as 400.
    answers = vocabulary.match_account_trouble(status, body) or vocabulary.match_moved_account_trouble(status, body)
    # With another type: a refused region was observed with `request_forbidden`.
    if not answers and not _has_documented_type(evidence.expected, status, body):
        answers = vocabulary.match_account_trouble_by_code(status, body)
    # A record about limits or credit asks for such an answer.
    is_asked_for = any(_allows_answer(evidence.expected, answer.expected) for answer in answers)
    if not answers or is_asked_for:
        return None
    codes = {answer.account_reason for answer in answers}
    code = codes.pop() if len(codes) == 1 else None
    consequence = "this account has no credit: " if code is ReasonCode.NO_CREDIT else ""
    records = " or ".join(answer.address for answer in answers)
    return Reason(code or ReasonCode.ACCOUNT_TROUBLE, f"{consequence}this is {records}; {quote(response)}")


def _find_refusal_body(evidence: Evidence) -> Json:
    """Return the body, also of a refusal that came as an event of a stream."""
    response = evidence.response
    return response.body if response.events is None else answer_body(evidence.expected, response)


def _has_documented_type(expected: Expected, status: int | None, body: Json) -> bool:
    """Whether an answer has status and type of the record: then it is the record's answer, and only its code differs.

    Example: a 429 with the documented type `rate_limit_error` and the code `insufficient_quota` is judged.
    """
    documented = expected.wire.get("type")
    return (
        documented is not None
        and status == expected.status
        and wire_values(expected.envelope, body).get("type") == documented
    )


def _allows_answer(expected: Expected, other: Expected) -> bool:
    """Whether the documented answer of another record conforms to this record too, perhaps as an alternative."""
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
    """Return a reason if a documented permission refusal came in place of a success.

    Example: 403 with type `permission_error` came in place of the list of files.
    """
    expected, response = evidence.expected, evidence.response
    if (expected.status or 0) >= 400:
        return None
    if response.grpc is not None:  # no record documents the message of a gRPC refusal
        is_refused = evidence.status == FORBIDDEN and expected_http_status(expected) == 200
    else:
        is_refused = any(
            answer.is_permission_refusal for answer in evidence.vocabulary.match_answers(response.status, response.body)
        )
    return Reason(ReasonCode.PROBE_REFUSED, quote(response)) if is_refused else None


def find_accepted_key(evidence: Evidence) -> Reason | None:
    """Return a reason if a success came in place of a permission refusal: the key may be an administrator's.

    Example: `pa/errors/general/permission_error` documents 403, and the list came with 200.
    """
    if not is_accepted_key(evidence):
        return None
    detail = "the request was accepted, so the key has the right; the record needs a key without it"
    if not evidence.own_key:
        return Reason(ReasonCode.ACCOUNT_TROUBLE, detail)
    return Reason.with_advice(ReasonCode.ACCOUNT_TROUBLE, detail, _advise_on_account(evidence))


def find_refused_key(evidence: Evidence) -> Reason | None:
    """Return a reason if a documented refusal of the key came in place of a success, though its control succeeds.

    Example: 401 "Missing scopes: files." came in place of the list of files.
    """
    if explain_refusal_of_key(evidence) is not ReasonCode.ACCOUNT_TROUBLE:
        return None
    detail = f"{quote(evidence.response)}; the key works for its control"
    return Reason.with_advice(ReasonCode.ACCOUNT_TROUBLE, detail, _advise_on_account(evidence))


def _advise_on_account(evidence: Evidence) -> str:
    return f"look at the account of {evidence.key.target.key_name}"


def is_accepted_key(evidence: Evidence) -> bool:
    """Whether a key was accepted live where the documents refuse one without the right."""
    if not evidence.live or evidence.verdict.outcome is not Outcome.DRIFTED or not is_success(evidence.status):
        return False
    return evidence.expected.address in {
        answer.address for answer in evidence.vocabulary.answers if answer.is_permission_refusal
    }


def explain_refusal_of_key(evidence: Evidence) -> ReasonCode | None:
    """Return what a live refusal of the lane's key, in place of a success, says of the account; None if nothing.

    Examples: a restricted record -> `PROBE_REFUSED`; a documented 401 for a wrong key -> `ACCOUNT_TROUBLE`.
    """
    if not evidence.live:
        return None
    if evidence.verdict.outcome is Outcome.RESTRICTED:
        return ReasonCode.PROBE_REFUSED
    is_success_missing = evidence.verdict.outcome is Outcome.DRIFTED and is_success(evidence.expected.status)
    if not is_success_missing or not evidence.own_key:
        return None
    answers = evidence.vocabulary.match_answers(evidence.response.status, evidence.response.body)
    return ReasonCode.ACCOUNT_TROUBLE if answers and all(answer.is_key_refusal for answer in answers) else None


def find_repeated_refusal(evidence: Evidence) -> Reason | None:
    """Return a reason if the same answer refused this key's rights in place of a success, on any endpoint.

    A provider may check rights before ids and bodies. Example: a key without files gets "403: Not for this key." for
    the list of files, and for an unknown file in place of 404. A record of a permission refusal is judged all the same.
    """
    code = evidence.key.rights_refusals.get(evidence.fingerprint)
    # Such a record asks for the refusal of a key, so another refusal of the key is a drift.
    is_permission_record = evidence.expected.address in evidence.vocabulary.refusal_addresses
    expects_refusal = bool(evidence.fault) or (expected_http_status(evidence.expected) or 0) >= 400
    is_other_refusal = evidence.own_key and expects_refusal and evidence.verdict.outcome is Outcome.DRIFTED
    if code is None or not is_other_refusal or is_permission_record:
        return None
    status, message = evidence.fingerprint
    detail = f"the same {status} refused this key where a success is documented: {message}"
    return Reason(code, detail)


def add_rights_refusal(key: KeyEvidence, evidence: Evidence) -> None:
    """Remember a refusal of this key's rights in place of a success."""
    code = explain_refusal_of_key(evidence)
    # Refusals without a message are all alike, whatever they refuse.
    if code is not None and evidence.fingerprint.message:
        key.rights_refusals[evidence.fingerprint] = code
