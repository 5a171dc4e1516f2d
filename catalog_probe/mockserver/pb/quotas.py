"""Charging of PB's limits, and the 429 of an exceeded one (2:7.1, 2:8.3)."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.core.buckets import Charge, SlidingWindow, take_all
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
    PREVIEW_SHARE,
    PRIORITY_SHARE,
    SPEND,
    SPEND_WINDOW_S,
    TIERS,
    Limits,
    Quota,
    QuotaExcess,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.buckets import TokenBucket
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.keys import Project
    from catalog_probe.mockserver.pb.models import Model

PACIFIC = ZoneInfo("America/Los_Angeles")
USD_PER_TOKEN = 0.00001  # the mock's choice
STANDARD, FLEX = "standard", "flex"
CAPACITY_SHED, CAPACITY_UNAVAILABLE = "flex_capacity_shed", "flex_capacity_unavailable"  # scenarios of flex inference


@dataclass
class Usage:
    """Usage of projects that no bucket counts: by day, and in a window."""

    days: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """By project, model, service tier, dimension and day."""
    spending: defaultdict[str, SlidingWindow] = field(
        default_factory=lambda: defaultdict(lambda: SlidingWindow(SPEND_WINDOW_S, period_s=1))
    )


def check_billing(project: Project, model: Model, service_tier: str) -> None:
    """Refuse what billing and region forbid (2:7.4, 400 FAILED_PRECONDITION)."""
    if project.billing is Billing.NONE and not project.free_tier_region:
        raise NO_FREE_TIER()
    if project.billing is Billing.OFF and (model.paid_only or service_tier != STANDARD):
        raise BILLING_OFF()


def admit_generation(call: Call, model: Model, tokens: int, images: int, service_tier: str) -> str:
    """Charge one request, or refuse with 429; return its service tier (2:8.3)."""
    set_service_tier_header(call, service_tier)
    if service_tier == FLEX:
        refuse_flex(call, model)
    if call.project.billing is Billing.NONE and model.paid_only:
        raise make_quota_refusal(model.id, QuotaExcess(FREE_TIER, 0))
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
        set_service_tier_header(call, service_tier)
        excess = _charge(call, model, service_tier, amounts)
    if excess is not None:
        raise make_quota_refusal(model.id, excess)
    return service_tier


def settle_generation(call: Call, tokens: int) -> None:
    """Charge the cost of a generation, which is known only at its end."""
    spending = call.session.state(Usage).spending
    spending.setdefault(call.project.id, SlidingWindow(SPEND_WINDOW_S, period_s=1)).add(
        tokens * USD_PER_TOKEN, call.now
    )


def set_service_tier_header(call: Call, service_tier: str) -> None:
    """Name the service tier in a header, which a 429 has as well (2:8.3)."""
    call.headers[call.names.header("service-tier")] = service_tier


def refuse_flex(call: Call, model: Model) -> None:
    """Raise the failure of a scenario of flex inference (2:8.3)."""
    if call.context.take(CAPACITY_UNAVAILABLE):
        raise NO_FLEX_CAPACITY()
    if call.context.take(CAPACITY_SHED):
        raise make_quota_refusal(model.id, QuotaExcess(FLEX_CAPACITY, 0, FLEX_DELAY_S))


def limits_of(call: Call, model: Model, pool: str) -> Limits:
    """Return the project's limits for the model in a service tier."""
    tier = TIERS[call.project.tier]
    limits = tier.by_model.get(model.id, tier.limits)
    if model.preview or model.experimental:
        limits = limits.share(PREVIEW_SHARE)
    return limits.share(PRIORITY_SHARE) if pool == "priority" else limits


def _charge(call: Call, model: Model, pool: str, amounts: Mapping[str, int]) -> QuotaExcess | None:
    """Charge every dimension, or none and return the one that is exceeded."""
    limits = limits_of(call, model, pool)
    days = call.session.state(Usage).days
    today = datetime.fromtimestamp(call.now, PACIFIC).date().isoformat()
    day_counts = [(quota, (call.project.id, model.id, pool, quota.field, today)) for quota in PER_DAY]
    times = leniency.get_current().limits or UNLIMITED
    for quota, key in day_counts:
        limit = getattr(limits, quota.field)
        if days[key] + amounts[quota.field] > limit * times:
            return QuotaExcess(quota, limit, _seconds_until_midnight(call))
    blocked_charges = take_all(
        (Charge(quota, bucket_of(call, model, pool, quota, limits), amounts[quota.field]) for quota in PER_MINUTE),
        call.now,
    )
    if blocked_charges:
        charge = blocked_charges[0].charge
        return QuotaExcess(charge.limit, charge.bucket.per_minute, blocked_charges[0].wait_s)
    for quota, key in day_counts:
        days[key] += amounts[quota.field]
    return None


def bucket_of(call: Call, model: Model, pool: str, quota: Quota, limits: Limits) -> TokenBucket:
    """Return the bucket of a limit per minute; each service tier has its own (2:8.3)."""
    return call.session.bucket(("pb", call.project.id, model.id, pool, quota.field), getattr(limits, quota.field))


def find_overspending(call: Call) -> QuotaExcess | None:
    """Return the excess of the spend limit, if the project is beyond it (2:8.3)."""
    limit = TIERS[call.project.tier].usd_in_ten_minutes
    window = call.session.state(Usage).spending[call.project.id]
    spent = window.total(call.now)
    if limit is None or leniency.get_current().limits is None or spent < limit:
        return None
    return QuotaExcess(SPEND, limit, window.sums[0][0] + SPEND_WINDOW_S - call.now)


def _seconds_until_midnight(call: Call) -> float:
    """Return the time until daily quotas reset, at midnight Pacific time (2:8.3)."""
    tomorrow = datetime.fromtimestamp(call.now, PACIFIC).date() + timedelta(days=1)
    midnight = datetime.combine(tomorrow, time(), PACIFIC)
    return (midnight - datetime.fromtimestamp(call.now, UTC)).total_seconds()


def make_quota_refusal(model: str, excess: QuotaExcess) -> Refusal:
    """Make the 429 of a limit; only the message has the delay (2:7.1)."""
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
