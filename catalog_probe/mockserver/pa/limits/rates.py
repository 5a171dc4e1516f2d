"""PA's rate limits: what each tier may do in a minute, and the headers that say what is left (2:8.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.auth.keys import THRIFTY_RATE_WORKSPACE
from catalog_probe.mockserver.pa.errors import RATE_LIMIT, PaError
from catalog_probe.mockserver.pa.limits import special_capacity as special
from catalog_probe.mockserver.pa.limits.meters import Meter, meter_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.generation.prompt_cache import InputTokens
    from catalog_probe.mockserver.pa.models import Model


class PerMinute(NamedTuple):
    """Requests, uncached input tokens and output tokens a minute: RPM, ITPM, OTPM."""

    requests: int
    input_tokens: int
    output_tokens: int


NEWEST_LARGE = ("newest_large", "second_newest_large")
"""Two combined families on the same terms; the generations of a family share its bucket."""
FIVE_OTHERS = ("own_large", "previous_large", "own_mid", "previous_mid", "small")
RETIRED = "retired_small"


def _by_class(newest_large: PerMinute, five_others: PerMinute, retired: PerMinute) -> dict[str, PerMinute]:
    return {**dict.fromkeys(NEWEST_LARGE, newest_large), **dict.fromkeys(FIVE_OTHERS, five_others), RETIRED: retired}


MESSAGES: dict[str, dict[str, PerMinute]] = {
    "start": _by_class(
        PerMinute(1_000, 500_000, 100_000), PerMinute(1_000, 2_000_000, 400_000), PerMinute(1_000, 100_000, 20_000)
    ),
    "build": _by_class(
        PerMinute(2_000, 1_500_000, 300_000), PerMinute(5_000, 5_000_000, 1_000_000), PerMinute(2_000, 200_000, 40_000)
    ),
    "scale": _by_class(
        PerMinute(4_000, 4_000_000, 800_000),
        PerMinute(10_000, 10_000_000, 2_000_000),
        PerMinute(4_000, 400_000, 80_000),
    ),
    "tight": _by_class(*(PerMinute(2, 20_000, 4_000),) * 3),
    "tight_tokens": _by_class(*(PerMinute(1_000, 1_000, 60),) * 3),
}
"""By tier and model class. The tight ones are the mock's own: few cheap requests, or few tokens, exhaust them."""

WORKSPACES: dict[str, int] = {THRIFTY_RATE_WORKSPACE: 1}
"""Requests a minute of messages for a workspace that has a limit below its organization's; most have none (2:8.2)."""

