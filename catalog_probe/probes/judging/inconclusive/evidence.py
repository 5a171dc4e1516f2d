"""The evidence of inconclusive rules: one answer, the other answers of its attempt, and all answers to its key."""

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
    """Status and message of an answer, without ids and times: `(404, "No such model: {id}")`.

    Two answers with the same fingerprint are called alike.
    """

    status: int | None
    message: str


class EndpointAnswer(NamedTuple):
    """An endpoint, and the fingerprint of an answer that came from it."""

    endpoint: str
    fingerprint: Fingerprint


class Replacement(NamedTuple):
    """A documented answer in whose place another answer came."""

    status: int | None
    """The documented status."""
    endpoint: str
    """The endpoint with the request's method and path; if no record has them, the method and the URL."""


class FaultFreeResult(Enum):
    """How the answer to a fault-free request compares with one answer to several faults."""

    SAME = auto()  # alike: the provider did not look at the faults
    DIFFERENT = auto()  # the provider looked at the faults, and they only share a message
    UNKNOWN = auto()  # the request may not be sent, or its answer got lost


@dataclass(frozen=True, slots=True)
class FaultFreeAnswer:
    """What a fault-free request showed, and the detail that a person needs to repeat the request."""

    result: FaultFreeResult
    detail: str


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What is known of the target before anything is sent, in the words that a person looks for."""

    key_name: str = ""
    """Where the key is set, e.g. `PA_API_KEY`."""
    unconfirmed_values: Mapping[str, str] = field(default_factory=dict)
    """Name of a value in the recipes -> the value that somebody set and that no look-up found in the account."""
    value_fixes: Mapping[str, str] = field(default_factory=dict)
    """Name of a value -> how to set it, e.g. `"small_model" -> "set PA_SMALL_MODEL"`."""
    addresses: Mapping[str, str] = field(default_factory=dict)
    """Service -> its address, e.g. `"regional" -> "https://eu.provider.example"`."""
    address_names: Mapping[str, str] = field(default_factory=dict)
    """Service -> the name under which its address is set, e.g. `"regional" -> "PA_REGIONAL"`."""


@dataclass(slots=True)
class KeyEvidence:
    """What all answers to one key show of the key, its account and the addresses that it was sent to.

    Each field is filled and read by the module of the rules that need it.
    """

    target: TargetFacts = field(default_factory=TargetFacts)

    # For the rule of `not_implemented`.
    is_compatible: bool = False
    """Whether a compatible server answers, which need not have all endpoints."""
    suspected_families: set[str] = field(default_factory=set)
    """Families of endpoints that answered 404, 405 or 501 to anything, e.g. `pa/endpoints/batches`."""
    asked_families: set[str] = field(default_factory=set)
    """Those of them whose fault-free requests were sent, or cannot be."""
    missing_families: dict[str, str] = field(default_factory=dict)
    """Family -> what shows that the server does not have it; empty if the server has it, or nothing shows that."""

    # For the rules of `assumptions`.
    confirmed_values: set[str] = field(default_factory=set)
    """Names of values that a successful request with this key contained."""
    confirmed_hosts: set[str] = field(default_factory=set)
    """Services without a control that gave an answer which only the provider gives."""
    reached_endpoints: set[str] = field(default_factory=set)
    """Endpoints from whose path an answer other than 404 or 405 came."""

    # For the rules of `foreign`.
    foreign_bodies: dict[str, set[str]] = field(default_factory=dict)
    """Kind or text of a body that no document promises -> the endpoints that it came from."""

    # For the rules of `account`.
    rights_refusals: dict[Fingerprint, ReasonCode] = field(default_factory=dict)
    """Refusal of this key's rights in place of a success -> what the refusal says of the account."""

    # For the rules of `one_answer`.
    replacements: dict[Fingerprint, set[Replacement]] = field(default_factory=dict)
    """Answer -> the documented answers in whose place it came."""
    faults_by_answer: dict[EndpointAnswer, set[str]] = field(default_factory=dict)
    """Refusal from one endpoint -> the rows of the different faults that it answered."""
    fault_free_answers: dict[EndpointAnswer, FaultFreeAnswer] = field(default_factory=dict)
    """Refusal of several faults -> what the fault-free request of that endpoint showed."""

    # For the rule of `another_error`.
    endpoints_with_another_error: set[str] = field(default_factory=set)
    """Endpoints that answered a fault with the documented error of another one."""
    fault_free_troubles: dict[str, str] = field(default_factory=dict)
    """Endpoint -> why its fault-free request did not succeed, before or after such an answer."""


# The header by which a mock counts each client by itself; it is sent to nobody else.
MOCK_SESSION = "x-mock-session"


class Assumption(NamedTuple):
    """Something that a record assumes of its requests (`path`, `body:/tools`), on the endpoint that was asked."""

    endpoint: str
    key: str


class AcceptedRequest(NamedTuple):
    """The label of a request that was accepted, and where it was sent (`find_source`)."""

    label: str
    source: str


@dataclass(frozen=True, slots=True)
class AttemptEvidence:
    """What the other answers of the same attempt show."""

    confirmed: frozenset[Assumption] = frozenset()
    """Assumptions that are right: a success of this record rests on them."""
    accepted: frozenset[AcceptedRequest] = frozenset()
    """Requests that were answered with a success as documented."""
    refused_headers: Mapping[EndpointAnswer, str] = field(default_factory=dict)
    """Refusal of a request with an assumed header -> the detail that blames an assumption of that request."""


@dataclass(frozen=True)
class Evidence:
    """All that a rule may see of one observation.

    The fields from `own_key` on are known only after all attempts: only rules that see all answers to the key use them.
    """

    expected: Expected
    exchange: Exchange
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
    unconfirmed_host: str = ""
    """The service that was asked, if no control shows that its address is right."""
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
        last_differs = any(observation.mismatched for observation in self.verdict.observations)
        return outcome is Outcome.DRIFTED or (outcome is Outcome.FLAKY and last_differs)

    @property
    def is_judged(self) -> bool:
        """Whether the last answer was compared with the documents, or blamed on an assumption of ours."""
        return self.verdict.outcome.is_conclusive or self.is_mismatch or self.verdict.has_failed_assumption

    @property
    def endpoint(self) -> str:
        """The endpoint that was observed; empty if no record has the request's method and path."""
        return self.verdict.observations[0].endpoint if self.verdict.observations else ""

    @cached_property
    def status(self) -> int | None:
        """The HTTP status, or the one that a gRPC status maps to."""
        return http_status_of(self.response, self.expected.provider)

    @cached_property
    def fingerprint(self) -> Fingerprint:
        return Fingerprint(self.status, normalize_message(self.expected, self.response, self.vocabulary))


def find_source(exchange: Exchange, vocabulary: ProviderVocabulary) -> str:
    """Return the endpoint that an answer came from, or method and URL if no record has them.

    The path decides, and not the record that was probed: the record of a limit counts as an endpoint, but its requests
    go to another endpoint. Example: a message that is sent for `pa/endpoints/limits/scope` came from
    `pa/endpoints/messages/create_message`.
    """
    return vocabulary.endpoints.find(exchange) or f"{exchange.request.method} {exchange.request.url}"


def is_of_a_mock(request: Request) -> bool:
    """Whether a mock was asked: its keys are vocabulary, and nobody else uses its accounts."""
    return MOCK_SESSION in request.headers
