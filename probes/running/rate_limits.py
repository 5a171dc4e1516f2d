"""What a provider's rate-limit record tells a client that wants to keep to its limits. Data of the record alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from catalog.envelopes import formats
from catalog.envelopes.pointer import find
from catalog.reading.expectations import named_headers
from probes.running.pacer import retry_after_s

if TYPE_CHECKING:
    from catalog.model import Json, Record, Response

_DELAY = re.compile(r"retry in ([0-9]{1,6}(?:\.[0-9]{1,9})?) ?s", re.IGNORECASE)
"""The delay in a message: `Please retry in 12.3s.` (2:7.1)."""

MAX_TEXT = 4_000


@dataclass(frozen=True, slots=True)
class Group:
    """Endpoints that share a limit, and how many requests a minute it allows in the lowest tier."""

    paths: tuple[str, ...]
    per_minute: float


@dataclass(frozen=True, slots=True)
class Gauge:
    """The headers that tell of one limit."""

    counts: str
    limit: str = ""
    remaining: str = ""
    reset: str = ""


@dataclass(frozen=True, slots=True)
class Manners:
    """How to behave towards one provider."""

    groups: tuple[Group, ...] = ()
    gauges: tuple[Gauge, ...] = ()
    delay_in_message: bool = False

    @classmethod
    def of(cls, records: Iterable[Record]) -> Manners:
        """The manners that the rate-limit record among these asks for; without one, none."""
        record = next((each for each in records if each.kind == "rate_limits"), None)
        if record is None:
            return cls()
        data = record.data
        causes = data.get("error_semantics_429") or {}
        return cls(
            tuple(_groups(data)),
            tuple(_gauges(named_headers(data.get("headers")))),
            any(cause.get("delay_in_message") for cause in causes.values()),
        )

    def group_of(self, path: str) -> Group | None:
        """The group whose path is the longest beginning of this one."""
        fitting = [(len(prefix), group) for group in self.groups for prefix in group.paths if path.startswith(prefix)]
        return max(fitting, key=lambda each: each[0])[1] if fitting else None

    def asked_s(self, response: Response) -> float | None:
        """How long a refusal asks to wait: in Retry-After, or in its message where the provider puts it there."""
        asked = retry_after_s(response.headers, _answered_at(response.headers))
        if asked is not None or not self.delay_in_message:
            return asked
        found = _DELAY.search(json.dumps(response.body, default=str)[:MAX_TEXT])
        return float(found[1]) if found else None

    def used_up_s(self, headers: Mapping[str, str]) -> float | None:
        """How long until a limit resets of which nothing is left, or None where something is left of each."""
        waits = [
            _until(headers.get(gauge.reset, ""), _answered_at(headers))
            for gauge in self.gauges
            if headers.get(gauge.remaining) == "0"
        ]
        return max(waits, default=None)

    def requests_per_minute(self, headers: Mapping[str, str]) -> int | None:
        """The limit on requests that this account is told, or None."""
        told = (headers.get(gauge.limit, "") for gauge in self.gauges if gauge.counts == "requests")
        return min((int(text) for text in told if formats.valid("integer", text)), default=None)


def _groups(data: Mapping[str, Json]) -> Iterable[Group]:
    for group in (data.get("documented") or {}).get("endpoint_groups", ()):
        limit = find(data, group["limit"])
        if isinstance(limit, int | float):
            yield Group(tuple(group["paths"]), float(limit))


def _gauges(rules: Mapping[str, Mapping[str, Json]]) -> Iterable[Gauge]:
    """The families that ordinary answers tell of."""
    families: dict[str, dict[str, str]] = {}
    for name, rule in rules.items():
        if "family" in rule and "answer" in rule.get("on", ("answer",)):
            family = families.setdefault(rule["family"], {})
            family[rule["part"]] = name
            if rule["part"] != "reset":
                family["counts"] = str(rule.get("unit", ""))
    return [Gauge(**{"counts": "", **family}) for family in families.values()]


def _until(reset: str, now: datetime) -> float:
    """Seconds until a reset, given as an instant or as a duration; none for junk."""
    duration, instant = formats.duration_s(reset), formats.instant(reset)
    if duration is not None:
        return duration
    return max(0.0, (instant - now).total_seconds()) if instant is not None else 0.0


def _answered_at(headers: Mapping[str, str]) -> datetime:
    """When the provider answered, by its own clock where it tells: dates beside it are by that clock too."""
    try:
        return parsedate_to_datetime(headers.get("date", "")).astimezone(UTC)
    except ValueError:
        return datetime.now(UTC)
