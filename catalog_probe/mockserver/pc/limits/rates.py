"""PC's limits: what is counted a minute, a day, a month and in the queue, the ramp, and the headers (2:7.5, 2:8.4)."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.pc.auth.keys import Standing
from catalog_probe.mockserver.pc.call import read_object
from catalog_probe.mockserver.pc.endpoints.organization import Spending
from catalog_probe.mockserver.pc.errors import (
    BILLING_HARD_LIMIT_REACHED,
    CREDIT_BALANCE_EXHAUSTED,
    INSUFFICIENT_QUOTA,
    ORGANIZATION_SPEND_LIMIT_EXCEEDED,
    ORGANIZATION_USAGE_LIMIT_EXCEEDED,
    PROJECT_SPEND_LIMIT_EXCEEDED,
    RATE_LIMIT_EXCEEDED,
    SLOW_DOWN,
    PcError,
    Row,
    retry_after,
)
from catalog_probe.mockserver.pc.limits.tiers import GRANTS, LIVE_SESSIONS
from catalog_probe.mockserver.pc.models import MODELS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pc.call import Call
    from catalog_probe.mockserver.pc.limits.tiers import Grant
    from catalog_probe.mockserver.pc.models import Model

A_DAY = 24 * 60
"""In minutes."""

OF_REQUESTS = ("requests_per_minute", "requests_per_day")
OF_TOKENS = ("tokens_per_minute", "tokens_per_day")
OF_IMAGES = ("images_per_minute",)
"""What is counted of each; the long-context limit and a project's count tokens, too."""

FAMILIES: Mapping[str, str] = {
    "requests_per_minute": "requests",
    "tokens_per_minute": "tokens",
    "project_tokens_per_minute": "project-tokens",
}
"""Which headers tell of which limit: `x-ratelimit-limit-requests` and the others of its family."""

UNNAMED = "mid"
"""The class of model that a request counts for which names no model that there is."""

LONG_CONTEXT_FROM = 272_000
"""Above so many input tokens another table holds (2:8.4); its values are not shown."""

LONG_CONTEXT_SHARE = 2
"""The mock's own: half of the tokens that are granted otherwise."""

RAMP_FROM_TPM = 1_000_000
RAMP_GROWTH = 1.5
RAMP_WINDOW_S = 15 * 60
"""Above about 1M TPM usage may grow at most 50% in 15 minutes (2:8.4)."""

_REFUSED: Mapping[Standing, tuple[Row, str]] = {
    Standing.QUOTA: (
        INSUFFICIENT_QUOTA,
        "You exceeded your current quota, please check your plan and billing details.",
    ),
    Standing.CREDIT: (CREDIT_BALANCE_EXHAUSTED, "Your prepaid credit balance is exhausted."),
    Standing.ORGANIZATION_SPEND: (
        ORGANIZATION_SPEND_LIMIT_EXCEEDED,
        "Your organization has reached its monthly hard spend limit.",
    ),
    Standing.PROJECT_SPEND: (PROJECT_SPEND_LIMIT_EXCEEDED, "Your project has reached its monthly hard spend limit."),
    Standing.USAGE: (
        ORGANIZATION_USAGE_LIMIT_EXCEEDED,
        "Your organization has reached the monthly usage limit assigned to it.",
    ),
    Standing.HARD_LIMIT: (BILLING_HARD_LIMIT_REACHED, "Billing hard limit has been reached."),
}


class Meter(NamedTuple):
    """A limit: what it counts, and how much of it is left."""

    metered: str
    bucket: TokenBucket


@dataclass
class Opened:
    """What a session was limited by so far: (organization, class of models, what is counted) -> its limits."""

    meters: dict[tuple[str, str, tuple[str, ...]], list[Meter]] = field(default_factory=dict)


@dataclass
class Ramp:
    """How many tokens were asked for in each minute of the window, however many requests asked for them.

    A minute begins with its first request: (when it began, tokens), in order, so at most one more than the window has.
    """

    minutes: deque[tuple[float, int]] = field(default_factory=deque)

    def admits(self, tokens: int, now: float) -> bool:
        """Whether this minute may take so many more; the busiest minute of the window before is the measure."""
        while self.minutes and self.minutes[0][0] <= now - RAMP_WINDOW_S:
            self.minutes.popleft()
        this_minute = sum(count for began, count in self.minutes if began > now - 60) + tokens
        busiest = max((count for began, count in self.minutes if began <= now - 60), default=0)
        limits = leniency.current().limits
        return limits is None or this_minute <= max(RAMP_FROM_TPM * limits, RAMP_GROWTH * busiest)

    def count(self, tokens: int, now: float) -> None:
        """Count what was admitted towards its minute."""
        if self.minutes and now - 60 < self.minutes[-1][0]:
            began, count = self.minutes.pop()
            self.minutes.append((began, count + tokens))
        else:
            self.minutes.append((now, tokens))


