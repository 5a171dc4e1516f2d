"""What all answers to one key show together. Only sets: the order in which answers are added changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from catalog_probe.catalog.model.outcome import ReasonCode


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
