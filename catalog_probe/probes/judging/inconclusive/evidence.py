"""What an inconclusive rule may see: an answer, the other answers, and what is known of key and target."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.reading.expectations import http_status_of
from catalog_probe.probes.judging.comparison.message import normalize_message
from catalog_probe.probes.judging.inconclusive.key_evidence import EndpointAnswer, Fingerprint, KeyEvidence

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Response
    from catalog_probe.catalog.model.exchange import Request
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.verdicts.verdict import Verdict

# The header by which a mock counts each client by itself; it is sent to nobody else.
MOCK_SESSION = "x-mock-session"


class Assumption(NamedTuple):
    """Something that a record assumes of its requests (`path`, `body:/tools`), on the endpoint that was asked."""

    endpoint: str
    key: str


@dataclass(frozen=True, slots=True)
class AttemptEvidence:
    """What the other answers of the same attempt show."""

    confirmed: frozenset[Assumption] = frozenset()
    """Assumptions that are right: a success of this record rests on them."""
    refused_headers: Mapping[EndpointAnswer, str] = field(default_factory=dict)
    """Answers that blame an assumption although the request has an assumed header, and that assumption."""


@dataclass(frozen=True)
class Evidence:
    """All that a rule may see of one observation. From `own_key` on, fields are known only once the attempts ended."""

    expected: Expected
    exchange: Exchange
    """What was sent and came. Of a label that was never sent: the setup that failed before it."""
    verdict: Verdict
    """The verdict so far of this label on this endpoint."""
    vocabulary: ProviderVocabulary
    """What the provider's records document."""
    live: bool
    attempt: AttemptEvidence = AttemptEvidence()
    own_key: bool = True
    """Whether the lane's key was sent."""
    fault: str = ""
    """The row of the error that the request provokes with the lane's key; empty if it provokes none."""
    provokes_refusal: bool = False
    """Whether only a refusal is documented for this request with the lane's key."""
    success: Expected | None = None
    """The documented success of the endpoint."""
    unconfirmed_host: str = ""
    """The service that was asked, if no control shows that its address is right."""
    assumed_path_reason: str = ""
    """Of an error: why its endpoint's path is assumed. Empty if it is documented, or a night saw the refusal there."""
    key: KeyEvidence = field(default_factory=KeyEvidence)

    @property
    def request(self) -> Request:
        return self.exchange.request

    @property
    def response(self) -> Response:
        response = self.exchange.response
        assert response is not None, "without an answer there is no evidence"
        return response

    @property
    def is_mismatch(self) -> bool:
        """Whether the last answer differs from the documents, whatever earlier attempts showed."""
        outcome = self.verdict.outcome
        return outcome is Outcome.DRIFTED or (
            outcome is Outcome.FLAKY and any(observation.mismatched for observation in self.verdict.observations)
        )

    @property
    def is_judged(self) -> bool:
        """Whether the last answer was compared with the documents, or blamed on an assumption of ours."""
        return self.verdict.outcome.is_conclusive or self.is_mismatch or self.verdict.has_failed_assumption

    @property
    def endpoint(self) -> str:
        """The endpoint that was observed; empty if none has the request's method and path."""
        return self.verdict.observations[0].endpoint if self.verdict.observations else ""

    @cached_property
    def status(self) -> int | None:
        """The HTTP status, or the one that a gRPC status maps to."""
        return http_status_of(self.response, self.expected.provider)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(self.status, normalize_message(self.expected, self.response, self.vocabulary))


def is_of_a_mock(request: Request) -> bool:
    """Whether a mock was asked: its keys are vocabulary, and nobody else uses its accounts."""
    return MOCK_SESSION in request.headers
