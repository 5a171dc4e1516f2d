"""What all answers to one key show together. Plain sets: the order in which answers are added changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from catalog_probe.catalog.model.codes import ReasonCode


class Words(NamedTuple):
    """Status and message of an answer, without what changes from one answer to the next."""

    status: int | None
    message: str


class AnswerOn(NamedTuple):
    """What an endpoint answered."""

    endpoint: str
    words: Words


class Replacement(NamedTuple):
    """A documented answer in whose place another one came."""

    fault: str
    """The error that was provoked with the lane's key; empty if none was, or with another key."""
    status: int | None
    """The status that is documented."""
    endpoint: str
    """The endpoint that the request's path belongs to; without one, method and URL."""


class Shows(Enum):
    """What the answer to a fault-free request shows of the words that several faults were answered with."""

    ALIKE = auto()
    """It is answered in the same words: nobody looked at the faults."""
    OTHERWISE = auto()
    """It is answered otherwise: several faults only share a message."""
    NOTHING = auto()
    """It may not be sent, or its answer got lost."""


@dataclass(frozen=True, slots=True)
class FaultFreeAnswer:
    """What a fault-free request showed, and the words that a person needs to follow it."""

    shows: Shows
    detail: str


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """What is known of the target before anything is sent, in the words that a person looks for."""

    key_name: str = ""
    unconfirmed_values: Mapping[str, str] = field(default_factory=dict)
    """Values that somebody has set and nobody has seen on the account, in stand-ins."""
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
    """Values that a request named which was a success with this key."""
    confirmed_hosts: set[str] = field(default_factory=set)
    """Services without a control that answered as only the provider does."""
    reached: set[str] = field(default_factory=set)
    """Endpoints from whose path anything but 404 or 405 came."""
    foreign_bodies: dict[str, set[str]] = field(default_factory=dict)
    """Kind or words of a body that no document promises -> the endpoints from which it came."""
    refusals: dict[Words, ReasonCode] = field(default_factory=dict)
    """Words that refused this key where a success is documented -> what that says of the account."""
    faults: dict[AnswerOn, set[str]] = field(default_factory=dict)
    """The different faults that an endpoint gave one answer to."""
    replacements: dict[Words, set[Replacement]] = field(default_factory=dict)
    """What words came in place of."""
    plain: dict[Words, set[str]] = field(default_factory=dict)
    """The endpoints on which words came in place of a success, though nothing was wrong with request or key."""
    fault_free: dict[AnswerOn, FaultFreeAnswer] = field(default_factory=dict)
    """What the request without its fault showed of an answer to several faults."""
