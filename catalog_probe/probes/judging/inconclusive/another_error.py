"""The rule on another documented error: it is a mismatch only if the endpoint works without the fault.

A documented error in place of another one may be about the fault, or about the moment: a model that is not served for
an hour gives its documented 404 to each fault. So the fault-free request of the endpoint is sent with the same key
before the second attempt, and again after all attempts of the lane. The mismatch stays if both were accepted.

A fault of the key itself, such as a revoked key, has no fault-free request with the same key: its control speaks for
it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.expectations import expected_http_status, http_status_of
from catalog_probe.probes.judging.comparison.basis import is_no_refusal

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Response
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.inconclusive.evidence import Evidence


def find_another_error(evidence: Evidence) -> Reason | None:
    """Return a reason if another documented error came, and the fault-free request was not accepted before and after.

    Example: the 404 of an unknown model came in place of the 400 of a missing `max_tokens`, and only free requests are
    allowed. A message without a fault would cost something, so nobody knows whether the model is gone.
    """
    if not has_another_error(evidence):
        return None
    trouble = evidence.key.fault_free_troubles.get(evidence.endpoint)
    return Reason(ReasonCode.FAULT_FREE_NOT_ALLOWED, trouble) if trouble is not None else None


def has_another_error(evidence: Evidence) -> bool:
    """Whether a fault of the request, sent with the lane's key, was answered live with another documented error."""
    is_provoked = evidence.live and bool(evidence.fault and evidence.endpoint)
    return (
        is_provoked
        and evidence.is_mismatch
        and _is_another_error(evidence.expected, evidence.response, evidence.vocabulary)
    )


def _is_another_error(expected: Expected, response: Response, vocabulary: ProviderVocabulary) -> bool:
    """Whether an answer is a documented error, and not the expected one.

    Example: 404 with PA's type `not_found_error`, where 400 with `invalid_request_error` is documented. By gRPC any
    status is another error to which the documents map an HTTP status.
    """
    status = http_status_of(response, expected.provider)
    if status is None or is_no_refusal(status):
        return False
    if response.grpc is not None:
        return status != expected_http_status(expected) and vocabulary.has_status(status)
    answers = vocabulary.match_answers(status, response.body)
    return bool(answers) and expected.address not in {answer.address for answer in answers}
