"""Counts what PB's projects use, and refuses what is beyond their limits (2:7.1, 2:8.3)."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.core.limits import Charge, take_all
from catalog_probe.mockserver.core.sessions import UNLIMITED
from catalog_probe.mockserver.pb.errors import BILLING_OFF, NO_FLEX_CAPACITY, NO_FREE_TIER
from catalog_probe.mockserver.pb.keys import Billing
from catalog_probe.mockserver.pb.limits import (
    DOWNGRADED_TO,
    FLEX_CAPACITY,
    FLEX_DELAY_S,
    FREE_TIER,
    PER_DAY,
    PER_MINUTE,
    PRIORITY_SHARE,
    SPEND,
    SPEND_WINDOW_S,
    STRICTER_SHARE,
    TIERS,
    Excess,
    Limits,
    Quota,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.keys import Project
    from catalog_probe.mockserver.pb.models import Model

PACIFIC = ZoneInfo("America/Los_Angeles")
USD_PER_TOKEN = 0.00001
STANDARD, FLEX = "standard", "flex"
CAPACITY_SHED, CAPACITY_UNAVAILABLE = "flex_capacity_shed", "flex_capacity_unavailable"
"""The scenarios of flex inference."""


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


@dataclass
class Usage:
    """What the session's projects used, where a bucket does not fit: whole days, and a rolling window."""

    days: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """By project, model, pool, dimension and day."""
    spent: dict[str, Window] = field(default_factory=dict)


def refuse_unpaid(project: Project, model: Model, service_tier: str) -> None:
    """Raise what billing and region forbid whatever the quota is (2:7.4, 400 FAILED_PRECONDITION)."""
    if project.billing is Billing.NONE and not project.free_tier_region:
        raise NO_FREE_TIER()
    if project.billing is Billing.OFF and (model.paid_only or service_tier != STANDARD):
        raise BILLING_OFF()


def admit(call: Call, model: Model, tokens: int, images: int, service_tier: str) -> str:
    """Count one request against the project, or 429. The service tier that serves it goes into the header (2:8.3)."""
    tell_service_tier(call, service_tier)
    if service_tier == FLEX:
        refuse_flex(call, model)
    if call.project.billing is Billing.NONE and model.paid_only:
        raise make_quota_refusal(model.id, Excess(FREE_TIER, 0))
    amounts = {
        "requests": 1,
        "input_tokens": tokens,
        "images": images,
        "requests_a_day": 1,
        "tokens_a_day": tokens,
    }
    overspending = find_overspending(call)
    if overspending is not None:
        raise make_quota_refusal(model.id, overspending)
    excess = _charge(call, model, service_tier, amounts)
    if excess is not None and service_tier in DOWNGRADED_TO:
        service_tier = DOWNGRADED_TO[service_tier]
        tell_service_tier(call, service_tier)
        excess = _charge(call, model, service_tier, amounts)
    if excess is not None:
        raise make_quota_refusal(model.id, excess)
    return service_tier


def settle(call: Call, tokens: int) -> None:
    """Charge what a generation cost, known only at its end."""
    spent = call.session.state(Usage).spent
    spent.setdefault(call.project.id, Window()).add(tokens * USD_PER_TOKEN, call.now)


def tell_service_tier(call: Call, service_tier: str) -> None:
    """Let the answer say what serves the request; 429 says it too (2:8.3)."""
    call.headers[call.names.header("service-tier")] = service_tier


def refuse_flex(call: Call, model: Model) -> None:
    """Raise what flex inference, which is best-effort, suffers (2:8.3)."""
    if call.context.take(CAPACITY_UNAVAILABLE):
        raise NO_FLEX_CAPACITY()
    if call.context.take(CAPACITY_SHED):
        raise make_quota_refusal(model.id, Excess(FLEX_CAPACITY, 0, FLEX_DELAY_S))


def limits_of(call: Call, model: Model, pool: str) -> Limits:
    """What the project may do with the model in one of its service tiers."""
    tier = TIERS[call.project.tier]
    limits = tier.by_model.get(model.id, tier.limits)
    if model.preview or model.experimental:
        limits = limits.share(STRICTER_SHARE)
    return limits.share(PRIORITY_SHARE) if pool == "priority" else limits


def _charge(call: Call, model: Model, pool: str, amounts: Mapping[str, int]) -> Excess | None:
    """Charge every dimension, or none and say which has too little left."""
    limits = limits_of(call, model, pool)
    days = call.session.state(Usage).days
    today = datetime.fromtimestamp(call.now, PACIFIC).date().isoformat()
    counted = [(quota, (call.project.id, model.id, pool, quota.field, today)) for quota in PER_DAY]
    times = leniency.get_current().limits or UNLIMITED
    for quota, key in counted:
        limit = getattr(limits, quota.field)
        if days[key] + amounts[quota.field] > limit * times:
            return Excess(quota, limit, _seconds_until_midnight(call))
    beyond = take_all(
        (Charge(quota, bucket_of(call, model, pool, quota, limits), amounts[quota.field]) for quota in PER_MINUTE),
        call.now,
    )
    if beyond:
        return Excess(beyond[0].charge.limit, beyond[0].charge.bucket.per_minute, beyond[0].wait_s)
    for quota, key in counted:
        days[key] += amounts[quota.field]
    return None


def bucket_of(call: Call, model: Model, pool: str, quota: Quota, limits: Limits) -> TokenBucket:
    """The budget of a minute; each service tier has its own (2:8.3)."""
    return call.session.bucket(("pb", call.project.id, model.id, pool, quota.field), getattr(limits, quota.field))


def find_overspending(call: Call) -> Excess | None:
    """The rolling ten-minute window of spending, where the project is beyond it (2:8.3)."""
    limit = TIERS[call.project.tier].usd_in_ten_minutes
    window = call.session.state(Usage).spent.get(call.project.id, Window())
    window.pass_to(call.now)
    if limit is None or leniency.get_current().limits is None or window.total < limit:
        return None
    return Excess(SPEND, limit, window.seconds[0][0] + SPEND_WINDOW_S - call.now)


def _seconds_until_midnight(call: Call) -> float:
    """Daily quotas reset at midnight Pacific time (2:8.3)."""
    tomorrow = datetime.fromtimestamp(call.now, PACIFIC).date() + timedelta(days=1)
    midnight = datetime.combine(tomorrow, time(), PACIFIC)
    return (midnight - datetime.fromtimestamp(call.now, UTC)).total_seconds()


def make_quota_refusal(model: str, excess: Excess) -> Refusal:
    """The 429 of a limit: a help entry and a quota failure in the details, the delay in the message alone (2:7.1)."""
    help_entry = {
        "@type": "rpc.Help",
        "links": [{"description": "Learn more about quotas", "url": "https://docs.example/rate-limits"}],
    }
    violation: dict[str, Any] = {
        "quotaMetric": excess.quota.metric,
        "quotaId": excess.quota.id,
        "quotaDimensions": {"model": model, "location": "global"},
    }
    details = [help_entry, {"@type": "rpc.QuotaFailure", "violations": [violation]}]
    return excess.quota.row(
        extra={"details": details},
        metric=excess.quota.metric,
        limit=excess.limit,
        delay_s=excess.delay_s,
        model=model,
    )
