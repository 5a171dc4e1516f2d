"""What an inconclusive rule may see: the answer, and all answers to its key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.reading.expectations import http_status_of
from catalog_probe.probes.judging.comparison.findings import normalize_message

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Exchange, Response
    from catalog_probe.catalog.model.exchange import Request
    from catalog_probe.catalog.model.outcome import ReasonCode
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
    from catalog_probe.probes.judging.verdict import Verdict


class Fingerprint(NamedTuple):
    """Status and message of an answer, without what changes from one answer to the next."""

    status: int | None
    message: str


class EndpointAnswer(NamedTuple):
    """An endpoint, and the fingerprint of an answer that came from it."""

    endpoint: str
    fingerprint: Fingerprint


class Replacement(NamedTuple):
    """A documented answer that another one came in place of."""

    fault: str
    """The error that was provoked with the lane's key; empty if none was, or with another key."""
    status: int | None
    """The documented status."""
    endpoint: str
    """The endpoint that the request's path belongs to; without one, method and URL."""


class FaultFreeResult(Enum):
    """How a fault-free request was answered, compared with several requests with different faults."""

    SAME = auto()  # alike: nobody looked at the faults
    DIFFERENT = auto()  # otherwise: several faults only share a message
    UNKNOWN = auto()  # it may not be sent, or its answer got lost


@dataclass(frozen=True, slots=True)
class FaultFreeAnswer:
    """What a fault-free request showed, and the detail that a person needs to repeat it."""

    result: FaultFreeResult
    detail: str


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What is known of the target before anything is sent, in the words that a person looks for."""

    key_name: str = ""
    unconfirmed_values: Mapping[str, str] = field(default_factory=dict)
    """Values that somebody set and that the account was not seen to have, as the recipes name them."""
    value_fixes: Mapping[str, str] = field(default_factory=dict)
    """How to set each of these values."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """The address of each service."""
    address_names: Mapping[str, str] = field(default_factory=dict)
    """What each of these addresses is called where it is set."""


@dataclass(slots=True)
class KeyEvidence:
    """What is known of one key, its account and the addresses that it was sent to."""

    target: TargetFacts = field(default_factory=TargetFacts)
    confirmed_values: set[str] = field(default_factory=set)
    """Values that a successful request with this key named."""
    confirmed_hosts: set[str] = field(default_factory=set)
    """Services without a control that answered as only the provider does."""
    reached_endpoints: set[str] = field(default_factory=set)
    """Endpoints from whose path anything but 404 or 405 came."""
    foreign_bodies: dict[str, set[str]] = field(default_factory=dict)
    """Kind or text of a body that no document promises -> the endpoints that it came from."""
    success_refusals: dict[Fingerprint, ReasonCode] = field(default_factory=dict)
    """Refusals of this key where a success is documented -> what each says of the account."""
    faults_by_answer: dict[EndpointAnswer, set[str]] = field(default_factory=dict)
    """The different faults that an endpoint gave one answer to."""
    replacements: dict[Fingerprint, set[Replacement]] = field(default_factory=dict)
    """The documented answers that an answer came in place of."""
    unprovoked_endpoints: dict[Fingerprint, set[str]] = field(default_factory=dict)
    """Endpoints where an answer came in place of a success, with nothing wrong with request or key."""
    fault_free_answers: dict[EndpointAnswer, FaultFreeAnswer] = field(default_factory=dict)
    """What the fault-free request showed of an answer to several faults."""


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
