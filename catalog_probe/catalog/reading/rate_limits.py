"""Parse a rate-limit record: groups of endpoints, headers that report a limit, tables of tiers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import ANSWER
from catalog_probe.catalog.reading import response_headers
from catalog_probe.catalog.reading.response_headers import header_labels, raw_header_rules
from catalog_probe.catalog.text.json_values import find_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Json, Record

TABLES = ("documented", "per_model_documented_tiers")
"""The fields that contain the documents' tables of tiers (2:8.2, 2:8.4)."""


@dataclass(frozen=True, slots=True)
class EndpointGroup:
    """Endpoints that share a limit."""

    paths: tuple[str, ...]
    """Prefixes of the endpoints' paths."""
    per_minute: float
    """The requests a minute that the lowest tier allows."""
    methods: frozenset[str] = frozenset()
    """The methods that it applies to; empty for all."""

    def matched_length(self, method: str, path: str) -> int:
        """Return the length of the longest prefix in the group that a path has; 0 if the request is not in it.

        Example: the group of `/v1/files` matches `/v1/files/file_1` with 9 characters.
        """
        if self.methods and method not in self.methods:
            return 0
        return max((len(prefix) for prefix in self.paths if path.startswith(prefix)), default=0)


@dataclass(frozen=True, slots=True)
class LimitHeaders:
    """The names of the headers that report one limit."""

    counts: str = ""
    """What the limit counts: `requests` or `tokens`."""
    limit: str = ""
    remaining: str = ""
    reset: str = ""


@dataclass(frozen=True, slots=True)
class Tier:
    """One row of a table of tiers."""

    name: str
    """`table: tier`, such as `messages/classes/other_classes: start`."""
    limits: Mapping[str, Json]
    """Metric -> limit."""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """The documented limits of one provider."""

    groups: tuple[EndpointGroup, ...] = ()
    limit_headers: tuple[LimitHeaders, ...] = ()
    """Only headers of an ordinary answer."""
    tiers: tuple[Tier, ...] = ()
    metrics: Mapping[str, str] = field(default_factory=dict)
    """Header -> the metric whose limit it reports; a metric is a column of the tables."""
    delay_in_message: bool = False
    """Whether only the message of a 429 may say how long to wait (2:8)."""

    def group_of(self, method: str, path: str) -> EndpointGroup | None:
        """Return the group with the longest matching prefix."""
        best = max(self.groups, key=lambda group: group.matched_length(method, path), default=None)
        return best if best is not None and best.matched_length(method, path) else None

    def matching_tiers(self, headers: Mapping[str, str]) -> list[str]:
        """Return the name of each tier that has all the limits which these headers report.

        Example: `{"x-ratelimit-limit-requests": "500"}` -> the tiers with 500 requests a minute, perhaps two of them.
        """
        values = (
            (metric, response_headers.parse_integer(headers.get(name, ""))) for name, metric in self.metrics.items()
        )
        reported = {metric: limit for metric, limit in values if limit is not None}
        if not reported:
            return []
        return [
            tier.name
            for tier in self.tiers
            if all(tier.limits.get(metric) == limit for metric, limit in reported.items())
        ]


def rate_limits(record: Record) -> RateLimits:
    """Parse a rate-limit record: its groups of endpoints, its headers, and its tables of tiers."""
    return RateLimits(
        groups=tuple(_groups(record)),
        limit_headers=tuple(_limit_headers(record)),
        tiers=tuple(tier for table in TABLES for tier in _tiers(record.data.get(table), "")),
        metrics=dict(_metrics(record.data.get("headers"))),
        delay_in_message=any(
            cause.get("delay_in_message", False) for cause in (record.data.get("error_semantics_429") or {}).values()
        ),
    )


def _groups(record: Record) -> Iterator[EndpointGroup]:
    for group in record.data["documented"].get("endpoint_groups", ()):
        limit = find_value(record.data, group["limit"])
        if isinstance(limit, int | float):
            yield EndpointGroup(tuple(group["paths"]), float(limit), frozenset(group.get("methods", ())))


def _limit_headers(record: Record) -> Iterator[LimitHeaders]:
    families: dict[str, dict[str, str]] = {}  # the family in the rules -> part of `LimitHeaders` -> header
    for name, rule in raw_header_rules(record.data.get("headers")).items():
        if "family" in rule and ANSWER in header_labels(rule):
            family = families.setdefault(rule["family"], {})
            family[rule["part"]] = name
            if rule["part"] != "reset":  # the unit of a reset is one of time, not what the limit counts
                family["counts"] = str(rule.get("unit", ""))
    for family in families.values():
        yield LimitHeaders(**family)


def _metrics(headers: Json) -> Iterator[tuple[str, str]]:
    """Yield each header with the metric whose limit it reports, also of headers that have no rule."""
    pairs = headers.items() if isinstance(headers, dict) else ((header["name"], header) for header in headers or ())
    for name, header in pairs:
        if "metric" in header:
            yield name, header["metric"]


def _tiers(value: Json, path: str) -> Iterator[Tier]:
    """Yield the tiers of every table below a value; the path to a table is part of the tier's name."""
    if not isinstance(value, dict):
        return
    for key, member in value.items():
        if key == "tiers" and isinstance(member, dict):
            yield from (Tier(f"{path}: {tier}", limits) for tier, limits in member.items() if isinstance(limits, dict))
        else:
            yield from _tiers(member, f"{path}/{key}" if path else key)
