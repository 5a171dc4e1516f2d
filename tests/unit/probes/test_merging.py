"""One difference on several endpoints is one finding; two of one endpoint, however alike, are two."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog_probe.catalog.model import Aspect, Finding, Severity
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.probes.judging.comparison.merging import merge_findings

DRIFT = Finding(
    FindingCode.HEADER_MALFORMED,
    Aspect.HEADER,
    Severity.MUST,
    "retry-after is no number",
    "answer",
    "retry-after",
    documented="seconds",
    observed="soon",
    assertion="answer/header:retry-after",
)
TOLD = replace(DRIFT, code=FindingCode.UNDOCUMENTED_HEADER, severity=Severity.INFO, message="x-new: 1", assertion="")


def test_it_is_told_once_as_it_was_seen_first_with_all_its_endpoints() -> None:
    later = replace(DRIFT, observed="later", message="so it is there")
    assert merge_findings([("a", [DRIFT]), ("b", [later]), ("", [DRIFT])]) == (replace(DRIFT, endpoints=("a", "b")),)
    assert merge_findings([("a", [TOLD]), ("b", [TOLD])]) == (replace(TOLD, endpoints=("a", "b")),)
    assert merge_findings([("", [DRIFT])]) == (DRIFT,)


@pytest.mark.parametrize(
    "other",
    [
        replace(DRIFT, severity=Severity.SHOULD),
        replace(DRIFT, label="success"),
        replace(DRIFT, location="request-id"),
        replace(DRIFT, assertion="answer/header:request-id"),
        replace(DRIFT, code=FindingCode.HEADER_MISSING, observed=None),
    ],
)
def test_another_difference_is_another_finding(other: Finding) -> None:
    assert merge_findings([("a", [DRIFT]), ("b", [other])]) == (
        replace(DRIFT, endpoints=("a",)),
        replace(other, endpoints=("b",)),
    )


def test_what_is_only_told_differs_by_what_is_told() -> None:
    other = replace(TOLD, message="x-new: 2")
    assert len(merge_findings([("a", [TOLD]), ("b", [other])])) == 2


def test_two_of_one_endpoint_stay_two_and_meet_those_of_another_in_their_order() -> None:
    first, second, third = (replace(DRIFT, message=text) for text in ("first", "second", "third"))
    found = merge_findings([("a", [first, second, third]), ("b", [first, second])])
    assert [(each.message, each.endpoints) for each in found] == [
        ("first", ("a", "b")),
        ("second", ("a", "b")),
        ("third", ("a",)),
    ]
