"""Whether the headers that tell of one limit agree with each other (2:8.2, 2:8.4). Pure.

Which headers belong together is data of the rate-limit record: its rules name a family and a part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.envelopes import formats
from catalog_probe.catalog.model.codes import FindingCode

if TYPE_CHECKING:
    from catalog_probe.catalog.reading.headers import HeaderRule


class Contradiction(NamedTuple):
    """What is wrong with one header beside the others."""

    code: FindingCode
    header: str
    documented: str
    observed: str


def contradictions(rules: Sequence[HeaderRule], headers: Mapping[str, str]) -> Iterator[Contradiction]:
    """Every contradiction among the headers that these rules name."""
    for family in _families(rules):
        yield from _incomplete(family, headers)
        yield from _more_left_than_there_is(family, headers)
    for rule in rules:
        number = _number(rule, headers)
        if number is not None and number % rule.multiple_of:
            yield Contradiction(
                FindingCode.HEADER_MALFORMED, rule.name, f"a multiple of {rule.multiple_of}", str(number)
            )


Family = Mapping[str, "HeaderRule"]
"""Part -> the rule of the header that tells it."""


def _families(rules: Sequence[HeaderRule]) -> list[Family]:
    found: dict[str, dict[str, HeaderRule]] = {}
    for rule in rules:
        if rule.family:
            found.setdefault(rule.family, {})[rule.part] = rule
    return list(found.values())


def _incomplete(family: Family, headers: Mapping[str, str]) -> Iterator[Contradiction]:
    """A family whose limit does not always apply is there as a whole, or not at all."""
    present = [rule.name for rule in family.values() if rule.name in headers]
    for rule in family.values():
        if rule.optional and present and rule.name not in headers:
            yield Contradiction(FindingCode.HEADER_MISSING, rule.name, f"present, as {present[0]} is", "absent")


def _more_left_than_there_is(family: Family, headers: Mapping[str, str]) -> Iterator[Contradiction]:
    if "limit" not in family or "remaining" not in family:
        return
    remaining = family["remaining"]
    limit, left = _number(family["limit"], headers), _number(remaining, headers)
    if limit is not None and left is not None and left > limit + remaining.multiple_of // 2:
        yield Contradiction(FindingCode.HEADER_INCONSISTENT, remaining.name, f"at most the limit {limit}", str(left))


def _number(rule: HeaderRule, headers: Mapping[str, str]) -> int | None:
    return formats.parse_integer(headers.get(rule.name, "")) if rule.format == "integer" else None
