"""PB's limits by tier and model, and their quotas (2:7.1, 2:8.1, 2:8.3).

The documents give the dimensions, the spend limits and the ceilings of batches; other numbers are the mock's choice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.sections import OURS
from catalog_probe.mockserver.pb.errors import QUOTA, RATE_LIMIT, TOO_MANY

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import ErrorRow

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
        """Return a part of each limit, at least 1."""
        return Limits(*(max(1, int(limit * part)) for limit in dataclasses.astuple(self)))


@dataclass(frozen=True)
class Quota:
    """A quota: metric and id in a 429, in the mock's own names, and the error.

    `field` is the field of `Limits` with its number, for a limit of each model.
    """

    metric: str
    id: str
    row: ErrorRow
    section: str
    field: str = ""


PREFIX = "generate_content_"
REQUESTS_PER_MINUTE = Quota(
    PREFIX + "requests", "GenerateRequestsPerMinutePerProjectPerModel", RATE_LIMIT, "2:8.3", "requests"
)
TOKENS_PER_MINUTE = Quota(
    PREFIX + "input_tokens", "GenerateInputTokensPerMinutePerProjectPerModel", RATE_LIMIT, "2:8.3", "input_tokens"
)
IMAGES_PER_MINUTE = Quota(PREFIX + "images", "GenerateImagesPerMinutePerProjectPerModel", RATE_LIMIT, "2:8.3", "images")
PER_MINUTE = (REQUESTS_PER_MINUTE, TOKENS_PER_MINUTE, IMAGES_PER_MINUTE)

PER_DAY = (
    Quota(PREFIX + "requests", "GenerateRequestsPerDayPerProjectPerModel", QUOTA, "2:8.3", "requests_a_day"),
    Quota(PREFIX + "tokens", "GenerateTokensPerDayPerProjectPerModel", QUOTA, "2:8.3", "tokens_a_day"),
)

SPEND = Quota(PREFIX + "spend", "SpendPerTenMinutesPerProject", TOO_MANY, "2:8.3")
FLEX_CAPACITY = Quota(PREFIX + "flex_requests", "FlexCapacity", TOO_MANY, "2:8.3")  # "429 when shed"
FREE_TIER = Quota(PREFIX + "free_tier_requests", "PerDay-FreeTier", QUOTA, "2:7.4")  # "free tier shows `limit: 0`"
SPEND_CAP = Quota("spend_cap", "SpendCapPerProject", TOO_MANY, "2:8.3")
SEARCHES = Quota("grounding_searches", "SearchesPerDay-FreeTier", QUOTA, "2:8.3")
CONCURRENT_BATCHES = Quota("concurrent_batches", "ConcurrentBatches", QUOTA, "2:8.1")
ENQUEUED_TOKENS = Quota("enqueued_tokens", "BatchEnqueuedTokens", QUOTA, "2:8.3")
FILE_STORAGE = Quota("file_storage_bytes", "FileStorage", QUOTA, "2:8.1")

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
    """A usage tier: its limits, and its ceilings of enqueued batch tokens.

    The ceilings are those of 2:8.3 for speech, embedding and all other models.
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
"""Quotas of the scenario `quota_used_up`, with the lowest limit of 2:8.3: only money or days exhaust them."""
