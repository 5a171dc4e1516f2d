"""PB's limits by tier and model, their charging, and their 429 (2:7.1, 2:8.3).

The documents give dimensions, spend limits and ceilings of batches; other numbers are ours. Words: docs/concepts.md.
"""

from __future__ import annotations

import dataclasses
import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from catalog_probe.mockserver.core import leniency
from catalog_probe.mockserver.core.errors import OURS
from catalog_probe.mockserver.core.limits import Limit, SlidingWindow, charge_all
from catalog_probe.mockserver.core.sessions import UNLIMITED
from catalog_probe.mockserver.pb.errors import BILLING_OFF, NO_FLEX_CAPACITY, NO_FREE_TIER, QUOTA, RATE_LIMIT, TOO_MANY
from catalog_probe.mockserver.pb.keys import Billing

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow, Refusal
    from catalog_probe.mockserver.core.limits import Meter
    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.keys import Project
    from catalog_probe.mockserver.pb.models import Model


PRIORITY_SHARE = 0.3  # of the standard limit, for priority inference (2:8.3)
PREVIEW_SHARE = 0.1  # of the limit, for experimental and preview models; 2:8.3 only says "stricter"
DOWNGRADED_TO = {"priority": "standard"}  # the service tier that serves a request over the limit of its own (2:8.3)
FLEX_DELAY_S = 60.0  # flex inference has a latency of 1 to 15 minutes (2:8.3)
SPEND_WINDOW_S = 600  # the spend-based limit is a rolling 10-minute window (2:8.3)


