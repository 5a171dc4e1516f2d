"""The name of a drift, which histories and causes keep: bounded, in the words of the contract, the same each night."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog_probe.catalog.evidence.drift_identity import cause_key, format_drift, observed_class
from catalog_probe.catalog.model import Aspect, Finding, Json, Severity
from catalog_probe.catalog.model.codes import FindingCode


def drift(code: FindingCode, aspect: Aspect, observed: Json, at: str = "") -> Finding:
    return Finding(code, aspect, Severity.MUST, "", "answer", at, "documented", observed)


STATUS = drift(FindingCode.STATUS_DIFFERS, Aspect.STATUS, 403)


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        (STATUS, "answer/status 403"),
        (drift(FindingCode.HEADER_MISSING, Aspect.HEADER, "x", "retry-after"), "answer/header:retry-after absent"),
        (drift(FindingCode.FIELD_DIFFERS, Aspect.BODY, None, "/a"), "answer/body:/a absent"),
        (drift(FindingCode.FIELD_DIFFERS, Aspect.BODY, "absent", "/a"), "answer/body:/a absent"),
        (drift(FindingCode.HEADER_MALFORMED, Aspect.HEADER, "x", "retry-after"), "answer/header:retry-after malformed"),
        (
            drift(FindingCode.HEADER_DIFFERS, Aspect.HEADER, "9", "retry-after"),
            "answer/header:retry-after out-of-range",
        ),
        (drift(FindingCode.STATUS_DIFFERS, Aspect.STATUS, 1, "status"), "answer/status 1"),
    ],
)
def test_a_drift_is_named_by_its_assertion_and_the_class_of_what_was_seen(seen: Finding, told: str) -> None:
    assert format_drift(seen) == told


def test_a_name_is_bounded_on_both_sides() -> None:
    assert format_drift(replace(STATUS, label="l" * 93)) == f"{'l' * 93}/status 403"
    assert format_drift(replace(STATUS, label="l" * 94)) == f"{'l' * 94}/statu 403"
    assert format_drift(replace(STATUS, observed="v" * 100)) == f"answer/status {'v' * 100}"
    assert format_drift(replace(STATUS, observed="v" * 101)) == f"answer/status {'v' * 100}"


def test_a_value_has_one_class_however_its_members_come() -> None:
    one, other = replace(STATUS, observed={"b": "é", "a": 1}), replace(STATUS, observed={"a": 1, "b": "é"})
    assert observed_class(one) == observed_class(other) == '{"a": 1, "b": "é"}'
    assert cause_key("pa", replace(one, documented={"b": 1, "a": 2})) == (
        "pa",
        "status",
        "",
        '{"a": 2, "b": 1}',
        '{"a": 1, "b": "é"}',
    )
