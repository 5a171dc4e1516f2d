"""An observation: what one exchange showed of a record's assertions under one label, on one endpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Observation:
    """Each assertion under the label either matched, mismatched, or was not observed.

    `matched` holds keys without their label (`header:retry-after`). `mismatched` maps such keys to the observed class
    (a value, `absent`, `malformed` or `out-of-range`), `not_observed` to the reason.
    """

    endpoint: str
    """The address of the endpoint record; empty if none has the request's method and path."""
    label: str
    matched: tuple[str, ...] = ()
    mismatched: Mapping[str, str] = field(default_factory=dict)
    not_observed: Mapping[str, str] = field(default_factory=dict)
