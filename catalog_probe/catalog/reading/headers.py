"""The response headers that a record speaks of: a rule for each, and the bare names of those without a rule."""

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
    """What the documents say of one response header (stand-in name)."""

    name: str
    rule: str
    value: str = ""
    format: str = ""
    family: str = ""
    """The limit that the header tells of, with others of the same family."""
    part: str = ""
    """What it tells of that limit: `limit`, `remaining` or `reset`."""
    multiple_of: int = 1
    optional: bool = False
    """Whether it may be absent, as long as its whole family is."""
    source: str = ""
    """The rows that state it."""

    def name_in(self, headers: Mapping[str, str]) -> str:
        """The first header whose name fits the rule's, in which `*` stands for anything; its own where none does."""
        if "*" not in self.name:
            return self.name
        return next((name for name in sorted(headers) if fnmatchcase(name, self.name)), self.name)


def header_rules(written: Json) -> tuple[HeaderRule, ...]:
    """The rules of a `response_headers` or `headers` field; an array of bare names rules nothing."""
    return tuple(
        _rule(name, rule, optional=rule.get("optional", False)) for name, rule in raw_header_rules(written).items()
    )


def limit_header_rules(record: Record, label: str) -> tuple[HeaderRule, ...]:
    """The rules of a rate-limit record for answers with this label; one that names no label is about `answer`."""
    rules = raw_header_rules(record.data.get("headers"))
    return tuple(
        _rule(name, rule, optional=label in rule.get("optional", ()))
        for name, rule in rules.items()
        if label in header_labels(rule)
    )


def header_labels(rule: Mapping[str, Json]) -> tuple[str, ...]:
    """The labels of the answers that a header of a rate-limit record is documented for."""
    return tuple(rule.get("on", (ANSWER,)))


def raw_header_rules(written: Json) -> Mapping[str, Mapping[str, Json]]:
    """Header rules as they stand in the record, by name; PC's limits are an array, in which samples need no rule."""
    if isinstance(written, list):
        return {each["name"]: each for each in written if isinstance(each, dict) and "rule" in each}
    return written if isinstance(written, dict) else NO_RULES


def header_names(record: Record) -> frozenset[str]:
    """Every response header that a record names, in lower case, with a rule or without."""
    response = record.data.get("response") or {}
    fields = (record.data.get("response_headers"), response.get("headers"), record.data.get("headers"))
    return frozenset(name.lower() for written in fields for name in _names(written))


def _names(written: Json) -> list[str]:
    """The names in an object of rules, an array of rules, or an array of bare names."""
    if isinstance(written, list):
        return [each["name"] if isinstance(each, dict) else each for each in written]
    return list(written or ())


def _rule(name: str, rule: Mapping[str, Json], *, optional: bool) -> HeaderRule:
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
