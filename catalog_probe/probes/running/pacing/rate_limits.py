"""How a client keeps to the rate limits that a provider documents, and to what its answers tell of them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import formats
from catalog_probe.catalog.reading.rate_limits import RateLimits, rate_limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Record, Response
    from catalog_probe.catalog.reading.rate_limits import EndpointGroup

_DELAY = re.compile(r"retry in ([0-9]{1,6}(?:\.[0-9]{1,9})?) ?s", re.IGNORECASE)
"""The delay in a message: `Please retry in 12.3s.` (2:7.1)."""

MAX_TEXT = 4_000

MOST_DIGITS = 18
"""Of a number that is believed."""


@dataclass(frozen=True, slots=True)
class Told:
    """What one answer says of one limit: how much it allows a minute, how much is left, when all of it is back."""

    counts: str
    """`requests` or `tokens`."""
    name: str
    """The header that tells the limit."""
    limit: int | None
    remaining: int | None
    reset_s: float
    """Seconds; 0 where it does not say."""


@dataclass(frozen=True, slots=True)
class RateLimitPolicy:
    """How to keep to the limits of one provider."""

    limits: RateLimits = field(default_factory=RateLimits)

    @classmethod
    def of(cls, records: Iterable[Record]) -> RateLimitPolicy:
        """The policy that the rate-limit record among these asks for; without one, none."""
        return next((cls(rate_limits(each)) for each in records if each.kind == "rate_limits"), cls())

    def group_of(self, method: str, path: str) -> EndpointGroup | None:
        """The endpoints whose limit such a request counts towards."""
        return self.limits.group_of(method, path)

    def asked_s(self, response: Response) -> float | None:
        """How long a refusal asks to wait: in Retry-After, or in its message where the provider puts it there."""
        asked = retry_after_s(response.headers, _answered_at(response.headers))
        if asked is not None or not self.limits.delay_in_message:
            return asked
        found = _DELAY.search(json.dumps(response.body, default=str)[:MAX_TEXT])
        return float(found[1]) if found else None

    def told(self, headers: Mapping[str, str]) -> Iterator[Told]:
        """What an answer says of this account's limits; of a limit that it does not mention, nothing."""
        for gauge in self.limits.gauges:
            told = Told(
                gauge.counts,
                gauge.limit,
                _whole(headers.get(gauge.limit)),
                _whole(headers.get(gauge.remaining)),
                _until(headers.get(gauge.reset, ""), _answered_at(headers)),
            )
            if told.limit is not None or told.remaining is not None:
                yield told


def _whole(value: str | None) -> int | None:
    """The number that a header holds, or None where it is absent, junk or more digits than any limit has."""
    return formats.integer(value) if value is not None and len(value) <= MOST_DIGITS else None


def retry_after_s(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """What `retry-after` asks for, in seconds, whether it gives seconds or a date; None where it is absent or junk."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    until = formats.http_date(value)
    return max(0.0, (until - (now or datetime.now(UTC))).total_seconds()) if until is not None else None


def _until(reset: str, now: datetime) -> float:
    """Seconds until a reset, given as an instant or as a duration; none for junk."""
    duration, instant = formats.duration_s(reset), formats.instant(reset)
    if duration is not None:
        return duration
    return max(0.0, (instant - now).total_seconds()) if instant is not None else 0.0


def _answered_at(headers: Mapping[str, str]) -> datetime:
    """When the provider answered, by its own clock where it tells: dates beside it are by that clock too."""
    return formats.http_date(headers.get("date", "")) or datetime.now(UTC)
