"""PA's rate limits: what each tier may do in a minute, and the headers that say what is left (2:8.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from mockserver.buckets import TokenBucket
from mockserver.clock import rfc3339
from mockserver.pa.call import Call
from mockserver.pa.catalogue import Model
from mockserver.pa.errors import RATE_LIMIT, PaError
from mockserver.pa.prompt_cache import InputTokens


class PerMinute(NamedTuple):
    """Requests, uncached input tokens and output tokens a minute: RPM, ITPM, OTPM."""

    requests: int
    input_tokens: int
    output_tokens: int


MESSAGES: dict[str, dict[str, PerMinute]] = {
    "start": {
        "newest_large": PerMinute(1_000, 500_000, 100_000),
        "standard": PerMinute(1_000, 2_000_000, 400_000),
        "retired_small": PerMinute(1_000, 100_000, 20_000),
    },
    "build": {
        "newest_large": PerMinute(2_000, 1_500_000, 300_000),
        "standard": PerMinute(5_000, 5_000_000, 1_000_000),
        "retired_small": PerMinute(2_000, 200_000, 40_000),
    },
    "scale": {
        "newest_large": PerMinute(4_000, 4_000_000, 800_000),
        "standard": PerMinute(10_000, 10_000_000, 2_000_000),
        "retired_small": PerMinute(4_000, 400_000, 80_000),
    },
    "tight": dict.fromkeys(("newest_large", "standard", "retired_small"), PerMinute(2, 20_000, 4_000)),
}
"""By tier and model class. `tight` is the mock's own: three cheap requests exhaust it."""

REQUESTS: dict[str, dict[str, int]] = {
    "start": {"count_tokens": 5_000, "batches": 1_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "build": {"count_tokens": 10_000, "batches": 2_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "scale": {"count_tokens": 20_000, "batches": 4_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "tight": {"count_tokens": 2, "batches": 2, "files": 2, "agents_create": 2, "agents_read": 2},
}
"""Requests a minute by tier and endpoint group. Model endpoints have no documented limit."""


@dataclass(frozen=True, slots=True)
class Meter:
    """One bucket under the name of its header family."""

    family: str
    bucket: TokenBucket


def admit_request(call: Call, group: str) -> None:
    """Count one request of an endpoint group, or 429."""
    per_minute = REQUESTS[call.key.organization.tier].get(group)
    if per_minute is not None:
        _admit(call, [(_meter(call, group, "requests", per_minute), 1)])


def admit_message(call: Call, model: Model, measured: InputTokens) -> None:
    """Count one message: a request, and its uncached input, or 429. Cache reads count for the retired class alone."""
    requests, itpm, _ = _message_meters(call, model)
    counted = measured.fresh + measured.created + (measured.read if model.limit_class == "retired_small" else 0)
    _admit(call, [(requests, 1), (itpm, counted)])


def settle_message(call: Call, model: Model, output_tokens: int) -> None:
    """Charge what was generated: OTPM counts actual tokens, so it is known only at the end."""
    meters = _message_meters(call, model)
    meters[2].bucket.charge(output_tokens, call.now)
    _tell(call, meters)


def _message_meters(call: Call, model: Model) -> tuple[Meter, Meter, Meter]:
    limits = MESSAGES[call.key.organization.tier][model.limit_class]
    group = f"messages/{model.limit_class}"
    return (
        _meter(call, group, "requests", limits.requests),
        _meter(call, group, "input-tokens", limits.input_tokens),
        _meter(call, group, "output-tokens", limits.output_tokens),
    )


def _meter(call: Call, group: str, family: str, per_minute: int) -> Meter:
    return Meter(family, call.session.bucket(("pa", call.key.organization.id, group, family), per_minute))


def _admit(call: Call, charges: list[tuple[Meter, int]]) -> None:
    waits = [meter.bucket.seconds_until(amount, call.now) for meter, amount in charges]
    if max(waits) > 0:
        exhausted = charges[waits.index(max(waits))][0]
        _tell(call, [meter for meter, _ in charges])
        message = (
            f"This request would exceed your organization's rate limit of {exhausted.bucket.per_minute:,} "
            f"{exhausted.family.replace('-', ' ')} per minute (org: {call.key.organization.id})."
        )
        raise PaError(RATE_LIMIT, message, headers={"retry-after": str(max(1, math.ceil(max(waits))))})
    for meter, amount in charges:
        meter.bucket.charge(amount, call.now)
    _tell(call, [meter for meter, _ in charges])


def _tell(call: Call, meters: list[Meter] | tuple[Meter, ...]) -> None:
    """Set the rate-limit headers of every meter, and of the most restrictive of the token meters."""
    tokens = [meter for meter in meters if meter.family != "requests"]
    shown = {meter.family: meter.bucket for meter in meters}
    if tokens:
        shown["tokens"] = min((meter.bucket for meter in tokens), key=lambda bucket: bucket.remaining(call.now))
    for family, bucket in shown.items():
        remaining = bucket.remaining(call.now)
        if family != "requests":
            remaining = round(remaining, -3)
        stem = call.names.header(f"ratelimit-{family}-")
        call.headers[stem + "limit"] = str(bucket.per_minute)
        call.headers[stem + "remaining"] = str(remaining)
        call.headers[stem + "reset"] = rfc3339(bucket.full_at(call.now))
