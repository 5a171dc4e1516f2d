"""PC's limits: requests and tokens a minute, the ramp, the standing, and the headers that say what is left (2:8.4)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from mockserver.pc.errors import PcError
from mockserver.pc.keys import Standing
from mockserver.pc.organization import Spending

if TYPE_CHECKING:
    from collections.abc import Mapping

    from mockserver.buckets import TokenBucket
    from mockserver.pc.call import Call
    from mockserver.pc.catalogue import Model


class PerMinute(NamedTuple):
    """RPM and TPM."""

    requests: int
    tokens: int


LIMITS: Mapping[str, Mapping[str, PerMinute]] = {
    "tier_5": {
        "mid": PerMinute(30_000, 150_000_000),
        "large": PerMinute(10_000, 30_000_000),
        "old": PerMinute(10_000, 1_000_000),
        "image": PerMinute(250, 8_000_000),
    },
    "tight": dict.fromkeys(("mid", "large", "old", "image"), PerMinute(2, 20_000)),
}
"""By tier and rows of 2:8.4; the large models' TPM is the mock's reading. `tight` is the mock's own."""

RAMP_FROM_TPM = 1_000_000
RAMP_GROWTH = 1.5
RAMP_WINDOW_S = 15 * 60
"""Above about 1M TPM usage may grow at most 50% in 15 minutes (2:8.4)."""

_REFUSED: Mapping[Standing, str] = {
    Standing.QUOTA: "You exceeded your current quota, please check your plan and billing details.",
    Standing.CREDIT: "Your prepaid credit balance is exhausted.",
    Standing.ORGANIZATION_SPEND: "Your organization has reached its monthly hard spend limit.",
    Standing.PROJECT_SPEND: "Your project has reached its monthly hard spend limit.",
    Standing.USAGE: "Your organization has reached the monthly usage limit assigned to it.",
    Standing.HARD_LIMIT: "Billing hard limit has been reached.",
}


@dataclass
class Ramp:
    """How many tokens an organization asked for, and when: (moment, tokens) in order."""

    asked: list[tuple[float, int]] = field(default_factory=list)

    def admits(self, tokens: int, now: float) -> bool:
        """Whether this minute may take so many more; the busiest minute of the window before is the measure."""
        self.asked = [(at, count) for at, count in self.asked if at > now - RAMP_WINDOW_S]
        before: dict[int, int] = {}
        for at, count in self.asked:
            before[int((now - at) // 60)] = before.get(int((now - at) // 60), 0) + count
        this_minute = before.pop(0, 0) + tokens
        allowed = max(RAMP_FROM_TPM, RAMP_GROWTH * max(before.values(), default=0))
        return this_minute <= allowed


def admit_request(call: Call, model: Model | None = None) -> None:
    """Count one request, whether it will succeed or not (2:7.5), or 429."""
    bucket = _bucket(call, model, "requests")
    wait = bucket.seconds_until(1, call.now)
    if wait <= 0:
        bucket.charge(1, call.now)
    _tell(call, model)
    if wait > 0:
        raise _exceeded(call, bucket, "requests per min (RPM)", wait)


def admit_tokens(call: Call, model: Model, prompt: int, max_tokens: int) -> None:
    """Count the larger of max_tokens and the estimated prompt (2:8.4), or 429; and refuse those out of money."""
    refuse_spenders(call)
    asked = max(prompt, max_tokens)
    ramp = call.session.state(Ramp)
    bucket = _bucket(call, model, "tokens")
    wait = bucket.seconds_until(asked, call.now)
    if wait > 0:
        raise _exceeded(call, bucket, "tokens per min (TPM)", wait)
    if not ramp.admits(asked, call.now):
        raise PcError(
            429,
            "Your traffic is ramping up too fast. Please slow down and increase it gradually.",
            code="slow_down",
            type="rate_limit_error",
        )
    ramp.asked.append((call.now, asked))
    bucket.charge(asked, call.now)
    if call.project.tokens_per_minute is not None:
        _project_bucket(call, call.project.tokens_per_minute).charge(asked, call.now)
    _tell(call, model)


def refuse_spenders(call: Call) -> None:
    """Raise the 429 of an owner who may spend no more; it carries no Retry-After, for waiting does not help."""
    standing = call.key.standing
    if standing is Standing.GOOD and call.session.state(Spending).exhausted:
        standing = Standing.ORGANIZATION_SPEND
    if standing is not Standing.GOOD:
        kind = {"type": "insufficient_quota"} if standing is Standing.QUOTA else {}
        raise PcError(429, _REFUSED[standing], code=standing.value, **kind)  # type: ignore[arg-type]


def _bucket(call: Call, model: Model | None, family: str) -> TokenBucket:
    row = model.limits if model else "mid"
    limits = LIMITS[call.key.organization.tier][row]
    group = row if family == "tokens" else "all"
    per_minute = limits.tokens if family == "tokens" else limits.requests
    return call.session.bucket(("pc", call.key.organization.id, group, family), per_minute)


def _project_bucket(call: Call, per_minute: int) -> TokenBucket:
    return call.session.bucket(("pc", call.project.id, "tokens"), per_minute)


def _exceeded(call: Call, bucket: TokenBucket, what: str, wait: float) -> PcError:
    message = f"Rate limit reached in organization {call.key.organization.id} on {what}: limit {bucket.per_minute}."
    headers = {"retry-after": str(max(1, math.ceil(wait)))}
    return PcError(429, message, code="rate_limit_exceeded", type="rate_limit_error", headers=headers)


def _tell(call: Call, model: Model | None) -> None:
    """Set the rate-limit headers; those of the project only where it has a limit."""
    shown = {family: _bucket(call, model, family) for family in ("requests", "tokens")}
    if call.project.tokens_per_minute is not None:
        shown["project-tokens"] = _project_bucket(call, call.project.tokens_per_minute)
    for family, bucket in shown.items():
        reset = bucket.full_at(call.now) - call.now
        call.headers[f"x-ratelimit-limit-{family}"] = str(bucket.per_minute)
        call.headers[f"x-ratelimit-remaining-{family}"] = str(bucket.remaining(call.now))
        call.headers[f"x-ratelimit-reset-{family}"] = as_duration(reset)


def as_duration(seconds: float) -> str:
    """A duration such as `1s`, `20ms` or `6m0s`."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms" if seconds > 0 else "0s"
    minutes, rest = divmod(math.ceil(seconds), 60)
    return f"{minutes}m{rest}s" if minutes else f"{rest}s"