@dataclass
class Queue:
    """The input tokens that are queued in batches: (organization, model) -> how many."""

    tokens: dict[tuple[str, str], int] = field(default_factory=dict)


async def read_counted(call: Call) -> dict[str, Any]:
    """The body of a request that counts, whether it will succeed or not (2:7.5); or 400, or 429."""
    try:
        body = await read_object(call)
    except PcError:
        admit_request(call)
        raise
    count(call, body)
    return body


def count(call: Call, body: Mapping[str, Any]) -> None:
    """Count the request that a body makes, towards the limits of the model that it names; or 429."""
    named = body.get("model")
    admit_request(call, MODELS.get(named) if isinstance(named, str) else None)


def admit_request(call: Call, model: Model | None = None) -> None:
    """Count one request, whether it will succeed or not (2:7.5), or 429."""
    meters = _meters(call, model, *OF_REQUESTS)
    refused = _refusal(call, meters, 1)
    if refused is None:
        _charge(call, meters, 1)
    _tell(call, model)
    if refused is not None:
        raise refused


def admit_tokens(call: Call, model: Model, prompt: int, max_tokens: int) -> None:
    """Count the larger of max_tokens and the estimated prompt (2:8.4), or 429; and refuse those out of money."""
    refuse_spenders(call)
    asked = counted_tokens(prompt, max_tokens)
    meters = _token_meters(call, model, prompt)
    _refuse_beyond(call, meters, asked)
    ramp = call.session.state(Ramp)
    if not ramp.admits(asked, call.now):
        raise SLOW_DOWN("Your traffic is ramping up too fast. Please slow down and increase it gradually.")
    ramp.count(asked, call.now)
    _charge(call, meters, asked)
    _tell(call, model, prompt)


def counted_tokens(prompt: int, max_tokens: int) -> int:
    """What a request counts towards the tokens: the larger of what it may be given and what it has (2:8.4)."""
    return max(prompt, max_tokens)


def admit_images(call: Call, model: Model, images: int) -> None:
    """Count images, or 429."""
    meters = _meters(call, model, *OF_IMAGES)
    _refuse_beyond(call, meters, images)
    _charge(call, meters, images)


def admit_live_session(call: Call, opened: int) -> None:
    """Let one more live session be opened beside so many, or 429."""
    allowed = LIVE_SESSIONS.get(call.key.organization.tier)
    if allowed is not None and opened >= allowed:
        raise exceeded(call, f"concurrent live sessions: limit {allowed}")


def enqueue(call: Call, model: Model, tokens: int) -> None:
    """Queue the input tokens of a batch, as many as the model's queue takes of the organization (2:8.4), or 429."""
    queue = call.session.state(Queue).tokens
    waiting = queue_of(call, model)
    limit = _grant(call, model).queued_tokens
    queued = queue.get(waiting, 0) + tokens
    if limit is not None and queued > limit:
        raise exceeded(call, f"enqueued tokens of {model.id}: limit {limit}")
    queue[waiting] = queued


def queue_of(call: Call, model: Model) -> tuple[str, str]:
    """Which queue a batch waits in: the organization's for the model that it asks."""
    return call.key.organization.id, model.id


def refuse_spenders(call: Call) -> None:
    """Raise the 429 of an owner who may spend no more; it carries no Retry-After, for waiting does not help."""
    standing = call.key.standing
    if standing is Standing.GOOD and call.session.state(Spending).exhausted:
        standing = Standing.ORGANIZATION_SPEND
    if standing is not Standing.GOOD:
        row, message = _REFUSED[standing]
        raise row(message)


def _grant(call: Call, model: Model | None) -> Grant:
    return GRANTS[call.key.organization.tier][model.limits if model else UNNAMED]