@dataclass(frozen=True)
class Limits:
    """Limits of a project for one model, per minute and per day (2:8.3)."""

    requests: int = 1_000
    input_tokens: int = 4_000_000
    images: int = 100
    requests_a_day: int = 50_000
    tokens_a_day: int = 2_000_000_000

    def share(self, part: float) -> Limits:
        """Return a part of each limit, at least 1: a third of 2 requests and 1 image is 1 and 1."""
        return Limits(*(max(1, int(limit * part)) for limit in dataclasses.astuple(self)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota(Limit):
    """A limit, and what its 429 calls it, in the mock's own names."""

    metric: str
    id: str


MINUTE_S, DAY_S = 60, 24 * 3600
NO_WINDOW = math.inf  # the quota counts what is held at once, e.g. stored bytes, or no period is documented


def _quota(
    name: str, unit: str, window_s: float, row: ErrorRow, metric: str, quota_id: str, section: str = "2:8.3"
) -> Quota:
    return Quota(name=name, unit=unit, row=row, section=section, window_s=window_s, metric=metric, id=quota_id)


def _model_quota(name: str, unit: str, window_s: float, row: ErrorRow, metric: str, quota_id: str) -> Quota:
    return _quota(name, unit, window_s, row, f"generate_content_{metric}", f"Generate{quota_id}PerProjectPerModel")


# The limits of a project for each model. The name is the field of `Limits` with the number; the unit is what counts.
REQUESTS_PER_MINUTE = _model_quota("requests", "requests", MINUTE_S, RATE_LIMIT, "requests", "RequestsPerMinute")
PER_MINUTE = (
    REQUESTS_PER_MINUTE,
    _model_quota("input_tokens", "tokens", MINUTE_S, RATE_LIMIT, "input_tokens", "InputTokensPerMinute"),
    _model_quota("images", "images", MINUTE_S, RATE_LIMIT, "images", "ImagesPerMinute"),
)
PER_DAY = (  # a day ends at midnight in Pacific time, so no bucket counts them
    _model_quota("requests_a_day", "requests", DAY_S, QUOTA, "requests", "RequestsPerDay"),
    _model_quota("tokens_a_day", "tokens", DAY_S, QUOTA, "tokens", "TokensPerDay"),
)

# Limits whose numbers are elsewhere: in a tier, or in `EXHAUSTIBLE_QUOTAS`.
SPEND = _quota("spend", "usd", SPEND_WINDOW_S, TOO_MANY, "generate_content_spend", "SpendPerTenMinutesPerProject")
FLEX_CAPACITY = _quota(  # "429 when shed"
    "flex", "requests", NO_WINDOW, TOO_MANY, "generate_content_flex_requests", "FlexCapacity"
)
FREE_TIER = _quota(  # "free tier shows `limit: 0`"
    "free_tier", "requests", DAY_S, QUOTA, "generate_content_free_tier_requests", "PerDay-FreeTier", "2:7.4"
)
SPEND_CAP = _quota("spend_cap", "usd", NO_WINDOW, TOO_MANY, "spend_cap", "SpendCapPerProject")
SEARCHES = _quota("grounding_searches", "searches", DAY_S, QUOTA, "grounding_searches", "SearchesPerDay-FreeTier")
CONCURRENT_BATCHES = _quota(
    "concurrent_batches", "batches", NO_WINDOW, QUOTA, "concurrent_batches", "ConcurrentBatches", "2:8.1"
)
ENQUEUED_TOKENS = _quota("enqueued_tokens", "tokens", NO_WINDOW, QUOTA, "enqueued_tokens", "BatchEnqueuedTokens")
FILE_STORAGE = _quota("file_storage", "bytes", NO_WINDOW, QUOTA, "file_storage_bytes", "FileStorage", "2:8.1")

TIGHT_LIMITS: Mapping[str, Limits] = {
    "mock-lite": Limits(requests=2),
    "mock-pro": Limits(input_tokens=500),
    "mock-legacy": Limits(requests_a_day=2),
    "mock-image": Limits(images=1),
    "mock-premium": Limits(tokens_a_day=40),
    "mock-flash": Limits(requests=10),
    "mock-lite-preview": Limits(requests=2),
    "mock-lite-experimental": Limits(requests=2),
}
"""Limits of a tight project: each model exceeds another dimension after a few cheap requests."""


@dataclass(frozen=True)
class Tier:
    """A usage tier: its limits, and the ceilings of enqueued batch tokens (2:8.3).

    `speech`, `embedding` and `other` are the ceilings: the most tokens that all active jobs of one such model may have.
    """

    section: str
    usd_in_ten_minutes: float | None = 10
    limits: Limits = Limits()
    by_model: Mapping[str, Limits] = field(default_factory=dict)
    speech: int = 25_000
    embedding: int = 500_000
    other: int = 10_000_000


TIERS: Mapping[str, Tier] = {
    "free": Tier("2:8.3", None, Limits(60, 250_000, 10, 1_000)),
    "tier1": Tier("2:8.3", 10),
    "tier2": Tier(
        "2:8.3",
        50,
        Limits(2_000, 8_000_000, 200, 100_000),
        speech=100_000,
        embedding=5_000_000,
        other=1_000_000_000,
    ),
    "tier3": Tier(
        "2:8.3",
        200,
        Limits(10_000, 40_000_000, 1_000, 500_000),
        speech=1_000_000,
        embedding=10_000_000,
        other=5_000_000_000,
    ),
    "thrifty": Tier(OURS, 0.001),
    "tight": Tier(OURS, by_model=TIGHT_LIMITS),
}


MAX_ACTIVE_JOBS = 100  # concurrent batch requests (2:8.1)
MAX_STORED_BYTES = 20 * 1_000**3  # 20 GB (2:8.1); the documents do not say whether of 10^9 or 2^30 bytes


@dataclass(frozen=True)
class QuotaExcess:
    """A quota that a request exceeds, its limit, and the seconds until it would not."""

    quota: Quota
    limit: float
    delay_s: float = 60


EXHAUSTIBLE_QUOTAS: Mapping[str, QuotaExcess] = {
    "spend_cap": QuotaExcess(SPEND_CAP, 250),
    "grounding_searches": QuotaExcess(SEARCHES, 500),
    "concurrent_batches": QuotaExcess(CONCURRENT_BATCHES, MAX_ACTIVE_JOBS),
    "enqueued_tokens": QuotaExcess(ENQUEUED_TOKENS, 10_000_000),
    "file_storage": QuotaExcess(FILE_STORAGE, MAX_STORED_BYTES),
}
"""Parameter of the scenario `quota_used_up` -> what its 429 states. Only money or days use up such a quota."""


PACIFIC = ZoneInfo("America/Los_Angeles")
USD_PER_TOKEN = 0.00001  # the mock's choice
STANDARD, FLEX = "standard", "flex"
CAPACITY_SHED, CAPACITY_UNAVAILABLE = "flex_capacity_shed", "flex_capacity_unavailable"  # scenarios of flex inference


@dataclass
class Usage:
    """Usage of projects that no bucket counts: by day, and in a window."""

    days: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """Project, model, service tier, name of the quota, and day -> what was used, e.g. 2 `requests_a_day`."""
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
    """Charge one request, or refuse with 429; return the service tier that serves it (2:8.3).

    Example: a `priority` request beyond the limits of priority inference is charged to the standard limits, and served
    as `standard`. Only if those are exceeded as well is it refused.
    """
    set_service_tier_header(call, service_tier)
    if service_tier == FLEX:
        raise_flex_failure(call, model)
    if call.project.billing is Billing.NONE and model.paid_only:
        raise make_quota_refusal(model.id, QuotaExcess(FREE_TIER, 0))
    overspending = find_overspending(call)
    if overspending is not None:
        raise make_quota_refusal(model.id, overspending)
    amounts = {"requests": 1, "tokens": tokens, "images": images}
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
    call.session.state(Usage).spending[call.project.id].add(tokens * USD_PER_TOKEN, call.now)


def set_service_tier_header(call: Call, service_tier: str) -> None:
    """Name the service tier in a header, which a 429 has as well (2:8.3)."""
    call.headers[call.names.header("service-tier")] = service_tier


def raise_flex_failure(call: Call, model: Model) -> None:
    """Raise the failure of flex inference that a scenario of this call asks for, if one does (2:8.3)."""
    if call.context.take(CAPACITY_UNAVAILABLE):
        raise NO_FLEX_CAPACITY()
    if call.context.take(CAPACITY_SHED):
        raise make_quota_refusal(model.id, QuotaExcess(FLEX_CAPACITY, 0, FLEX_DELAY_S))


def limits_of(call: Call, model: Model, service_tier: str) -> Limits:
    """Return the project's limits for the model in a service tier.

    Example: 1,000 requests a minute are 100 for a preview model, and 30 for priority inference with it.
    """
    tier = TIERS[call.project.tier]
    limits = tier.by_model.get(model.id, tier.limits)
    if model.preview or model.experimental:
        limits = limits.share(PREVIEW_SHARE)
    return limits.share(PRIORITY_SHARE) if service_tier == "priority" else limits


def _charge(call: Call, model: Model, service_tier: str, amounts: Mapping[str, int]) -> QuotaExcess | None:
    """Charge every limit of a day and of a minute, or none of them and return the first that is exceeded."""
    limits = limits_of(call, model, service_tier)
    # the days first: once the minute's buckets are charged, nothing may refuse the request
    days = call.session.state(Usage).days
    today = datetime.fromtimestamp(call.now, PACIFIC).date().isoformat()
    day_counts = [(quota, (call.project.id, model.id, service_tier, quota.name, today)) for quota in PER_DAY]
    factor = leniency.get_current().limits or UNLIMITED
    for quota, key in day_counts:
        limit = getattr(limits, quota.name) * factor
        if days[key] + amounts[quota.unit] > limit:
            return QuotaExcess(quota, limit, _seconds_until_midnight(call))
    excesses = charge_all(meters_of(call, model, service_tier, limits), amounts, call.now)
    if excesses:
        meter = excesses[0].meter
        return QuotaExcess(meter.limit, meter.bucket.per_minute, excesses[0].wait_s)
    for quota, key in day_counts:
        days[key] += amounts[quota.unit]
    return None


def meters_of(call: Call, model: Model, service_tier: str, limits: Limits) -> list[Meter[Quota]]:
    """Return the meters of the limits per minute; each service tier is a pool of its own (2:8.3)."""
    return call.session.open_meters(PER_MINUTE, limits, "pb", call.project.id, model.id, service_tier)


def find_overspending(call: Call) -> QuotaExcess | None:
    """Return the excess of the spend limit, if the project is beyond it (2:8.3)."""
    usd_in_ten_minutes = TIERS[call.project.tier].usd_in_ten_minutes
    if usd_in_ten_minutes is None:
        return None
    limit = usd_in_ten_minutes * (leniency.get_current().limits or UNLIMITED)
    window = call.session.state(Usage).spending[call.project.id]
    if window.total(call.now) < limit:
        return None
    oldest_start, _ = window.sums[0]  # the oldest spending leaves the window first
    return QuotaExcess(SPEND, limit, oldest_start + SPEND_WINDOW_S - call.now)


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
