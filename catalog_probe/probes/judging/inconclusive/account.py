"""Rule on answers that are about the account: its credit, quota, region or standing.

Which records are about the account is data: `[account]` of a manifest. An answer that also fits the record at hand is
judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import wire_values
from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.exchange import is_success
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import answer_body
from catalog_probe.probes.judging.comparison.message import quote

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
