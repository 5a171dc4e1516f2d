"""Observations: what one exchange showed of the assertions of one step, on one endpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


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