def _meters(call: Call, model: Model | None, *metrics: str) -> list[Meter]:
    """The limits of a class of models that the organization has, full before their first use."""
    opened, key = call.session.state(Opened).meters, (call.key.organization.id, pool_of(model), metrics)
    found = opened.get(key)
    if found is None:
        found = opened[key] = [
            Meter(metric, _bucket(call, model, metric, limit))
            for metric in metrics
            if (limit := getattr(_grant(call, model), metric)) is not None
        ]
    return found


def _bucket(call: Call, model: Model | None, metric: str, limit: int) -> TokenBucket:
    key = ("pc", call.key.organization.id, pool_of(model), metric)
    return call.session.bucket(key, limit / A_DAY if metric.endswith("_day") else limit, limit)


def pool_of(model: Model | None) -> str:
    """The models whose limits are one: those of a class (2:8.4 "shared limit pools")."""
    return model.limits if model else UNNAMED


def _token_meters(call: Call, model: Model, prompt: int) -> list[Meter]:
    if prompt > LONG_CONTEXT_FROM:
        found = [_long_context_meter(call, model), *_meters(call, model, "tokens_per_day")]
    else:
        found = _meters(call, model, *OF_TOKENS)
    if call.project.tokens_per_minute is None:
        return found
    return [*found, Meter("project_tokens_per_minute", _project_bucket(call))]


def _long_context_meter(call: Call, model: Model) -> Meter:
    granted = _grant(call, model).tokens_per_minute or 0
    key = ("pc", call.key.organization.id, model.limits, "long context")
    return Meter("tokens_per_minute", call.session.bucket(key, granted // LONG_CONTEXT_SHARE))


def _project_bucket(call: Call) -> TokenBucket:
    return call.session.bucket(("pc", call.project.id, "tokens"), call.project.tokens_per_minute or 0)


def _charge(call: Call, meters: Sequence[Meter], amount: int) -> None:
    for meter in meters:
        meter.bucket.charge(amount, call.now)


def _refuse_beyond(call: Call, meters: Sequence[Meter], amount: int) -> None:
    refused = _refusal(call, meters, amount)
    if refused is not None:
        raise refused


def _refusal(call: Call, meters: Sequence[Meter], amount: int) -> PcError | None:
    """The 429 of the first limit that cannot take so much more."""
    for meter in meters:
        wait = meter.bucket.seconds_until(amount, call.now)
        if wait > 0:
            what = f"{meter.metered.replace('_', ' ')}: limit {meter.bucket.capacity:.0f}"
            return exceeded(call, what, wait)
    return None


def exceeded(call: Call, what: str, wait: float | None = None) -> PcError:
    """The 429 of a limit; it says how many seconds to wait where that is known."""
    message = f"Rate limit reached in organization {call.key.organization.id} on {what}."
    return RATE_LIMIT_EXCEEDED(message, headers=retry_after(max(1, wait)) if wait is not None else None)


def _tell(call: Call, model: Model | None, prompt: int = 0) -> None:
    """Let the answer tell of the limits; of the project's only where it has one."""
    if model is not None and prompt > LONG_CONTEXT_FROM:
        told = [*_meters(call, model, "requests_per_minute"), _long_context_meter(call, model)]
    else:
        told = _meters(call, model, "requests_per_minute", "tokens_per_minute")
    if call.project.tokens_per_minute is not None:
        told = [*told, Meter("project_tokens_per_minute", _project_bucket(call))]
    call.meters.update({FAMILIES[meter.metered]: meter.bucket for meter in told})


def headers_of(meters: Mapping[str, TokenBucket], now: float) -> dict[str, str]:
    """The rate-limit headers of an answer that tells of these limits: family -> bucket."""
    headers: dict[str, str] = {}
    for family, bucket in meters.items():
        headers |= rate_limit_headers(family, bucket, now)
    return headers


def rate_limit_headers(family: str, bucket: TokenBucket, now: float) -> dict[str, str]:
    """What the headers of one limit say: requests, tokens or project-tokens (2:8.4)."""
    return {
        f"x-ratelimit-limit-{family}": f"{bucket.capacity:.0f}",
        f"x-ratelimit-remaining-{family}": str(bucket.remaining(now)),
        f"x-ratelimit-reset-{family}": as_duration(bucket.full_at(now) - now),
    }


def as_duration(seconds: float) -> str:
    """A duration such as `1s`, `20ms` or `6m0s`."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms" if seconds > 0 else "0s"
    minutes, rest = divmod(math.ceil(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
