"""Checks that the headers of one rate limit agree with each other (2:8.2, 2:8.4). Pure.

Which headers belong together is data of the rate-limit record: its rules name a family and a part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.reading import response_headers

if TYPE_CHECKING:
    from catalog_probe.catalog.reading.response_headers import HeaderRule

# Part -> the rule of its header.
HeaderFamily = Mapping[str, "HeaderRule"]


class HeaderContradiction(NamedTuple):
    """How one header contradicts the others of its family."""

    code: FindingCode
    header: str
    documented: str
    observed: str


def find_contradictions(rules: Sequence[HeaderRule], headers: Mapping[str, str]) -> Iterator[HeaderContradiction]:
    """Yield every contradiction among the headers that these rules name."""
    for family in _group_families(rules):
        yield from _find_missing_parts(family, headers)
        yield from _find_excess_remaining(family, headers)
    for rule in rules:
        number = _read_number(rule, headers)
        if number is not None and number % rule.multiple_of:
            yield HeaderContradiction(
                FindingCode.HEADER_MALFORMED, rule.name, f"a multiple of {rule.multiple_of}", str(number)
            )


def _group_families(rules: Sequence[HeaderRule]) -> list[HeaderFamily]:
    families: dict[str, dict[str, HeaderRule]] = {}
    for rule in rules:
        if rule.family:
            families.setdefault(rule.family, {})[rule.part] = rule
    return list(families.values())


def _find_missing_parts(family: HeaderFamily, headers: Mapping[str, str]) -> Iterator[HeaderContradiction]:
    """A family whose limit does not always apply comes as a whole, or not at all."""
    present = [rule.name for rule in family.values() if rule.name in headers]
    for rule in family.values():
        if rule.optional and present and rule.name not in headers:
            yield HeaderContradiction(FindingCode.HEADER_MISSING, rule.name, f"present, as {present[0]} is", "absent")


def _find_excess_remaining(family: HeaderFamily, headers: Mapping[str, str]) -> Iterator[HeaderContradiction]:
    if "limit" not in family or "remaining" not in family:
        return
    rule = family["remaining"]
    limit, remaining = _read_number(family["limit"], headers), _read_number(rule, headers)
    # A rounded number may exceed the limit by half of its step.
    if limit is not None and remaining is not None and remaining > limit + rule.multiple_of // 2:
        yield HeaderContradiction(
            FindingCode.HEADER_INCONSISTENT, rule.name, f"at most the limit {limit}", str(remaining)
        )


def _read_number(rule: HeaderRule, headers: Mapping[str, str]) -> int | None:
    return response_headers.parse_integer(headers.get(rule.name, "")) if rule.format == "integer" else None
