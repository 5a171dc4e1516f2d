"""Reduce an expectation to what somebody else's exchange can show, and decide whether it is that answer at all."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.text.json_values import ABSENT
from catalog_probe.probes.judging.comparison.compare import compare

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from catalog_probe.catalog.model import Exchange
    from catalog_probe.catalog.model.assertion import Assertion
    from catalog_probe.catalog.reading.expectations import Expected
    from catalog_probe.catalog.reading.response_headers import HeaderRule

_REQUEST_INDEPENDENT = frozenset({"prefix", "pattern", "ordered"})
"""Relations to a constant that hold for any request and any account."""

# Prevents that an answer which no record documents becomes drift of the most similar record. Hides that a record's
# status, type, code or message did change: such answers are listed as undocumented.
_IDENTIFYING_CODES = frozenset(
    {
        FindingCode.STATUS_DIFFERS,
        FindingCode.TYPE_DIFFERS,
        FindingCode.CODE_DIFFERS,
        FindingCode.MESSAGE_DIFFERS,
        FindingCode.GRPC_STATUS_DIFFERS,
        FindingCode.BODY_MALFORMED,
        FindingCode.BODY_NOT_EMPTY,
        FindingCode.STREAM_NOT_STARTED,
        FindingCode.EVENT_MISSING,
        FindingCode.CLOSE_MISSING,
        FindingCode.CLOSE_CODE_DIFFERS,
    }
)
"""Differences in what identifies a record's answer."""


def is_identified(expected: Expected, exchange: Exchange) -> bool:
    """Whether an answer has everything that identifies a record's answer, e.g. its status, type, code and message."""
    return _IDENTIFYING_CODES.isdisjoint(finding.code for finding in compare(expected, exchange))


def for_any_request(expected: Expected) -> Expected:
    """Remove what only the request of our own probe causes: the faulty field, and relations to constants."""
    relations = tuple(
        relation for relation in expected.relations if relation.value is ABSENT or relation.kind in _REQUEST_INDEPENDENT
    )
    wire = {aspect: value for aspect, value in expected.wire.items() if aspect != Aspect.PARAM}
    removed = {relation.local_key for relation in expected.relations if relation not in relations}
    removed.add(str(Aspect.PARAM))
    return replace(expected, relations=relations, wire=wire, assertions=_assertions_except(expected, removed))


def only_headers(expected: Expected, rules: tuple[HeaderRule, ...]) -> Expected:
    """Remove all other headers; what is stated of the answer as a whole stays."""
    removed = {f"{Aspect.HEADER}:{rule.name}" for rule in expected.headers if rule not in rules}
    return replace(expected, headers=rules, assertions=_assertions_except(expected, removed))


def _assertions_except(expected: Expected, removed: Collection[str]) -> Mapping[str, Assertion]:
    return {key: assertion for key, assertion in expected.assertions.items() if assertion.key.local_key not in removed}