REQUESTS: dict[str, dict[str, int]] = {
    "start": {"count_tokens": 5_000, "batches": 1_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "build": {"count_tokens": 10_000, "batches": 2_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "scale": {"count_tokens": 20_000, "batches": 4_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "tight": {"count_tokens": 2, "batches": 2, "files": 2, "agents_create": 2, "agents_read": 2},
    "tight_tokens": {},
}
"""Requests a minute by tier and endpoint group. Model endpoints have no documented limit."""


BATCH_QUEUES: dict[str, int] = {"start": 200_000, "build": 300_000, "scale": 500_000}
"""Requests that may wait in batches by tier, across models (2:8.2)."""
BATCH_QUEUE_MOVES_S = 60
"""How long a batch takes here, and so until some of them wait no longer."""

ESTIMATE_MARGIN = 1.1
"""ITPM is estimated when a request starts and adjusted to what it was (2:8.2); the estimate errs on the safe side."""


class Charge(NamedTuple):
    """What one request takes of one meter."""

    meter: Meter
    amount: float


@dataclass(frozen=True, slots=True)
class Admission:
    """A message that was let in: what its headers show, where its tokens are charged, and which tier serves it."""

    shown: tuple[Meter, ...]
    input: Charge
    estimate: float
    output: Meter
    service_tier: str = "standard"

    def settle(self, call: Call, output_tokens: int) -> None:
        """Adjust the estimate of the input, and charge what was generated: OTPM counts actual tokens alone."""
        self.input.meter.bucket.charge(self.input.amount - self.estimate, call.now)
        self.output.bucket.charge(output_tokens, call.now)
        tell(call, self.shown)


def admit_request(call: Call, group: str) -> None:
    """Count one request of an endpoint group, or 429."""
    per_minute = REQUESTS[call.key.organization.tier].get(group)
    if per_minute is not None:
        meter = meter_of(call, group, "ratelimit-requests", per_minute)
        _admit(call, (meter,), [Charge(meter, 1)])


def admit_batch(call: Call, waiting: int, requests: int) -> None:
    """Let so many more requests wait in the queue of batches, or the 429 of any limit: none of its own is shown."""
    taken = waiting + requests
    limit = BATCH_QUEUES.get(call.key.organization.tier)
    if limit is not None and taken > limit:
        message = f"This batch would exceed your organization's limit of {limit:,} batch requests in the queue."
        raise PaError(RATE_LIMIT, message, headers=retry_after(BATCH_QUEUE_MOVES_S))


def admit_message(call: Call, model: Model, measured: InputTokens, body: Mapping[str, Any]) -> Admission:
    """Count one message: a request, and its uncached input, or 429. Cache reads count for the retired class alone."""
    admit_workspace(call)
    requests, input_tokens, output_tokens = standard = _message_meters(call, model)
    counted = counted_input(model, measured)
    if body.get("speed") == "fast":
        fast = special.fast_meters(call, model)
        return _let_in(call, requests, (*standard, *fast), Charge(fast[0], counted), fast[1])
    committed = special.priority_meters(call, model)
    if committed and body.get("service_tier") != "standard_only":
        burnt = Charge(committed[0], special.burnt_down(measured, body))
        if suffices(call, burnt, committed[1]):
            return _let_in(call, requests, (*standard, *committed), burnt, committed[1], "priority")
    return _let_in(call, requests, (*standard, *committed), Charge(input_tokens, counted), output_tokens)


def used_up_by_others(call: Call, retry_after_s: int) -> PaError:
    """The 429 of a caller who finds the budget of the organization used up, with the headers that say so."""
    limit = MESSAGES[call.key.organization.tier]["small"].requests
    stem = call.names.header("ratelimit-requests-")
    told = {"limit": str(limit), "remaining": "0", "reset": rfc3339(call.now + retry_after_s)}
    call.headers.update({stem + part: value for part, value in told.items()})
    message = f"Your organization has used up its rate limit of {limit:,} requests per minute."
    return PaError(RATE_LIMIT, message, headers={"retry-after": str(retry_after_s)})


def counted_input(model: Model, measured: InputTokens) -> int:
    """What ITPM counts: not what is read from the cache, but in the retired class (2:8.2)."""
    return measured.fresh + measured.created + (measured.read if model.limit_class == RETIRED else 0)


def admit_workspace(call: Call) -> None:
    """Count one request of a workspace that has a limit of its own; the organization's applies all the same."""
    workspace = call.key.workspace or ""
    if workspace in WORKSPACES:
        meter = meter_of(call, workspace, "ratelimit-requests", WORKSPACES[workspace])
        _admit(call, (meter,), [Charge(meter, 1)])


def _let_in(
    call: Call,
    requests: Meter,
    shown: tuple[Meter, ...],
    taken: Charge,
    output: Meter,
    service_tier: str = "standard",
) -> Admission:
    estimate = taken.amount * ESTIMATE_MARGIN
    _admit(call, shown, [Charge(requests, 1), Charge(taken.meter, estimate), Charge(output, 0)])
    return Admission(shown, taken, estimate, output, service_tier)


def suffices(call: Call, burnt: Charge, output: Meter) -> bool:
    """Whether the capacity of a commitment suffices for both input and output (2:8.2, service_tier `auto`)."""
    needed = burnt.amount * ESTIMATE_MARGIN
    waits = burnt.meter.bucket.seconds_until(needed, call.now), output.bucket.seconds_until(0, call.now)
    return max(waits) <= 0


def retry_after(wait_s: float) -> dict[str, str]:
    """The header that says how long to wait, in whole seconds (2:8.2)."""
    return {"retry-after": str(max(1, math.ceil(wait_s)))}


def _message_meters(call: Call, model: Model) -> tuple[Meter, Meter, Meter]:
    limits = MESSAGES[call.key.organization.tier][model.limit_class]
    group = f"messages/{model.limit_class}"
    return (
        meter_of(call, group, "ratelimit-requests", limits.requests),
        meter_of(call, group, "ratelimit-input-tokens", limits.input_tokens),
        meter_of(call, group, "ratelimit-output-tokens", limits.output_tokens),
    )


def _admit(call: Call, shown: tuple[Meter, ...], charges: list[Charge]) -> None:
    waits = [charge.meter.bucket.seconds_until(charge.amount, call.now) for charge in charges]
    if max(waits) > 0:
        exhausted = charges[waits.index(max(waits))].meter
        tell(call, shown)
        message = (
            f"This request would exceed your organization's rate limit of {round(exhausted.bucket.per_minute):,} "
            f"{exhausted.counts} per minute (org: {call.key.organization.id})."
        )
        raise PaError(RATE_LIMIT, message, headers=retry_after(max(waits)))
    for meter, amount in charges:
        meter.bucket.charge(amount, call.now)
    tell(call, shown)


def tell(call: Call, meters: tuple[Meter, ...]) -> None:
    """Let the answer tell of these meters."""
    call.meters.update({meter.family: meter.bucket for meter in meters})


def headers_of(call: Call) -> dict[str, str]:
    """The headers of every meter that the answer tells of, and of the most restrictive of the token meters (2:8.2)."""
    shown = dict(call.meters)
    tokens = [shown[family] for family in ("ratelimit-input-tokens", "ratelimit-output-tokens") if family in shown]
    if tokens:
        shown["ratelimit-tokens"] = most_restrictive(tokens, call.now)
    return {
        call.names.header(f"{family}-{part}"): value
        for family, bucket in shown.items()
        for part, value in told_of(family, bucket, call.now).items()
    }


def most_restrictive(tokens: Sequence[TokenBucket], now: float) -> TokenBucket:
    """Which of the limits of tokens the tokens family tells of."""
    return min(tokens, key=lambda bucket: bucket.remaining(now))


def told_of(family: str, bucket: TokenBucket, now: float) -> dict[str, str]:
    """What the three headers of a family say: its limit, what remains of it, and when it is whole again (2:8.2)."""
    remaining = bucket.remaining(now)
    if family == "ratelimit-tokens":
        remaining = round(remaining, -3)
    return {"limit": str(round(bucket.per_minute)), "remaining": str(remaining), "reset": rfc3339(bucket.full_at(now))}
