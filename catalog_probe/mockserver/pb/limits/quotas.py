"""PB's quotas: what a project may do in a minute, a day and ten minutes, and the 429 that says no (2:7.1, 2:8.3)."""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.core.sessions import UNLIMITED
from catalog_probe.mockserver.pb.auth.keys import Billing
from catalog_probe.mockserver.pb.errors import QUOTA, RATE_LIMIT, TOO_MANY, UNAVAILABLE, Kind, PbError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.models import Model

PACIFIC = ZoneInfo("America/Los_Angeles")
SPEND_WINDOW_S = 600
PRICE_PER_TOKEN = 0.00001
PRIORITY_SHARE = 0.3
FLEX_DELAY_S = 60.0
DOWNGRADED_TO = {"priority": "standard"}
"""What serves a request that is over the limit of its service tier (2:8.3)."""


@dataclass(frozen=True)
class Limits:
    """Requests, input tokens and images a minute, and requests and tokens a day, of one model."""

    requests: int = 1_000
    tokens: int = 4_000_000
    per_day: int = 50_000
    images: int = 100
    tokens_per_day: int = 2_000_000_000

    def share(self, part: float) -> Limits:
        """A part of each limit, at least 1."""
        scaled = (max(1, int(limit * part)) for limit in dataclasses.astuple(self))
        return Limits(*scaled)


MINUTE_LIMITS: dict[str, Limits] = {
    "free": Limits(60, 250_000, 1_000, 10),
    "tier1": Limits(),
    "tier2": Limits(2_000, 8_000_000, 100_000, 200),
    "tier3": Limits(10_000, 40_000_000, 500_000, 1_000),
    "thrifty": Limits(),
    "tight": Limits(),
}
"""By tier. The documents publish none of these numbers (2:8.3); only the dimensions are theirs."""

TIGHT: dict[str, Limits] = {
    "mock-lite": Limits(requests=2),
    "mock-pro": Limits(tokens=500),
    "mock-legacy": Limits(per_day=2),
    "mock-image": Limits(images=1),
    "mock-premium": Limits(tokens_per_day=40),
    "mock-flash": Limits(requests=10),
    "mock-lite-preview": Limits(requests=2),
    "mock-lite-experimental": Limits(requests=2),
}
"""The mock's own tier `tight`: each model runs into another dimension after a few cheap requests."""

SPEND_LIMITS: dict[str, float] = {"tier1": 10, "tier2": 50, "tier3": 200, "tight": 10, "thrifty": 0.001}
"""USD in a rolling window of ten minutes (2:8.3); `thrifty` is the mock's own."""

STRICTER_SHARE = 0.1
"""Experimental and preview models are stricter (2:8.3); how much is not shown."""


@dataclass(frozen=True)
class Excess:
    """A limit that a request would exceed, and for how long it would."""

    kind: Kind
    metric: str
    quota_id: str
    limit: float
    delay_s: float


USED_UP: dict[str, Excess] = {
    "spend_cap": Excess(TOO_MANY, "spend_cap", "SpendCapPerProject", 250, 60),
    "grounding_searches": Excess(QUOTA, "grounding searches", "SearchesPerDay-FreeTier", 500, 60),
    "concurrent_batches": Excess(QUOTA, "concurrent batch requests", "ConcurrentBatches", 100, 60),
    "enqueued_tokens": Excess(QUOTA, "enqueued batch tokens", "BatchEnqueuedTokens", 10_000_000, 60),
    "file_storage": Excess(QUOTA, "file storage bytes", "FileStorage", 20_000_000_000, 60),
}
"""Quotas that only money or days use up (2:8.1, 2:8.3), as the scenario `quota_used_up` names them."""


@dataclass
class _Used:
    """What the session's projects used, where a bucket does not fit: whole days, and a rolling window."""

    days: Counter[tuple[str, str, str, str, str]] = field(default_factory=Counter)
    spent: dict[str, Window] = field(default_factory=dict)


@dataclass
class Window:
    """What was spent in the last ten minutes: a sum for each second in which anything was, however many requests."""

    seconds: deque[tuple[float, float]] = field(default_factory=deque)
    total: float = 0.0

    def add(self, amount: float, now: float) -> None:
        """Count an amount; a second begins with its first."""
        if self.seconds and now - 1 < self.seconds[-1][0]:
            began, before = self.seconds.pop()
            self.seconds.append((began, before + amount))
        else:
            self.seconds.append((now, amount))
        self.total += amount

    def pass_to(self, now: float) -> None:
        """Forget what is ten minutes past."""
        while self.seconds and self.seconds[0][0] <= now - SPEND_WINDOW_S:
            self.total -= self.seconds.popleft()[1]
        if not self.seconds:
            self.total = 0.0


def admit(call: Call, model: Model, tokens: int, images: int, service_tier: str) -> str:
    """Count one request against the project, or 429. The service tier that serves it goes into the header (2:8.3)."""
    tell_service_tier(call, service_tier)
    if service_tier == "flex":
        flex(call, model)
    if call.project.billing is Billing.NONE and model.paid_only:
        raise quota_refusal(model, Excess(QUOTA, "generate_content_free_tier_requests", "PerDay-FreeTier", 0, 60))
    excess = overspent(call) if leniency.current().limits is not None else None
    if excess is None:
        excess = _charge(call, model, tokens, images, service_tier)
        if excess is not None and service_tier in DOWNGRADED_TO:
            service_tier = DOWNGRADED_TO[service_tier]
            tell_service_tier(call, service_tier)
            excess = _charge(call, model, tokens, images, service_tier)
    if excess is not None:
        raise quota_refusal(model, excess)
    return service_tier


