"""PC's rate-limit headers: limit, remaining and reset (2:8.4)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.buckets import TokenBucket

FAMILIES: Mapping[str, str] = {
    "requests_per_minute": "requests",
    "tokens_per_minute": "tokens",
    "project_tokens_per_minute": "project-tokens",
}
"""The family of headers of each limit, as in `x-ratelimit-limit-requests`."""


def make_headers(shown_buckets: Mapping[str, TokenBucket], now: float) -> dict[str, str]:
    """Return the headers of all families."""
    headers: dict[str, str] = {}
    for family, bucket in shown_buckets.items():
        headers |= rate_limit_headers(family, bucket, now)
    return headers


def rate_limit_headers(family: str, bucket: TokenBucket, now: float) -> dict[str, str]:
    """Return the headers of one family: requests, tokens or project-tokens."""
    return {
        f"x-ratelimit-limit-{family}": f"{bucket.capacity:.0f}",
        f"x-ratelimit-remaining-{family}": str(bucket.remaining(now)),
        f"x-ratelimit-reset-{family}": format_duration(bucket.full_at(now) - now),
    }


def format_duration(seconds: float) -> str:
    """Format a duration as `1s`, `20ms` or `6m0s`."""
    if seconds < 1:
        return f"{math.ceil(seconds * 1000)}ms" if seconds > 0 else "0s"
    minutes, remaining_s = divmod(math.ceil(seconds), 60)
    return f"{minutes}m{remaining_s}s" if minutes else f"{remaining_s}s"


def make_retry_after(seconds: float) -> dict[str, str]:
    """Return the Retry-After header, in whole seconds (2:8.4)."""
    return {"retry-after": str(math.ceil(seconds))}
