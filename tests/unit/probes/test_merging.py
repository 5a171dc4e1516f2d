"""Merging: the same finding on several endpoints is one finding, two on one endpoint stay two."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Aspect, Finding, Severity
from catalog_probe.catalog.model.codes import FindingCode
from catalog_probe.probes.judging.comparison.merging import merge_findings

if TYPE_CHECKING:
    import pytest

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
NOTE = replace(DRIFT, code=FindingCode.UNDOCUMENTED_HEADER, severity=Severity.INFO, message="x-new: 1", assertion="")


def test_same_finding_is_merged_with_all_its_endpoints() -> None:
    later = replace(DRIFT, observed="later", message="so it is there")
    assert merge_findings([("a", [DRIFT]), ("b", [later]), ("", [DRIFT])]) == (replace(DRIFT, endpoints=("a", "b")),)
    assert merge_findings([("a", [NOTE]), ("b", [NOTE])]) == (replace(NOTE, endpoints=("a", "b")),)
    assert merge_findings([("", [DRIFT])]) == (DRIFT,)


def test_different_findings_are_not_merged(subtests: pytest.Subtests) -> None:
    cases: list[Finding] = [
        replace(DRIFT, severity=Severity.SHOULD),
        replace(DRIFT, label="success"),
        replace(DRIFT, location="request-id"),
        replace(DRIFT, assertion="answer/header:request-id"),
        replace(DRIFT, code=FindingCode.HEADER_MISSING, observed=None),
    ]
    for other in cases:
        with subtests.test(other=other):
            assert merge_findings([("a", [DRIFT]), ("b", [other])]) == (
                replace(DRIFT, endpoints=("a",)),
                replace(other, endpoints=("b",)),
            )


def test_notes_with_different_messages_are_not_merged() -> None:
    other = replace(NOTE, message="x-new: 2")
    assert len(merge_findings([("a", [NOTE]), ("b", [other])])) == 2


def test_findings_of_one_endpoint_stay_apart_and_merge_in_order() -> None:
    first, second, third = (replace(DRIFT, message=text) for text in ("first", "second", "third"))
    findings = merge_findings([("a", [first, second, third]), ("b", [first, second])])
    assert [(finding.message, finding.endpoints) for finding in findings] == [
        ("first", ("a", "b")),
        ("second", ("a", "b")),
        ("third", ("a",)),
    ]
