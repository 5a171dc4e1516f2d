"""PC's limits by usage tier and class of models (2:8.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class Grant(NamedTuple):
    """A row of the table; None means unlimited."""

    requests_per_minute: int | None = None
    requests_per_day: int | None = None
    tokens_per_minute: int | None = None
    queued_tokens: int | None = None
    images_per_minute: int | None = None
    tokens_per_day: int | None = None


TIER_1, TIER_5, TIGHT = "tier_1", "tier_5", "tight"

_TIER_1_GRANTS: Mapping[str, Grant] = {
    "old": Grant(500, 10_000, 10_000, 100_000),
    "mid": Grant(500, 10_000, 200_000, 2_000_000),
    "large": Grant(500, None, 30_000, 90_000),
    "long": Grant(100, None, 200_000, 2_000_000),
    "image": Grant(tokens_per_minute=100_000, images_per_minute=5),
    "image_only": Grant(images_per_minute=500),
    "realtime": Grant(200, 1_000, 40_000),
    "speech": Grant(500, None, 50_000),
    "transcription": Grant(500, None, 10_000),
}
_TIER_5_GRANTS: Mapping[str, Grant] = {
    "old": Grant(10_000, None, 1_000_000, 150_000_000),
    "mid": Grant(30_000, None, 150_000_000, 15_000_000_000),
    "large": Grant(10_000, None, 30_000_000, 5_000_000_000),
    "long": Grant(1_000, None, 20_000_000, 2_000_000_000),
    "image": Grant(tokens_per_minute=8_000_000, images_per_minute=250),
    "image_only": Grant(images_per_minute=10_000),
    "realtime": Grant(20_000, None, 15_000_000),
    "speech": Grant(10_000, None, 8_000_000),
    "transcription": Grant(10_000, None, 6_000_000),
}
"""2:8.4 shows no row of Tier 5 for the long-context variants; `long` is the mock's choice."""

GRANTS: Mapping[str, Mapping[str, Grant]] = {
    TIER_1: _TIER_1_GRANTS,
    TIER_5: _TIER_5_GRANTS,
    TIGHT: {
        **dict.fromkeys(_TIER_1_GRANTS, Grant(2, None, 20_000, 20_000, 2, 1_000_000)),
        "realtime": Grant(),  # only `LIVE_SESSIONS` refuses a live session
    },
}
"""By tier and class. `tight` is the mock's own; 2:8.4 shows no row of the tiers in between."""

LIVE_SESSIONS: Mapping[str, int] = {TIGHT: 1}
"""Maximum of concurrent live sessions by tier, if any; 2:8.4 names the metric and no value."""

STORE_REQUESTS: Mapping[str, int] = {TIGHT: 2}
"""Requests a minute to one vector store by tier, where they are not the 300 of 2:8.4: the mock's own."""
