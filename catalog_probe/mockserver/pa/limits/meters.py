"""Meters: the buckets of an organization, each under the name of the header family that tells of it (2:8.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pa.call import Call


@dataclass(frozen=True, slots=True)
class Meter:
    """One bucket under the name of its header family."""

    family: str
    bucket: TokenBucket

    @property
    def counts(self) -> str:
        """What it counts, in words."""
        return self.family.removeprefix("ratelimit-").replace("-", " ")


def meter_of(call: Call, group: str, family: str, per_minute: int) -> Meter:
    """The meter of the caller's organization for an endpoint group or model class; full when first used.

    Another tier of the same organization has others.
    """
    return Meter(family, call.session.bucket(("pa", call.key.organization.id, group, family, per_minute), per_minute))
