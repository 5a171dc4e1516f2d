"""PA's rate limits: tables, what a request takes, headers and 429s. The comments quote section 8.2 of document 2."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.core.limits import Limit, charge_all, charge_in_debt, find_excesses
from catalog_probe.mockserver.pa.call import make_page
from catalog_probe.mockserver.pa.errors import BATCH_QUEUE_FULL, LIMIT_REACHED, NO_WORKSPACE, USED_UP_BY_OTHERS
from catalog_probe.mockserver.pa.keys import KEYS, THRIFTY_RATE_WORKSPACE, PerMinute

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.limits import Meter, TokenBucket
    from catalog_probe.mockserver.pa.call import Call
    from catalog_probe.mockserver.pa.conversation import InputTokens
    from catalog_probe.mockserver.pa.models import Model


# Classes of models, by equal numbers. Models of one class share its buckets, and no class shares those of another.
NEWEST_LARGE = ("newest_large", "second_newest_large")
FIVE_OTHERS = ("own_large", "previous_large", "own_mid", "previous_mid", "small")
RETIRED = "retired_small"


def _by_class(newest_large: PerMinute, five_others: PerMinute, retired: PerMinute) -> dict[str, PerMinute]:
    """Return the numbers of each class of a tier, e.g. `{"newest_large": …, "own_mid": …, "retired_small": …}`."""
    return {**dict.fromkeys(NEWEST_LARGE, newest_large), **dict.fromkeys(FIVE_OTHERS, five_others), RETIRED: retired}


# "Messages API values as RPM / ITPM / OTPM": requests, input tokens and output tokens per minute
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
    "tight": _by_class(PerMinute(2, 20_000, 4_000), PerMinute(2, 20_000, 4_000), PerMinute(2, 20_000, 4_000)),
}

# "Batches …: Start RPM 1000 …", "Token counting RPM: Start 5000 …", "Files API: about 500 RPM per organization",
# "Managed agents per organization: create endpoints 300 RPM; read endpoints 1200 RPM". Endpoints of models have none.
REQUEST_LIMITS: Mapping[str, dict[str, int]] = {
    "start": {"count_tokens": 5_000, "batches": 1_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "build": {"count_tokens": 10_000, "batches": 2_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "scale": {"count_tokens": 20_000, "batches": 4_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "tight": {"count_tokens": 2, "batches": 2, "files": 2, "agents_create": 2, "agents_read": 2},  # ours
}

# "Batches …: Start … queue 200000 requests; Build … 300000; Scale … 500000"
BATCH_QUEUES: Mapping[str, int] = {"start": 200_000, "build": 300_000, "scale": 500_000}

# "per-workspace … rate limits can be set below the organization limit (not on the default workspace)"; the cloud
# marketplace "has no per-workspace limits"
WORKSPACES: Mapping[str, int] = {THRIFTY_RATE_WORKSPACE: 1}  # requests of messages per minute

# "Fast mode has dedicated limits"; their numbers are not shown. Ours are of tokens: no meter counts its requests alone.
FAST = PerMinute(0, 50_000, 10_000)
TIGHT_FAST = PerMinute(0, 500, 100)

# "Burn-down rates: cache read 0.1, 5-minute cache write 1.25, 1-hour cache write 2.0, US geo on newer models 1.1, other
# tokens 1.0"
CACHE_READ = 0.1
CACHE_WRITE_5M = 1.25
CACHE_WRITE_1H = 2.0
US_GEO = 1.1
OTHER = 1.0


# The headers of "tokens" are of no limit of their own: they show the tightest of the limits of MESSAGE_TOKENS.
TOKENS = "ratelimit-tokens"


def _token_limits(kind: str) -> tuple[Limit, Limit]:
    """Return the limits of input and output, whose headers are e.g. `pa-fast-input-tokens-limit`."""
    return (
        Limit("input_tokens", "input_tokens", LIMIT_REACHED, "2:8.2", header=f"{kind}-input-tokens"),
        Limit("output_tokens", "output_tokens", LIMIT_REACHED, "2:8.2", header=f"{kind}-output-tokens"),
    )


REQUESTS = Limit("requests", "requests", LIMIT_REACHED, "2:8.2", header="ratelimit-requests")
MESSAGE_TOKENS = _token_limits("ratelimit")
MESSAGES = (REQUESTS, *MESSAGE_TOKENS)
FAST_MODE = _token_limits("fast")
PRIORITY = _token_limits("priority")


def meters_of(
    call: Call, group: str, limits: Iterable[Limit], numbers: PerMinute, kind: str = ""
) -> list[Meter[Limit]]:
    """Return the meters that the organization has for a group of endpoints or a class of models.

    Each limit takes the number of its own name: `Limit("input_tokens", …)` takes `numbers.input_tokens`. The group is
    e.g. `files` or `messages/own_mid`; the kind keeps fast and priority tokens apart from others.
    """
    return call.session.open_meters(limits, numbers, "pa", call.key.organization.id, group, kind)


def show_meters(call: Call, meters: Iterable[Meter[Limit]]) -> None:
    """Show these meters in the headers of the answer, also of a refusal."""
    call.meters.update({meter.limit.header: meter.bucket for meter in meters})


def make_headers(call: Call) -> dict[str, str]:
    """Make the headers of all shown meters; those of "tokens" tell the most restrictive limit of tokens."""
    buckets = dict(call.meters)
    token_buckets = [buckets[limit.header] for limit in MESSAGE_TOKENS if limit.header in buckets]
    if token_buckets:
        buckets[TOKENS] = find_most_restrictive(token_buckets, call.now)
    return {
        call.names.header(f"{family}-{part}"): value
        for family, bucket in buckets.items()
        for part, value in describe_bucket(family, bucket, call.now).items()
    }


def find_most_restrictive(token_buckets: Sequence[TokenBucket], now: float) -> TokenBucket:
    """Return the bucket of which the least remains: of 90 input and 70 output tokens, that of output."""
    return min(token_buckets, key=lambda bucket: bucket.remaining(now))


def describe_bucket(family: str, bucket: TokenBucket, now: float) -> dict[str, str]:
    """Return the value of each header of a family, e.g. `{"limit": "1000", "remaining": "999", "reset": "2026-…"}`."""
    remaining = bucket.remaining(now)
    if family == TOKENS:
        remaining = round(remaining, -3)  # "remaining rounded to the nearest thousand"
    return {"limit": str(round(bucket.per_minute)), "remaining": str(remaining), "reset": rfc3339(bucket.full_at(now))}


BATCH_QUEUE_RETRY_S = 60  # ours: after that time a batch has ended, so that fewer requests wait

ESTIMATE_MARGIN = 1.1  # ours: ITPM is "estimated at request start and adjusted to actual"


@dataclass(frozen=True, slots=True)
class Admission:
    """A message that the limits admitted, and the meters that pay for it.

    Args:
        shown: the meters that the headers of its answer show: also those of its class of models and of a commitment
            that do not pay for it.
        tokens: the meters that pay for its input tokens and its output tokens.
        input_amount: what its input takes from these: ITPM's tokens, or those of a commitment (`burn_down`).
        service_tier: the tier that the answer tells, `standard` or `priority`.
    """

    shown: Sequence[Meter[Limit]]
    tokens: Sequence[Meter[Limit]]
    input_amount: float
    service_tier: str = "standard"

    def settle(self, call: Call, output_tokens: int) -> None:
        """Give back what was estimated too much, and charge the output that was generated, whatever `max_tokens` says.

        Example: 100 input tokens were charged as 110, so 10 are given back.
        """
        overestimate = estimate_input(self.input_amount) - self.input_amount
        charge_in_debt(self.tokens, {"input_tokens": -overestimate, "output_tokens": output_tokens}, call.now)
        show_meters(call, self.shown)


def admit_request(call: Call, group: str) -> None:
    """Count one request of a group of endpoints, or refuse it with 429. A group without a row has no limit."""
    per_minute = REQUEST_LIMITS[call.key.organization.tier].get(group)
    if per_minute is not None:
        _admit_one(call, group, per_minute)


def admit_workspace(call: Call) -> None:
    """Count one request of a workspace with a limit of its own, or refuse it with 429.

    The request counts even if a limit of the organization refuses it next: the documents do not say.
    """
    workspace = call.key.workspace or ""
    if workspace in WORKSPACES:
        _admit_one(call, workspace, WORKSPACES[workspace])


def admit_batch(call: Call, waiting: int, requests: int) -> None:
    """Refuse a batch with 429 if its requests and those that wait are more than the queue holds."""
    limit = BATCH_QUEUES.get(call.key.organization.tier)
    if limit is not None and waiting + requests > limit:
        raise BATCH_QUEUE_FULL(limit=limit, headers=retry_after(BATCH_QUEUE_RETRY_S))


def admit_message(call: Call, model: Model, measured: InputTokens, body: Mapping[str, Any]) -> Admission:
    """Count one message, which is a request and its uncached input, or refuse it with 429.

    Fast mode has limits of its own. A priority commitment pays for a message whose service tier is `auto`, the default,
    as long as the commitment has capacity left; any other message is charged to the limits of its class of models.
    """
    admit_workspace(call)
    standard, priority = standard_meters(call, model), priority_meters(call, model)
    requests, *tokens = standard
    input_amount = count_limited_input(model, measured)
    if body.get("speed") == "fast":
        fast = fast_meters(call, model)
        return _admit(call, requests, Admission((*standard, *fast), fast, input_amount))
    shown = (*standard, *priority)
    if priority and body.get("service_tier") != "standard_only":
        burnt = burn_down(measured, body)
        if suffices(call, priority, burnt):
            return _admit(call, requests, Admission(shown, priority, burnt, "priority"))
    return _admit(call, requests, Admission(shown, tokens, input_amount))


def refuse_used_up(call: Call, retry_after_s: int) -> Refusal:
    """Make the 429 of an organization whose requests somebody else has used up, and show it in the headers."""
    # The numbers of any class would do: the documents do not say which class was used up.
    limit = MESSAGE_LIMITS[call.key.organization.tier]["small"].requests
    values = {"limit": str(limit), "remaining": "0", "reset": rfc3339(call.now + retry_after_s)}
    call.headers.update({call.names.header(f"{REQUESTS.header}-{part}"): value for part, value in values.items()})
    return USED_UP_BY_OTHERS(per_minute=limit, headers={"retry-after": str(retry_after_s)})


def count_limited_input(model: Model, measured: InputTokens) -> int:
    """Return the input tokens that ITPM counts: those read from the cache only "for the retired class" (2:8.2).

    Example: 100 fresh, 50 written and 900 read tokens are 150, and 1,050 for a model of the retired class.
    """
    return measured.fresh + measured.created + (measured.read if model.limit_class == RETIRED else 0)


def suffices(call: Call, tokens: Sequence[Meter[Limit]], burnt: float) -> bool:
    """Whether a commitment has capacity for the input, and no debt of output, as `auto` requires (2:8.2)."""
    # A bucket in debt refuses even an amount of 0.
    amounts = {"input_tokens": estimate_input(burnt), "output_tokens": 0}
    return not find_excesses(tokens, amounts, call.now)


def standard_meters(call: Call, model: Model) -> list[Meter[Limit]]:
    """Return the meters of the model's class: requests, input tokens and output tokens."""
    numbers = MESSAGE_LIMITS[call.key.organization.tier][model.limit_class]
    return meters_of(call, f"messages/{model.limit_class}", MESSAGES, numbers)