def settle(call: Call, tokens: int) -> None:
    """Charge what a generation cost, known only at its end."""
    call.session.state(_Used).spent.setdefault(call.project.id, Window()).add(tokens * PRICE_PER_TOKEN, call.now)


def tell_service_tier(call: Call, service_tier: str) -> None:
    call.headers[call.names.header("service-tier")] = service_tier


def flex(call: Call, model: Model) -> None:
    scenario = call.context.take("flex_capacity_shed", "flex_capacity_unavailable")
    if scenario is None:
        return
    if scenario.name == "flex_capacity_unavailable":
        raise PbError(UNAVAILABLE, "Flex capacity is currently unavailable. Please try again later.")
    raise quota_refusal(model, Excess(TOO_MANY, "generate_content_flex_requests", "FlexCapacity", 0, FLEX_DELAY_S))


def limits_of(call: Call, model: Model, pool: str) -> Limits:
    limits = MINUTE_LIMITS[call.project.tier]
    if call.project.tier == "tight":
        limits = TIGHT.get(model.id, limits)
    if model.preview or model.experimental:
        limits = limits.share(STRICTER_SHARE)
    return limits.share(PRIORITY_SHARE) if pool == "priority" else limits


def _charge(call: Call, model: Model, tokens: int, images: int, pool: str) -> Excess | None:
    """Charge every dimension, or none and say which has too little left."""
    limits = limits_of(call, model, pool)
    buckets = {
        "requests": (bucket_of(call, model, pool, "requests", limits.requests), 1),
        "input_tokens": (bucket_of(call, model, pool, "input_tokens", limits.tokens), tokens),
        "images": (bucket_of(call, model, pool, "images", limits.images), images),
    }
    for name, (bucket, amount) in buckets.items():
        delay = bucket.seconds_until(amount, call.now) if amount else 0
        if delay > 0:
            quota_id = f"Generate{name.title().replace('_', '')}PerMinutePerProjectPerModel"
            return Excess(RATE_LIMIT, f"generate_content_{name}", quota_id, bucket.per_minute, delay)
    excess = _charge_day(
        call, model, pool, {"requests": (1, limits.per_day), "tokens": (tokens, limits.tokens_per_day)}
    )
    if excess is not None:
        return excess
    for bucket, amount in buckets.values():
        bucket.charge(amount, call.now)
    return None


def _charge_day(call: Call, model: Model, pool: str, taken: Mapping[str, tuple[int, int]]) -> Excess | None:
    """Count (amount, limit) of each dimension for the day, or nothing; days begin at midnight Pacific time (2:8.3)."""
    day = datetime.fromtimestamp(call.now, PACIFIC).date()
    days = call.session.state(_Used).days
    today = {name: (call.project.id, model.id, pool, name, day.isoformat()) for name in taken}
    times = leniency.current().limits or UNLIMITED
    for name, (amount, limit) in taken.items():
        if days[today[name]] + amount > limit * times:
            quota_id = f"Generate{name.title()}PerDayPerProjectPerModel"
            return Excess(QUOTA, f"generate_content_{name}", quota_id, limit, _until_midnight(call))
    for name, (amount, _) in taken.items():
        days[today[name]] += amount
    return None


def bucket_of(call: Call, model: Model, pool: str, dimension: str, per_minute: int) -> TokenBucket:
    return call.session.bucket(("pb", call.project.id, model.id, pool, dimension), per_minute)


def overspent(call: Call) -> Excess | None:
    """The rolling ten-minute window of spending (2:8.3)."""
    limit = SPEND_LIMITS.get(call.project.tier)
    window = call.session.state(_Used).spent.get(call.project.id, Window())
    window.pass_to(call.now)
    if limit is None or window.total < limit:
        return None
    delay = window.seconds[0][0] + SPEND_WINDOW_S - call.now if window.seconds else SPEND_WINDOW_S
    return Excess(TOO_MANY, "generate_content_spend", "SpendPerTenMinutesPerProject", limit, delay)


def _until_midnight(call: Call) -> float:
    """Seconds until the next midnight Pacific time (2:8.3)."""
    tomorrow = datetime.fromtimestamp(call.now, PACIFIC).date() + timedelta(days=1)
    midnight = datetime.combine(tomorrow, time(), PACIFIC)
    return (midnight - datetime.fromtimestamp(call.now, UTC)).total_seconds()


def used_up(model: str, quota: str) -> PbError:
    """The 429 of a quota that only money or days use up."""
    return _refusal(model, USED_UP[quota])


def used_up_by_others(model: str, delay_s: float) -> PbError:
    """The 429 of a caller who finds the requests of the project used up."""
    quota_id = "GenerateRequestsPerMinutePerProjectPerModel"
    return _refusal(model, Excess(RATE_LIMIT, "generate_content_requests", quota_id, Limits().requests, delay_s))


def quota_refusal(model: Model, excess: Excess) -> PbError:
    """The 429 of a limit that a model's requests exceed."""
    return _refusal(model.id, excess)


def _refusal(model: str, excess: Excess) -> PbError:
    """A help entry and a quota failure in the details, the delay in the message alone (2:7.1)."""
    message = (
        "You exceeded your current quota, please check your plan and billing details.\n"
        f"* Quota exceeded for metric: {excess.metric}, limit: {excess.limit:g}, model: {model}\n"
        f"Please retry in {excess.delay_s:.3f}s."
    )
    help_entry = {
        "@type": "rpc.Help",
        "links": [{"description": "Learn more about quotas", "url": "https://docs.example/rate-limits"}],
    }
    violation = {
        "quotaMetric": excess.metric,
        "quotaId": excess.quota_id,
        "quotaDimensions": {"model": model, "location": "global"},
    }
    return PbError(excess.kind, message, (help_entry, {"@type": "rpc.QuotaFailure", "violations": [violation]}))
