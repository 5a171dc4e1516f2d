"""PA's rate limits: tables, what a request takes, headers and 429s (2:8.2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog_probe.mockserver.core.buckets import Charge, take_all
from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.errors import BATCH_QUEUE_FULL, LIMIT_REACHED, USED_UP_BY_OTHERS
from catalog_probe.mockserver.pa.keys import THRIFTY_RATE_WORKSPACE

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.conversation import InputTokens
    from catalog_probe.mockserver.pa.models import Model


class PerMinute(NamedTuple):
    """RPM, ITPM and OTPM: requests, uncached input tokens and output tokens a minute."""

    requests: int
    input_tokens: int
    output_tokens: int


# two combined families on the same terms; the generations of a family share its bucket
NEWEST_LARGE = ("newest_large", "second_newest_large")
FIVE_OTHERS = ("own_large", "previous_large", "own_mid", "previous_mid", "small")
RETIRED = "retired_small"


def _by_class(newest_large: PerMinute, five_others: PerMinute, retired: PerMinute) -> dict[str, PerMinute]:
    return {**dict.fromkeys(NEWEST_LARGE, newest_large), **dict.fromkeys(FIVE_OTHERS, five_others), RETIRED: retired}


# "Messages API values as RPM / ITPM / OTPM"
MESSAGE_LIMITS: Mapping[str, dict[str, PerMinute]] = {
    "start": _by_class(
        PerMinute(1_000, 500_000, 100_000),
        PerMinute(1_000, 2_000_000, 400_000),
        PerMinute(1_000, 100_000, 20_000),
    ),
    "build": _by_class(
        PerMinute(2_000, 1_500_000, 300_000),
        PerMinute(5_000, 5_000_000, 1_000_000),
        PerMinute(2_000, 200_000, 40_000),
    ),
    "scale": _by_class(
        PerMinute(4_000, 4_000_000, 800_000),
        PerMinute(10_000, 10_000_000, 2_000_000),
        PerMinute(4_000, 400_000, 80_000),
    ),
    # ours: a few cheap requests exhaust them
    "tight": _by_class(*(PerMinute(2, 20_000, 4_000),) * 3),
}

# "Batches …: Start RPM 1000 …", "Token counting RPM: Start 5000 …", "Files API: about 500 RPM per organization",
# "Managed agents per organization: create endpoints 300 RPM; read endpoints 1200 RPM"; models have none
REQUEST_LIMITS: Mapping[str, dict[str, int]] = {
    "start": {"count_tokens": 5_000, "batches": 1_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "build": {"count_tokens": 10_000, "batches": 2_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "scale": {"count_tokens": 20_000, "batches": 4_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "tight": {"count_tokens": 2, "batches": 2, "files": 2, "agents_create": 2, "agents_read": 2},  # ours
}

# "Batches …: Start … queue 200000 requests; Build … 300000; Scale … 500000"
BATCH_QUEUES: Mapping[str, int] = {"start": 200_000, "build": 300_000, "scale": 500_000}

# "per-workspace … rate limits can be set below the organization limit (not on the default workspace)"
WORKSPACES: Mapping[str, int] = {THRIFTY_RATE_WORKSPACE: 1}  # requests a minute of messages

# "Fast mode has dedicated limits"; their numbers are not shown
FAST = PerMinute(0, 50_000, 10_000)
TIGHT_FAST = PerMinute(0, 500, 100)

# "Burn-down rates: cache read 0.1, 5-minute cache write 1.25, 1-hour cache write 2.0, US geo on newer models 1.1, other
# tokens 1.0"
CACHE_READ = 0.1
CACHE_WRITE_5M = 1.25
CACHE_WRITE_1H = 2.0
US_GEO = 1.1
OTHER = 1.0


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


BATCH_QUEUE_RETRY_S = 60  # ours: a batch takes so long, so that then fewer requests wait

ESTIMATE_MARGIN = 1.1  # ours: ITPM is "estimated at request start and adjusted to actual"


@dataclass(frozen=True, slots=True)
class Admission:
    """A message that the limits admitted.

    Args:
        shown: the meters of its answer's headers.
        input: where its input tokens are charged, and `input_amount` how many.
        output: where its output tokens are charged.
    """

    shown: tuple[Meter, ...]
    input: Meter
    input_amount: float
    output: Meter
    service_tier: str = "standard"

    def settle(self, call: Call, output_tokens: int) -> None:
        """Adjust the estimated input, and charge the output, but not `max_tokens`."""
        self.input.bucket.charge(self.input_amount - estimate(self.input_amount), call.now)
        self.output.bucket.charge(output_tokens, call.now)
        show(call, self.shown)


def admit_request(call: Call, group: str) -> None:
    """Count one request of an endpoint group that has a limit, or 429."""
    per_minute = REQUEST_LIMITS[call.key.organization.tier].get(group)
    if per_minute is not None:
        _admit_one(call, group, per_minute)


def admit_workspace(call: Call) -> None:
    """Count one request of a workspace with a limit; the organization's applies too."""
    workspace = call.key.workspace or ""
    if workspace in WORKSPACES:
        _admit_one(call, workspace, WORKSPACES[workspace])


def admit_batch(call: Call, waiting: int, requests: int) -> None:
    """Let more requests wait in the queue of batches, or 429."""
    limit = BATCH_QUEUES.get(call.key.organization.tier)
    if limit is not None and waiting + requests > limit:
        raise BATCH_QUEUE_FULL(limit=limit, headers=retry_after(BATCH_QUEUE_RETRY_S))