def fast_meters(call: Call, model: Model) -> list[Meter[Limit]]:
    """Return the meters of fast mode: input tokens and output tokens."""
    numbers = TIGHT_FAST if call.key.organization.tier == "tight" else FAST
    return meters_of(call, f"messages/{model.limit_class}", FAST_MODE, numbers, "fast")


def priority_meters(call: Call, model: Model) -> list[Meter[Limit]]:
    """Return the meters of the organization's commitment, input and output tokens, if it covers the model."""
    numbers = call.key.organization.commitment
    if numbers is None or not model.priority:
        return []
    return meters_of(call, f"messages/{model.limit_class}", PRIORITY, numbers, "priority")


def burn_down(measured: InputTokens, body: Mapping[str, Any]) -> float:
    """Return the tokens of a commitment that the input of a message takes.

    Example: 100 fresh tokens, 40 written for an hour and 1,000 read are 100 + 80 + 100 = 280.
    """
    write = CACHE_WRITE_1H if measured.hourly else CACHE_WRITE_5M
    tokens = measured.read * CACHE_READ + measured.created * write + measured.fresh * OTHER
    return tokens * (US_GEO if body.get("inference_geo") == "us" else 1)


def estimate_input(amount: float) -> float:
    """Return what a message is charged for its input before that is known."""
    return amount * ESTIMATE_MARGIN


