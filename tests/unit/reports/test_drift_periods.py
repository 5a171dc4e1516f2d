"""Which differences are one change, where several begin and end at once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.reports.history.drift_periods import PeriodEnding, find_drift_periods
from catalog_probe.reports.news import feed
from tests.unit.reports.factories import make_finding, make_result
from tests.unit.reports.test_feed import A, B, make_drift, replay


@pytest.mark.parametrize("is_seen", [False, True])
def test_what_begins_under_another_label_takes_no_place(is_seen: bool) -> None:
    """Neither of what goes on beside it nor of what recovered: only what differed under its own label changed."""
    limited = make_finding(
        label="limited", documented=429, observed=400, message="status: documented 429, observed 400"
    )
    was = make_finding(message="status: documented 400, observed 422")
    now = make_result(A, Outcome.DRIFTED, findings=(was, limited) if is_seen else (limited,))
    first, second = find_drift_periods(replay([[make_result(A, Outcome.DRIFTED, findings=(was,))], [now]]))
    assert (first.ending, second.ending) == (None if is_seen else PeriodEnding.RECOVERED, None)
    assert second.replaced_ids == set()


def test_what_is_accepted_of_all_that_still_drift_is_accepted() -> None:
    accepted, other = (
        replace(make_drift(each), accepted_difference={"state": "accounted", "reason": "known"}) for each in (A, B)
    )
    for last, expected in (([accepted, make_result(B)], True), ([accepted, make_drift(B)], False)):
        [change] = find_drift_periods(replay([[accepted, other], last]))
        assert change.accepted is expected


@pytest.mark.parametrize(
    ("words", "said"), [({"code": "c"}, ("c", "answer/status 422")), ({"summary": "it differs"}, ("", "it differs"))]
)
def test_a_cause_without_words_is_told_by_its_differences(words: dict[str, str], said: tuple[str, str]) -> None:
    [row] = replay([[make_drift(A)]])
    [change] = find_drift_periods([replace(row, causes=dict.fromkeys(row.causes, words))])
    assert (change.code, feed.describe_period(change)) == said
