"""PA's rate limits: what a request takes, and the 429s (2:8.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.buckets import Charge, take_all
from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.errors import BATCH_QUEUE_FULL, LIMIT_REACHED, USED_UP_BY_OTHERS
from catalog_probe.mockserver.pa.limits import tables
from catalog_probe.mockserver.pa.limits.meters import INPUT_TOKENS, OUTPUT_TOKENS, REQUESTS, Meter, meter_of, show

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.generation.tokens import InputTokens
    from catalog_probe.mockserver.pa.models import Model

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
    per_minute = tables.REQUEST_LIMITS[call.key.organization.tier].get(group)
    if per_minute is not None:
        _admit_one(call, group, per_minute)


def admit_workspace(call: Call) -> None:
    """Count one request of a workspace with a limit; the organization's applies too."""
    workspace = call.key.workspace or ""
    if workspace in tables.WORKSPACES:
        _admit_one(call, workspace, tables.WORKSPACES[workspace])


def admit_batch(call: Call, waiting: int, requests: int) -> None:
    """Let more requests wait in the queue of batches, or 429."""
    limit = tables.BATCH_QUEUES.get(call.key.organization.tier)
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
    limit = tables.MESSAGE_LIMITS[call.key.organization.tier]["small"].requests
    values = {"limit": str(limit), "remaining": "0", "reset": rfc3339(call.now + retry_after_s)}
    call.headers.update({call.names.header(f"{REQUESTS}-{part}"): value for part, value in values.items()})
    return USED_UP_BY_OTHERS(per_minute=limit, headers={"retry-after": str(retry_after_s)})


def count_limited_input(model: Model, measured: InputTokens) -> int:
    """Return what ITPM counts: cache reads only "for the retired class" (2:8.2)."""
    return measured.fresh + measured.created + (measured.read if model.limit_class == tables.RETIRED else 0)


def suffices(call: Call, input_tokens: Meter, output_tokens: Meter, burnt: float) -> bool:
    """Whether a commitment has capacity of input and output, as `auto` requires (2:8.2)."""
    waits = (
        input_tokens.bucket.seconds_until(estimate(burnt), call.now),
        output_tokens.bucket.seconds_until(0, call.now),
    )
    return max(waits) <= 0


def fast_meters(call: Call, model: Model) -> tuple[Meter, Meter]:
    """Return the meters of fast mode, input and output."""
    limits = tables.TIGHT_FAST if call.key.organization.tier == "tight" else tables.FAST
    return _token_meters(call, model, "fast", limits.input_tokens, limits.output_tokens)


def priority_meters(call: Call, model: Model) -> tuple[()] | tuple[Meter, Meter]:
    """Return the commitment's meters, input and output, if it covers the model."""
    commitment = call.key.organization.commitment
    if commitment is None or not model.priority:
        return ()
    return _token_meters(call, model, "priority", *commitment)


def burn_down(measured: InputTokens, body: Mapping[str, Any]) -> float:
    """Return the tokens that the input of a message takes of a commitment."""
    write = tables.CACHE_WRITE_1H if measured.hourly else tables.CACHE_WRITE_5M
    tokens = measured.read * tables.CACHE_READ + measured.created * write + measured.fresh * tables.OTHER
    return tokens * (tables.US_GEO if body.get("inference_geo") == "us" else 1)


def estimate(amount: float) -> float:
    """Return what the input is charged before it is known."""
    return amount * ESTIMATE_MARGIN


def retry_after(wait_s: float) -> dict[str, str]:
    """Return the header that says how long to wait, in whole seconds."""
    return {"retry-after": str(max(1, math.ceil(wait_s)))}


def _message_meters(call: Call, model: Model) -> tuple[Meter, Meter, Meter]:
    limits = tables.MESSAGE_LIMITS[call.key.organization.tier][model.limit_class]
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
