"""A rate-limit record, read: groups of endpoints, headers that tell of a limit, tables of tiers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from catalog_probe.catalog.envelopes import formats
from catalog_probe.catalog.model.labels import ANSWER
from catalog_probe.catalog.reading.headers import header_labels, raw_header_rules
from catalog_probe.catalog.text.json_pointer import find_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.catalog.model import Json, Record

TABLES = ("documented", "per_model_documented_tiers")
"""The fields below which the documents' tables of tiers stand (2:8.2, 2:8.4)."""


@dataclass(frozen=True, slots=True)
class EndpointGroup:
    """Endpoints that share a limit, and how many requests a minute it allows in the lowest tier."""

    paths: tuple[str, ...]
    per_minute: float
    methods: frozenset[str] = frozenset()
    """The methods it holds for; empty: all."""

    def prefix_of(self, method: str, path: str) -> int:
        """How long the longest beginning of this path is that the group names; 0 where the request is none of it."""
        if self.methods and method not in self.methods:
            return 0
        return max((len(each) for each in self.paths if path.startswith(each)), default=0)


@dataclass(frozen=True, slots=True)
class LimitHeaders:
    """The names of the headers that tell of one limit."""

    counts: str = ""
    """What the limit counts: `requests` or `tokens`."""
    limit: str = ""
    remaining: str = ""
    reset: str = ""


@dataclass(frozen=True, slots=True)
class Tier:
    """One tier of one table."""

    place: str
    """`table: tier`, such as `messages/classes/other_classes: start`."""
    limits: Mapping[str, Json]
    """Metric -> limit."""


@dataclass(frozen=True, slots=True)
class RateLimits:
    """What is documented of one provider's limits."""

    groups: tuple[EndpointGroup, ...] = ()
    gauges: tuple[LimitHeaders, ...] = ()
    """Only of headers that an ordinary answer has."""
    rows: tuple[Tier, ...] = ()
    metrics: Mapping[str, str] = field(default_factory=dict)
    """Header -> the metric, and so the column of the tables, that it tells the limit of."""
    delay_in_message: bool = False
    """Whether a 429 may tell in its message alone how long to wait (2:8)."""

    def group_of(self, method: str, path: str) -> EndpointGroup | None:
        """The group that names the longest beginning of this path, for this method."""
        best = max(self.groups, key=lambda group: group.prefix_of(method, path), default=None)
        return best if best is not None and best.prefix_of(method, path) else None

    def tiers(self, headers: Mapping[str, str]) -> list[str]:
        """The place of each row that has every limit which these headers tell: the account's tier."""
        said = ((metric, formats.parse_integer(headers.get(name, ""))) for name, metric in self.metrics.items())
        told = {metric: limit for metric, limit in said if limit is not None}
        if not told:
            return []
        return [row.place for row in self.rows if all(row.limits.get(metric) == told[metric] for metric in told)]


def rate_limits(record: Record) -> RateLimits:
    """What a rate-limit record states."""
    return RateLimits(
        groups=tuple(_groups(record)),
        gauges=tuple(_gauges(record)),
        rows=tuple(row for table in TABLES for row in _rows(record.data.get(table), "")),
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


def _gauges(record: Record) -> Iterator[LimitHeaders]:
    families: dict[str, dict[str, str]] = {}
    for name, rule in raw_header_rules(record.data.get("headers")).items():
        if "family" in rule and ANSWER in header_labels(rule):
            gauge = families.setdefault(rule["family"], {})
            gauge[rule["part"]] = name
            if rule["part"] != "reset":  # its unit is that of the time, not of what is counted
                gauge["counts"] = str(rule.get("unit", ""))
    for gauge in families.values():
        yield LimitHeaders(**gauge)


def _metrics(headers: Json) -> Iterator[tuple[str, str]]:
    """Of headers without a rule as well: a sample tells its metric too."""
    named = headers.items() if isinstance(headers, dict) else ((each["name"], each) for each in headers or ())
    for name, header in named:
        if "metric" in header:
            yield name, header["metric"]


def _rows(value: Json, place: str) -> Iterator[Tier]:
    """Every row by tier of every table below a value."""
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if key == "tiers" and isinstance(inner, dict):
            yield from (Tier(f"{place}: {tier}", row) for tier, row in inner.items() if isinstance(row, dict))
        else:
            yield from _rows(inner, f"{place}/{key}" if place else key)
