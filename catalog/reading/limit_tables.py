"""Which rows of the documents' tables hold the limits that an account was told: its tier (2:8.2, 2:8.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog.model import Json

TABLES = ("documented", "per_model_documented_tiers")


def tiers(record: Mapping[str, Json], headers: Mapping[str, str]) -> list[str]:
    """Each `table: tier` whose row has every limit told, such as `messages/classes/other_classes: start`.

    Which column a header's limit stands in is data of the record: the `metric` of its rule.
    """
    told = {metric: int(headers[name]) for name, metric in _metrics(record) if headers.get(name, "").isdecimal()}
    if not told:
        return []
    rows = (row for place in TABLES for row in _rows(record.get(place), ""))
    return [place for place, row in rows if all(row.get(metric) == limit for metric, limit in told.items())]


def _metrics(record: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    rules = record.get("headers")
    named = rules.items() if isinstance(rules, dict) else ((rule["name"], rule) for rule in rules or ())
    for name, rule in named:
        if "metric" in rule:
            yield name, rule["metric"]


def _rows(value: Json, place: str) -> Iterator[tuple[str, Mapping[str, Json]]]:
    """Every row by tier of every table below a value."""
    if not isinstance(value, dict):
        return
    for key, inner in value.items():
        if key == "tiers" and isinstance(inner, dict):
            yield from ((f"{place}: {tier}", row) for tier, row in inner.items() if isinstance(row, dict))
        else:
            yield from _rows(inner, f"{place}/{key}" if place else key)