def retry_after(wait_s: float) -> dict[str, str]:
    """Return the header that says how long to wait, in whole seconds: 0.2 seconds are `{"retry-after": "1"}`."""
    return {"retry-after": str(max(1, math.ceil(wait_s)))}


def _admit_one(call: Call, group: str, per_minute: int) -> None:
    meters = meters_of(call, group, (REQUESTS,), PerMinute(per_minute, 0, 0))
    _charge(call, meters, {"requests": 1}, shown=meters)


def _admit(call: Call, requests: Meter[Limit], admission: Admission) -> Admission:
    amounts = {
        "requests": 1,
        "input_tokens": estimate_input(admission.input_amount),
        "output_tokens": 0,  # not known yet; a bucket in debt refuses even an amount of 0
    }
    _charge(call, (requests, *admission.tokens), amounts, shown=admission.shown)
    return admission


def _charge(
    call: Call, meters: Sequence[Meter[Limit]], amounts: Mapping[str, float], *, shown: Iterable[Meter[Limit]]
) -> None:
    """Charge all of these meters; or none, and refuse with the 429 of the meter that needs the longest wait."""
    excesses = charge_all(meters, amounts, call.now)
    show_meters(call, shown)
    if excesses:
        longest = max(excesses, key=lambda excess: excess.wait_s)
        raise longest.meter.limit.row(
            per_minute=round(longest.meter.bucket.per_minute),
            counted=longest.meter.limit.header.removeprefix("ratelimit-").replace("-", " "),
            organization=call.key.organization.id,
            headers=retry_after(longest.wait_s),
        )


