"""Limits on what is sent: documented, stated by answers, and the budget."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Reason
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading import response_headers
from catalog_probe.catalog.reading.rate_limits import RateLimits, rate_limits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from catalog_probe.catalog.model import Record, Response
    from catalog_probe.catalog.reading.rate_limits import EndpointGroup
    from catalog_probe.probes.targets.target import Provider


# The delay in a message: `Please retry in 12.3s.` (2:7.1).
_DELAY = re.compile(r"retry in ([0-9]{1,6}(?:\.[0-9]{1,9})?) ?s", re.IGNORECASE)

# Characters of a body that are searched for a delay.
MAX_TEXT = 4_000

# Digits of a number in a header: no limit has more, and a hostile header could.
MAX_DIGITS = 18


@dataclass(frozen=True, slots=True)
class LimitStatus:
    """What one answer states of one limit."""

    counts: str
    """`requests` or `tokens`."""
    name: str
    """The header that states the limit."""
    limit: int | None
    remaining: int | None
    reset_s: float
    """Seconds; 0 where the answer states none."""


@dataclass(frozen=True, slots=True)
class RateLimitPolicy:
    """How to keep to the limits of one provider."""

    limits: RateLimits = field(default_factory=RateLimits)

    @classmethod
    def from_records(cls, records: Iterable[Record]) -> RateLimitPolicy:
        """Return the policy of the rate-limit record among these, if any."""
        return next((cls(rate_limits(record)) for record in records if record.kind == "rate_limits"), cls())

    def find_group(self, method: str, path: str) -> EndpointGroup | None:
        """Return the endpoints whose limit such a request counts towards."""
        return self.limits.group_of(method, path)

    def retry_delay_s(self, response: Response) -> float | None:
        """Return how long a refusal asks to wait, by `retry-after` or its message; None if neither says so.

        Example: `retry-after: 30` -> 30.0; of PB also the message `Please retry in 12.3s.` -> 12.3.
        """
        delay_s = parse_retry_after(response.headers, _find_answer_time(response.headers))
        if delay_s is not None or not self.limits.delay_in_message:
            return delay_s
        match = _DELAY.search(json.dumps(response.body, default=str)[:MAX_TEXT])
        return float(match[1]) if match else None

    def read_limits(self, headers: Mapping[str, str]) -> Iterator[LimitStatus]:
        """Yield what an answer states of this account's limits.

        Example: the headers `pa-ratelimit-requests-limit: 50`, `…-remaining: 49` and a reset in 1 s make
        `LimitStatus("requests", "pa-ratelimit-requests-limit", 50, 49, 1.0)`.
        """
        for gauge in self.limits.limit_headers:
            status = LimitStatus(
                gauge.counts,
                gauge.limit,
                _parse_integer(headers.get(gauge.limit)),
                _parse_integer(headers.get(gauge.remaining)),
                _parse_seconds_until(headers.get(gauge.reset, ""), _find_answer_time(headers)),
            )
            if status.limit is not None or status.remaining is not None:
                yield status


def parse_retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Return the seconds that `retry-after` asks for; None if absent or junk.

    A date in the past is 0.0.

    >>> parse_retry_after({"retry-after": "30"})
    30.0
    >>> parse_retry_after({"retry-after": "Sat, 21 Nov 2026 04:05:05 GMT"}, datetime(2026, 11, 21, 4, 5, tzinfo=UTC))
    5.0
    >>> parse_retry_after({"retry-after": "soon"}) is None
    True
    """
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    date = response_headers.parse_http_date(value)
    return max(0.0, (date - (now or datetime.now(UTC))).total_seconds()) if date is not None else None


def _parse_integer(value: str | None) -> int | None:
    return response_headers.parse_integer(value) if value is not None and len(value) <= MAX_DIGITS else None


def _parse_seconds_until(reset: str, now: datetime) -> float:
    """Return the seconds until an instant, or of a duration; 0 for junk: `1m30s` -> 90.0."""
    duration_s, instant = response_headers.parse_duration_s(reset), response_headers.parse_instant(reset)
    if duration_s is not None:
        return duration_s
    return max(0.0, (instant - now).total_seconds()) if instant is not None else 0.0


def _find_answer_time(headers: Mapping[str, str]) -> datetime:
    """Return when the provider answered: by its `date` header, because its other headers use the same clock."""
    return response_headers.parse_http_date(headers.get("date", "")) or datetime.now(UTC)


@dataclass(slots=True)
class Budget:
    """What a provider's lanes have used, held against the target's limits.

    Tokens are reserved for a whole attempt, at the upper bound that its recipe states, and are never given back: what
    the provider charges is known only after the request, when it is too late to refuse it.
    """

    provider: Provider
    requests: int = 0
    tokens: int = 0

    def take_request(self) -> Reason | None:
        """Count a request that is about to be sent, or return why it must not be."""
        limit = self.provider.limits.max_requests
        if limit is not None and self.requests >= limit:
            return self._explain("max_requests", limit)
        self.requests += 1
        return None

    def reserve_tokens(self, tokens: int) -> Reason | None:
        """Count the tokens that an attempt may take, or return why it must not begin."""
        limit = self.provider.limits.max_tokens
        if limit is not None and tokens and self.tokens + tokens > limit:
            return self._explain("max_tokens", limit)
        self.tokens += tokens
        return None

    def _explain(self, key: str, limit: int) -> Reason:
        usage = f"{self.requests} requests sent, {self.tokens} tokens reserved"
        return Reason(ReasonCode.BUDGET_SPENT, f"providers.{self.provider.name}.{key} = {limit}; {usage}")
