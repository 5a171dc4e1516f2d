"""A look: what one exchange showed of what a record asserts under a label, on one endpoint."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Observation:
    """Of each assertion under the label: seen as stated, seen otherwise, or not seen.

    `as_stated` holds keys without their label (`header:retry-after`); `otherwise` maps such keys to the observed class
    (a value, `absent`, `malformed` or `out-of-range`), `unseen` to why nothing was seen of them.
    """

    endpoint: str
    """The address of the endpoint record that was asked; empty where none has the request's method and path."""
    label: str
    matched: tuple[str, ...] = ()
    mismatched: Mapping[str, str] = field(default_factory=dict)
    not_observed: Mapping[str, str] = field(default_factory=dict)
