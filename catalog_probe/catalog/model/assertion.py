"""Assertions of a record, what an exchange showed of them, and who can observe."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.text.json_values import Json


class Basis(StrEnum):
    """Why an assertion is made: a row of the documents says it, or we chose it because they are silent."""

    DOCUMENTED = "documented"
    ASSUMED = "assumed"


REQUEST_LABEL = "ask"
"""The label of what is assumed of the request (`ask/path`, `ask/header:…`, `ask/body:…`), not of an answer."""

WILDCARD = "*"
"""As a label: every label of the record. As an aspect: every aspect of the label."""

_KEY = re.compile(r"(?P<label>[a-z0-9_]+|\*)/(?P<aspect>[a-z_]+|\*)(?::(?P<location>.+))?")


@dataclass(frozen=True, slots=True, order=True)
class AssertionKey:
    """The name of an assertion within its record: `answer/header:retry-after`. It holds no value and no endpoint.

    `location` narrows the aspect: a header's name, a JSON pointer, an event; empty if the aspect has only one.
    """

    label: str
    aspect: str
    location: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse a key.

        Raises:
            ValueError: with one line that says how a key is written.
        """
        return cls(*_parse_key(text))

    def covers(self, other: AssertionKey) -> bool:
        """Whether this key, whose label or aspect may be `*`, includes the other."""
        return (
            self.label in (other.label, WILDCARD)
            and self.aspect in (other.aspect, WILDCARD)
            and (self.location == other.location or self.aspect == WILDCARD)
        )

    @property
    def local_key(self) -> str:
        """The key without its label: `header:retry-after`."""
        return f"{self.aspect}:{self.location}" if self.location else self.aspect

    def __str__(self) -> str:
        return f"{self.label}/{self.local_key}"


@lru_cache(maxsize=4096)  # records and results repeat the same few hundred keys
def _parse_key(text: str) -> tuple[str, str, str]:
    """Return the label, aspect and location of a key."""
    match = _KEY.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} names no assertion: it should read <label>/<aspect>[:<location>]")
    return match["label"], match["aspect"], match["location"] or ""


@dataclass(frozen=True, slots=True)
class Assertion:
    """One statement of a record, with its basis and what it takes to observe it."""

    address: str
    key: AssertionKey
    documented: Json
    """The stated value, rule or schema."""
    basis: Basis
    source: str = ""
    """The rows that say it, as `2:7.3#row`, separated by `; `. Empty if assumed, except for relations."""
    assumed: str = ""
    """Why we chose it; empty if documented."""
    alternatives: tuple[Json, ...] = ()
    """All values that conform, if the documents allow several; the first is `documented`."""
    out_of_reach: str = ""
    """Why no client can cause it, or empty."""
    resolved: str = ""
    """The observed class of a resolved assumption, or empty."""
    has_matched: bool = False
    """Whether it matched when a live night observed it last."""
    from_envelope: bool = False
    """Whether the envelope assumes it of all answers of its surface, and not the record."""
    optional: bool = False
    """Whether its subject may be absent, so that it need never be observed."""
    since: str = ""
    """The first API revision under which it holds; empty if it holds under the oldest."""
    until: str = ""
    """The first API revision under which it no longer holds; empty if it holds under the newest."""
    depends_on: tuple[str, ...] = ()
    """Labels of the steps that must have matched before this one means anything."""
    compared_labels: tuple[str, ...] = ()
    """Labels of the other exchanges whose values it is compared with."""

    @property
    def is_only_location_assumed(self) -> bool:
        """Whether only the location is assumed: of a literal value in a body, or of a relation that cites a row."""
        if self.basis is not Basis.ASSUMED:
            return False
        if self.key.aspect == "relation":
            return bool(self.source)
        is_literal = isinstance(self.documented, dict) and not {"const", "enum"}.isdisjoint(self.documented)
        return self.key.aspect == "body" and is_literal

    @property
    def is_only_status_assumed(self) -> bool:
        """Whether only the exact status is assumed; that it is a success or a refusal is documented."""
        return self.basis is Basis.ASSUMED and self.key.local_key == "status"

    @property
    def id(self) -> str:
        """`<address>#<label>/<aspect>[:<location>]`; permanent."""
        return f"{self.address}#{self.key}"


@dataclass(frozen=True, slots=True)
class Observation:
    """Which assertions of a step matched, mismatched, or were not observed; each assertion is in one of the three.

    `matched` holds local keys (`header:retry-after`). `mismatched` maps a local key to the observed class (a value,
    `absent`, `malformed` or `out-of-range`), and `not_observed` maps it to the reason.
    """

    endpoint: str
    """The address of the endpoint record; empty if none has the request's method and path."""
    label: str
    matched: tuple[str, ...] = ()
    mismatched: Mapping[str, str] = field(default_factory=dict)
    not_observed: Mapping[str, str] = field(default_factory=dict)


class Reach(StrEnum):
    """Who can observe something, in the order of what it takes."""

    ONE_KEY = "one key"
    """Anyone with an inference key, for free."""
    MORE = "more"
    """It takes other keys, values or addresses, or the permission to spend; or the provider need not show it."""
    TRAFFIC = "traffic only"
    """No request can cause it; recorded traffic may show it."""
    MOCK = "mock only"
    """It takes a state that no documented request creates; only our mock can be put into it."""
    OFF_WIRE = "off the wire"
    """It never travels over the network."""

    @property
    def is_checked(self) -> bool:
        """Whether a client's own requests can check it. On our mock alone, two of our own transcriptions agree."""
        return self in (Reach.ONE_KEY, Reach.MORE)
