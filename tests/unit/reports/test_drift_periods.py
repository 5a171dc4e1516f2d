"""Drift periods: which differences are one change if several begin and end at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.reports.history.drift_periods import PeriodEnding, find_drift_periods
from catalog_probe.reports.news import feed
from tests.unit.reports.factories import make_finding, make_result
from tests.unit.reports.history_factories import A, B, build_history_rows, make_drift


@pytest.mark.parametrize("is_seen", [False, True])
def test_a_drift_under_another_label_replaces_no_period(is_seen: bool) -> None:
    """Neither of what goes on beside it nor of what recovered: only what differed under its own label changed."""
    limited = make_finding(
        label="limited", documented=429, observed=400, message="status: documented 429, observed 400"
    )
    was = make_finding(message="status: documented 400, observed 422")
    now = make_result(A, Outcome.DRIFTED, findings=(was, limited) if is_seen else (limited,))
    first, second = find_drift_periods(build_history_rows([[make_result(A, Outcome.DRIFTED, findings=(was,))], [now]]))
    assert (first.ending, second.ending) == (None if is_seen else PeriodEnding.RECOVERED, None)
    assert second.replaced_ids == set()


def test_a_period_is_accepted_if_all_its_drifting_records_are() -> None:
    accepted, not_accepted = (
        replace(make_drift(address), accepted_difference={"state": "accounted", "reason": "known"})
        for address in (A, B)
    )
    for last, expected in (([accepted, make_result(B)], True), ([accepted, make_drift(B)], False)):
        [change] = find_drift_periods(build_history_rows([[accepted, not_accepted], last]))
        assert change.accepted is expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [({"code": "c"}, ("c", "answer/status 422")), ({"summary": "it differs"}, ("", "it differs"))],
)
def test_a_cause_without_summary_is_described_by_its_differences(
    words: dict[str, str], expected: tuple[str, str]
) -> None:
    [row] = build_history_rows([[make_drift(A)]])
    [change] = find_drift_periods([replace(row, causes=dict.fromkeys(row.causes, words))])
    assert (change.code, feed.describe_period(change)) == expected
