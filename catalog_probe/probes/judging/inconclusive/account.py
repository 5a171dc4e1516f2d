"""Answers that tell of the account alone: its credit, its quota, its place, its standing.

Which records tell of it is data: `[account]` of a manifest. An answer that fits the record at hand as well is judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes.projection import wire_values
from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.status import is_success
from catalog_probe.catalog.reading.expected import answer_body
from catalog_probe.probes.judging.comparison.message import quote

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.catalog.reading.expected import Expected
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence


def find_account_trouble(evidence: Evidence) -> Reason | None:
    """Return a reason if an answer tells of the account: in the manifest's words, as a record, or by its code alone."""
    response, known, body = evidence.response, evidence.known, _body(evidence)
    message = response.grpc.message if response.grpc is not None else known.find_message(body)
    if not is_success(response.status) and known.says_no_credit(evidence.expected, message):
        return Reason(ReasonCode.NO_CREDIT, f"this account has no credit; {quote(response)}")
    status = response.status
    answers = known.match_account_trouble(status, body) or known.match_moved_account_trouble(status, body)
    if not answers and not _has_its_type(evidence.expected, status, body):
        answers = known.match_account_trouble_by_code(status, body)
    if not answers or any(_states(evidence.expected, answer.expected) for answer in answers):
        return None
    codes = {answer.account_reason for answer in answers}
    code = codes.pop() if len(codes) == 1 else None
    consequence = "this account has no credit: " if code is ReasonCode.NO_CREDIT else ""
    records = " or ".join(answer.address for answer in answers)
    return Reason(code or ReasonCode.ACCOUNT_TROUBLE, f"{consequence}this is {records}; {quote(response)}")


def _body(evidence: Evidence) -> Json:
    """The body, also of a refusal that came where a stream was to begin."""
    response = evidence.response
    return response.body if response.events is None else answer_body(evidence.expected, response)


def _has_its_type(expected: Expected, status: int | None, body: Json) -> bool:
    """Whether status and type are those of the record: then it is its own answer, and the code is what differs."""
    stated = expected.wire.get("type")
    return (
        stated is not None and status == expected.status and wire_values(expected.envelope, body).get("type") == stated
    )


def _states(expected: Expected, other: Expected) -> bool:
    """Whether one's answer is the other's: that of one record, of a rule that names it, or one left to choice."""
    return (
        (expected.status == other.status or other.status in expected.alternative_statuses)
        and expected.wire.keys() == other.wire.keys()
        and all(
            value == other.wire[aspect] or other.wire[aspect] in expected.alternatives(aspect)
            for aspect, value in expected.wire.items()
        )
        and expected.message_pattern == other.message_pattern
    )
