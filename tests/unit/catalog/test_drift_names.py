"""Name of a drift in histories and causes: bounded, and the same each night."""

from __future__ import annotations

from dataclasses import replace

from catalog_probe.catalog.evidence.drift_identity import cause_key, format_drift, observed_class
from catalog_probe.catalog.model import Aspect, Finding, Json, Severity
from catalog_probe.catalog.model.codes import FindingCode


def make_drift(code: FindingCode, aspect: Aspect, observed: Json, location: str = "") -> Finding:
    return Finding(code, aspect, Severity.MUST, "", "answer", location, "documented", observed)


STATUS = make_drift(FindingCode.STATUS_DIFFERS, Aspect.STATUS, 403)


def test_a_drift_is_named_by_its_assertion_and_observed_class() -> None:
    cases: list[tuple[Finding, str]] = [
        (STATUS, "answer/status 403"),
        (make_drift(FindingCode.HEADER_MISSING, Aspect.HEADER, "x", "retry-after"), "answer/header:retry-after absent"),
        (make_drift(FindingCode.FIELD_DIFFERS, Aspect.BODY, None, "/a"), "answer/body:/a absent"),
        (make_drift(FindingCode.FIELD_DIFFERS, Aspect.BODY, "absent", "/a"), "answer/body:/a absent"),
        (
            make_drift(FindingCode.HEADER_MALFORMED, Aspect.HEADER, "x", "retry-after"),
            "answer/header:retry-after malformed",
        ),
        (
            make_drift(FindingCode.HEADER_DIFFERS, Aspect.HEADER, "9", "retry-after"),
            "answer/header:retry-after out-of-range",
        ),
        (make_drift(FindingCode.STATUS_DIFFERS, Aspect.STATUS, 1, "status"), "answer/status 1"),
    ]
    for finding, name in cases:
        assert format_drift(finding) == name


def test_a_name_is_truncated_in_both_parts() -> None:
    assert format_drift(replace(STATUS, label="l" * 93)) == f"{'l' * 93}/status 403"
    assert format_drift(replace(STATUS, label="l" * 94)) == f"{'l' * 94}/statu 403"
    assert format_drift(replace(STATUS, observed="v" * 100)) == f"answer/status {'v' * 100}"
    assert format_drift(replace(STATUS, observed="v" * 101)) == f"answer/status {'v' * 100}"


def test_the_class_of_an_object_does_not_depend_on_its_member_order() -> None:
    unsorted, in_order = replace(STATUS, observed={"b": "é", "a": 1}), replace(STATUS, observed={"a": 1, "b": "é"})
    assert observed_class(unsorted) == observed_class(in_order) == '{"a": 1, "b": "é"}'
    assert cause_key("pa", replace(unsorted, documented={"b": 1, "a": 2})) == (
        "pa",
        "status",
        "",
        '{"a": 2, "b": 1}',
        '{"a": 1, "b": "é"}',
    )
