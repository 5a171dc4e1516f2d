"""Meters: an organization's buckets by header family, and the headers (2:8.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.clock import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pa.call import Call

REQUESTS, TOKENS = "ratelimit-requests", "ratelimit-tokens"
INPUT_TOKENS, OUTPUT_TOKENS = "ratelimit-input-tokens", "ratelimit-output-tokens"


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
    """Return the meter of the organization and tier for a group or model class."""
    return Meter(family, call.session.bucket(("pa", call.key.organization.id, group, family, per_minute), per_minute))


def show(call: Call, meters: Iterable[Meter]) -> None:
    """Show these meters in the answer."""
    call.meters.update({meter.family: meter.bucket for meter in meters})


def make_headers(call: Call) -> dict[str, str]:
    """Make the headers of all meters; "tokens" has the most restrictive limit."""
    buckets = dict(call.meters)
    tokens = [buckets[family] for family in (INPUT_TOKENS, OUTPUT_TOKENS) if family in buckets]
    if tokens:
        buckets[TOKENS] = find_most_restrictive(tokens, call.now)
    return {
        call.names.header(f"{family}-{part}"): value
        for family, bucket in buckets.items()
        for part, value in describe_bucket(family, bucket, call.now).items()
    }


def find_most_restrictive(tokens: Sequence[TokenBucket], now: float) -> TokenBucket:
    """Return the limit of tokens of which the least remains."""
    return min(tokens, key=lambda bucket: bucket.remaining(now))


def describe_bucket(family: str, bucket: TokenBucket, now: float) -> dict[str, str]:
    """Return the values of a family's headers; "tokens" rounds to thousands (2:8.2)."""
    remaining = bucket.remaining(now)
    if family == TOKENS:
        remaining = round(remaining, -3)
    return {"limit": str(round(bucket.per_minute)), "remaining": str(remaining), "reset": rfc3339(bucket.full_at(now))}
