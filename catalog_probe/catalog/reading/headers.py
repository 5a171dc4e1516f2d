"""The response headers of a record: a rule for each, and the names of those without a rule."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.labels import ANSWER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json, Record

NO_RULES: Mapping[str, Mapping[str, Json]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class HeaderRule:
    """The documented rule for one response header."""

    name: str
    """The stand-in name, in which `*` may stand for any text."""
    rule: str
    value: str = ""
    format: str = ""
    family: str = ""
    """The rate limit that the header reports on, together with others of the same family."""
    part: str = ""
    """What it reports of that limit: `limit`, `remaining` or `reset`."""
    multiple_of: int = 1
    optional: bool = False
    """Whether it may be absent, as long as its whole family is."""
    source: str = ""
    """The rows that state it."""

    def name_in(self, headers: Mapping[str, str]) -> str:
        """Return the first header whose name matches the rule's; the rule's own name if none does."""
        if "*" not in self.name:
            return self.name
        return next((name for name in sorted(headers) if fnmatchcase(name, self.name)), self.name)


def header_rules(field: Json) -> tuple[HeaderRule, ...]:
    """Parse a `response_headers` or `headers` field; an array of bare names has no rules."""
    return tuple(
        _parse_rule(name, rule, optional=rule.get("optional", False)) for name, rule in raw_header_rules(field).items()
    )


def limit_header_rules(record: Record, label: str) -> tuple[HeaderRule, ...]:
    """Return the rules of a rate-limit record for answers with a label."""
    rules = raw_header_rules(record.data.get("headers"))
    return tuple(
        _parse_rule(name, rule, optional=label in rule.get("optional", ()))
        for name, rule in rules.items()
        if label in header_labels(rule)
    )


def header_labels(rule: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the labels of the answers that a header of a rate-limit record is documented for."""
    return tuple(rule.get("on", (ANSWER,)))


def raw_header_rules(field: Json) -> Mapping[str, Mapping[str, Json]]:
    """Return header rules as written in the record, by name.

    The limits of PC are an array, whose entries without a rule are only samples.
    """
    if isinstance(field, list):
        return {header["name"]: header for header in field if isinstance(header, dict) and "rule" in header}
    return field if isinstance(field, dict) else NO_RULES


def header_names(record: Record) -> frozenset[str]:
    """Return every response header that a record names, in lower case, with a rule or without."""
    response = record.data.get("response") or {}
    fields = (record.data.get("response_headers"), response.get("headers"), record.data.get("headers"))
    return frozenset(name.lower() for field in fields for name in _names(field))


def _names(field: Json) -> list[str]:
    """Return the names in an object of rules, an array of rules, or an array of bare names."""
    if isinstance(field, list):
        return [header["name"] if isinstance(header, dict) else header for header in field]
    return list(field or ())


def _parse_rule(name: str, rule: Mapping[str, Json], *, optional: bool) -> HeaderRule:
    return HeaderRule(
        name=name,
        rule=rule["rule"],
        value=rule.get("value", ""),
        format=rule.get("format", ""),
        family=rule.get("family", ""),
        part=rule.get("part", ""),
        multiple_of=rule.get("multiple_of", 1),
        optional=optional,
        source=rule.get("source", ""),
    )