async def list_organization_limits(call: Call) -> Response:
    """Answer with one page of the limits of the organization."""
    return JSONResponse(make_page(call, _describe_limits(call.key.organization.tier)))


async def list_workspace_limits(call: Call) -> Response:
    """Answer with one page of the limits that are set for one workspace; most workspaces have none."""
    workspace = call.params["workspace_id"]
    if workspace not in {key.workspace for key in KEYS.values() if key.organization == call.key.organization}:
        raise NO_WORKSPACE(id=workspace)
    limits = [_describe_limit("messages", "requests", WORKSPACES[workspace])] if workspace in WORKSPACES else []
    return JSONResponse(make_page(call, limits))


def _describe_limits(tier: str) -> list[dict[str, Any]]:
    message_limits = [
        _describe_limit(model_class, limiter, value)
        for model_class, per_minute in MESSAGE_LIMITS[tier].items()
        for limiter, value in per_minute._asdict().items()
    ]
    request_limits = [_describe_limit(group, "requests", value) for group, value in REQUEST_LIMITS[tier].items()]
    return [*message_limits, *request_limits]


def _describe_limit(group: str, limiter: str, value: int) -> dict[str, Any]:
    return {"type": "rate_limit", "id": f"{group}/{limiter}", "group": group, "limiter": limiter, "value": value}
