"""PA's limits as 2:8.2 lists them, by tier and model class or group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from catalog_probe.mockserver.pa.auth.keys import THRIFTY_RATE_WORKSPACE


class PerMinute(NamedTuple):
    """RPM, ITPM and OTPM: requests, uncached input tokens and output tokens a minute."""

    requests: int
    input_tokens: int
    output_tokens: int


# two combined families on the same terms; the generations of a family share its bucket
NEWEST_LARGE = ("newest_large", "second_newest_large")
FIVE_OTHERS = ("own_large", "previous_large", "own_mid", "previous_mid", "small")
RETIRED = "retired_small"


def _by_class(newest_large: PerMinute, five_others: PerMinute, retired: PerMinute) -> dict[str, PerMinute]:
    return {**dict.fromkeys(NEWEST_LARGE, newest_large), **dict.fromkeys(FIVE_OTHERS, five_others), RETIRED: retired}


# "Messages API values as RPM / ITPM / OTPM"
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
    "tight": _by_class(*(PerMinute(2, 20_000, 4_000),) * 3),
}

# "Batches …: Start RPM 1000 …", "Token counting RPM: Start 5000 …", "Files API: about 500 RPM per organization",
# "Managed agents per organization: create endpoints 300 RPM; read endpoints 1200 RPM"; models have none
REQUEST_LIMITS: Mapping[str, dict[str, int]] = {
    "start": {"count_tokens": 5_000, "batches": 1_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "build": {"count_tokens": 10_000, "batches": 2_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "scale": {"count_tokens": 20_000, "batches": 4_000, "files": 500, "agents_create": 300, "agents_read": 1_200},
    "tight": {"count_tokens": 2, "batches": 2, "files": 2, "agents_create": 2, "agents_read": 2},  # ours
}

# "Batches …: Start … queue 200000 requests; Build … 300000; Scale … 500000"
BATCH_QUEUES: Mapping[str, int] = {"start": 200_000, "build": 300_000, "scale": 500_000}

# "per-workspace … rate limits can be set below the organization limit (not on the default workspace)"
WORKSPACES: Mapping[str, int] = {THRIFTY_RATE_WORKSPACE: 1}  # requests a minute of messages

# "Fast mode has dedicated limits"; their numbers are not shown
FAST = PerMinute(0, 50_000, 10_000)
TIGHT_FAST = PerMinute(0, 500, 100)

# "Burn-down rates: cache read 0.1, 5-minute cache write 1.25, 1-hour cache write 2.0, US geo on newer models 1.1, other
# tokens 1.0"
CACHE_READ = 0.1
CACHE_WRITE_5M = 1.25
CACHE_WRITE_1H = 2.0
US_GEO = 1.1
OTHER = 1.0