def admit_message(call: Call, model: Model, measured: InputTokens, body: Mapping[str, Any]) -> Admission:
    """Count one message, a request and its uncached input, or 429.

    Fast mode has limits of its own. `auto` uses the priority commitment if that suffices.
    """
    admit_workspace(call)
    requests, input_tokens, output_tokens = standard = _message_meters(call, model)
    input_amount = count_limited_input(model, measured)
    if body.get("speed") == "fast":
        fast = fast_meters(call, model)
        return _admit(call, requests, Admission((*standard, *fast), fast[0], input_amount, fast[1]))
    priority = priority_meters(call, model)
    shown = (*standard, *priority)
    if priority and body.get("service_tier") != "standard_only":
        burnt = burn_down(measured, body)
        if suffices(call, *priority, burnt):
            return _admit(call, requests, Admission(shown, priority[0], burnt, priority[1], "priority"))
    return _admit(call, requests, Admission(shown, input_tokens, input_amount, output_tokens))


def refuse_used_up(call: Call, retry_after_s: int) -> Refusal:
    """Make the 429 of a used-up organization, with the headers that say so."""
    limit = MESSAGE_LIMITS[call.key.organization.tier]["small"].requests
    values = {"limit": str(limit), "remaining": "0", "reset": rfc3339(call.now + retry_after_s)}
    call.headers.update({call.names.header(f"{REQUESTS}-{part}"): value for part, value in values.items()})
    return USED_UP_BY_OTHERS(per_minute=limit, headers={"retry-after": str(retry_after_s)})


def count_limited_input(model: Model, measured: InputTokens) -> int:
    """Return what ITPM counts: cache reads only "for the retired class" (2:8.2)."""
    return measured.fresh + measured.created + (measured.read if model.limit_class == RETIRED else 0)


def suffices(call: Call, input_tokens: Meter, output_tokens: Meter, burnt: float) -> bool:
    """Whether a commitment has capacity of input and output, as `auto` requires (2:8.2)."""
    waits = (
        input_tokens.bucket.seconds_until(estimate(burnt), call.now),
        output_tokens.bucket.seconds_until(0, call.now),
    )
    return max(waits) <= 0


def fast_meters(call: Call, model: Model) -> tuple[Meter, Meter]:
    """Return the meters of fast mode, input and output."""
    limits = TIGHT_FAST if call.key.organization.tier == "tight" else FAST
    return _token_meters(call, model, "fast", limits.input_tokens, limits.output_tokens)


def priority_meters(call: Call, model: Model) -> tuple[()] | tuple[Meter, Meter]:
    """Return the commitment's meters, input and output, if it covers the model."""
    commitment = call.key.organization.commitment
    if commitment is None or not model.priority:
        return ()
    return _token_meters(call, model, "priority", *commitment)


def burn_down(measured: InputTokens, body: Mapping[str, Any]) -> float:
    """Return the tokens that the input of a message takes of a commitment."""
    write = CACHE_WRITE_1H if measured.hourly else CACHE_WRITE_5M
    tokens = measured.read * CACHE_READ + measured.created * write + measured.fresh * OTHER
    return tokens * (US_GEO if body.get("inference_geo") == "us" else 1)


def estimate(amount: float) -> float:
    """Return what the input is charged before it is known."""
    return amount * ESTIMATE_MARGIN


def retry_after(wait_s: float) -> dict[str, str]:
    """Return the header that says how long to wait, in whole seconds."""
    return {"retry-after": str(max(1, math.ceil(wait_s)))}


def _message_meters(call: Call, model: Model) -> tuple[Meter, Meter, Meter]:
    limits = MESSAGE_LIMITS[call.key.organization.tier][model.limit_class]
    group = f"messages/{model.limit_class}"
    return (
        meter_of(call, group, REQUESTS, limits.requests),
        meter_of(call, group, INPUT_TOKENS, limits.input_tokens),
        meter_of(call, group, OUTPUT_TOKENS, limits.output_tokens),
    )


def _token_meters(call: Call, model: Model, kind: str, input_tokens: int, output_tokens: int) -> tuple[Meter, Meter]:
    group = f"messages/{model.limit_class}"
    return (
        meter_of(call, group, f"{kind}-input-tokens", input_tokens),
        meter_of(call, group, f"{kind}-output-tokens", output_tokens),
    )


def _admit_one(call: Call, group: str, per_minute: int) -> None:
    meter = meter_of(call, group, REQUESTS, per_minute)
    _take(call, (meter,), [Charge(meter, meter.bucket, 1)])


def _admit(call: Call, requests: Meter, admission: Admission) -> Admission:
    charges = [
        Charge(requests, requests.bucket, 1),
        Charge(admission.input, admission.input.bucket, estimate(admission.input_amount)),
        Charge(admission.output, admission.output.bucket, 0),  # refused while the bucket is in debt
    ]
    _take(call, admission.shown, charges)
    return admission


def _take(call: Call, shown: Sequence[Meter], charges: list[Charge[Meter]]) -> None:
    blocked_charges = take_all(charges, call.now)
    show(call, shown)
    if blocked_charges:
        worst = max(blocked_charges, key=lambda blocked: blocked.wait_s)
        raise LIMIT_REACHED(
            per_minute=round(worst.charge.bucket.per_minute),
            counted=worst.charge.limit.counts,
            organization=call.key.organization.id,
            headers=retry_after(worst.wait_s),
        )
