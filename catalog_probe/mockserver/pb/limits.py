"""PB's limits by tier and model, and how a 429 calls each (2:7.1, 2:8.1, 2:8.3).

The documents publish the dimensions, the spend limits and the ceilings of batches; all other numbers are the mock's.
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

PRIORITY_SHARE = 0.3
"""What priority inference has of the standard limit (2:8.3)."""

STRICTER_SHARE = 0.1
"""Experimental and preview models are stricter (2:8.3); how much is not shown."""

DOWNGRADED_TO = {"priority": "standard"}
"""What serves a request that is over the limit of its service tier (2:8.3)."""

FLEX_DELAY_S = 60.0
"""Seconds; flex inference has a latency of 1 to 15 minutes (2:8.3)."""

SPEND_WINDOW_S = 600
"""The spend-based limit is a rolling 10-minute window (2:8.3)."""


@dataclass(frozen=True)
class Limits:
    """What a project may do with one model in a minute, and in a day (2:8.3)."""

    requests: int = 1_000
    input_tokens: int = 4_000_000
    images: int = 100
    requests_a_day: int = 50_000
    tokens_a_day: int = 2_000_000_000

    def share(self, part: float) -> Limits:
        """A part of each limit, at least 1."""
        return Limits(*(max(1, int(limit * part)) for limit in dataclasses.astuple(self)))


@dataclass(frozen=True)
class Quota:
    """A row: how a 429 calls a quota, in names of the mock's own, and its refusal.

    Where the quota is a limit of each model, `field` is the one of `Limits` that says how many.
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

TIGHT: Mapping[str, Limits] = {
    "mock-lite": Limits(requests=2),
    "mock-pro": Limits(input_tokens=500),
    "mock-legacy": Limits(requests_a_day=2),
    "mock-image": Limits(images=1),
    "mock-premium": Limits(tokens_a_day=40),
    "mock-flash": Limits(requests=10),
    "mock-lite-preview": Limits(requests=2),
    "mock-lite-experimental": Limits(requests=2),
}
"""Each model runs into another dimension after a few cheap requests."""


@dataclass(frozen=True)
class Tier:
    """A row: what a project of the tier may spend in ten minutes, may do, and may let wait in batches, in tokens.

    The ceilings are the lowest and highest of 2:8.3: of speech, of embedding, and of all other models.
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
    "tight": Tier(OURS, by_model=TIGHT),
}


MOST_JOBS = 100
"""Concurrent batch requests (2:8.1)."""

MOST_STORED_BYTES = 20 * 1_000**3
"""20 GB (2:8.1); whether of 10^9 or 2^30 bytes is not told."""


@dataclass(frozen=True)
class Excess:
    """A quota that a request would exceed, what it allows, and for how many seconds it would."""

    quota: Quota
    limit: float
    delay_s: float = 60


USED_UP: Mapping[str, Excess] = {
    "spend_cap": Excess(SPEND_CAP, 250),
    "grounding_searches": Excess(SEARCHES, 500),
    "concurrent_batches": Excess(CONCURRENT_BATCHES, MOST_JOBS),
    "enqueued_tokens": Excess(ENQUEUED_TOKENS, 10_000_000),
    "file_storage": Excess(FILE_STORAGE, MOST_STORED_BYTES),
}
"""Quotas that only money or days use up, as the scenario `quota_used_up` names them, with the least that 2:8.3 says."""
