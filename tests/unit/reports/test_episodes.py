"""Which differences are one change, where the rows of a history say little of them or several begin and end at once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from catalog.evidence.past import Row
from catalog.model import Outcome
from reports import feed
from reports.episodes import Ending, episodes
from tests.unit.reports.making import finding, result
from tests.unit.reports.test_feed import FIRST, A, B, C, drifted, replayed, told


@pytest.mark.parametrize("is_seen", [False, True])
def test_what_begins_under_another_label_takes_no_place(is_seen: bool) -> None:
    """Neither of what goes on beside it nor of what recovered: only what differed under its own label changed."""
    limited = finding(label="limited", documented=429, observed=400, message="status: documented 429, observed 400")
    was = finding(message="status: documented 400, observed 422")
    now = result(A, Outcome.DRIFTED, findings=(was, limited) if is_seen else (limited,))
    first, second = episodes(replayed([[result(A, Outcome.DRIFTED, findings=(was,))], [now]]))
    assert (first.how, second.how) == (None if is_seen else Ending.RECOVERED, None)
    assert second.instead == set()


def test_what_the_ledger_accepts_of_all_that_still_drift_is_accepted() -> None:
    accepted, other = (replace(drifted(each), ledger={"state": "accounted", "reason": "known"}) for each in (A, B))
    for last, expected in (([accepted, result(B)], True), ([accepted, drifted(B)], False)):
        [change] = episodes(replayed([[accepted, other], last]))
        assert change.accepted is expected


def test_a_history_that_does_not_know_causes_goes_on_in_one_that_does() -> None:
    rows = replayed([[drifted(A)], [drifted(A)], [drifted(A)], [result(A)]])
    old = [old_row(rows[0], {"codes": ["status-differs"]}), old_row(rows[1], {"differs": ["answer/status 422"]})]
    [change] = episodes([*old, *rows[2:]])
    assert (change.first, change.last, change.how) == (FIRST, FIRST + timedelta(days=2), Ending.RECOVERED)
    assert change.told == "status: documented 400, observed 422"
    [unnamed] = episodes([old[0]])
    assert feed.as_data(unnamed)["told"] == "status-differs"
    [silent] = episodes([old_row(rows[0], {})])
    assert feed.as_data(silent)["told"] == "drifts; the history does not say in what"


def test_what_an_old_history_told_apart_goes_on_as_one_in_words_of_today() -> None:
    """Which of its codes goes on as what is not known; one does, and nobody saw the others agree."""
    rows = replayed([[result(A)], [drifted(A)], [drifted(A)]])
    old = old_row(rows[0], {"codes": ["status-differs", "header-missing"]})
    assert told(episodes([replace(old, outcomes={A: Outcome.DRIFTED}), *rows[1:]])) == [
        ("status: documented 400, observed 422", 0, 2, ""),
        ("", 0, 0, "changed"),
    ]


@pytest.mark.parametrize(
    ("words", "said"), [({"code": "c"}, ("c", "answer/status 422")), ({"told": "it differs"}, ("", "it differs"))]
)
def test_a_history_may_know_a_cause_by_half(words: dict[str, str], said: tuple[str, str]) -> None:
    [row] = replayed([[drifted(A)]])
    [change] = episodes([replace(row, causes=dict.fromkeys(row.causes, words))])
    assert (change.code, feed.as_data(change)["told"]) == said


@pytest.mark.parametrize(
    ("kept", "ids"),
    [
        (({"differs": ["answer/status 422"]}, {"differs": ["limited/status 422"]}), ["pa-f28ad9b0", "pc-f28ad9b0"]),
        (({"codes": ["status-differs"]}, {"codes": ["status-differs"]}), ["pa-8adaaba8", "pc-8adaaba8"]),
        (({"codes": ["body-differs body:/a"]}, {"codes": ["body-differs body:/a"]}), ["pa-a5c44135", "pc-a5c44135"]),
        (({}, {}), ["pa-42d00087", "pa-5c007d2c", "pc-e3ac3192"]),
    ],
)
def test_an_old_history_without_causes_tells_alike_what_differs_alike(
    kept: tuple[dict[str, Any], dict[str, Any]], ids: list[str]
) -> None:
    """One change of a provider's records: under whatever label; where it does not say in what, each is its own."""
    [row] = replayed([[result(A), result(B), result(C)]])
    old = replace(row, outcomes=dict.fromkeys((A, B, C), Outcome.DRIFTED), drifts={A: kept[0], B: kept[1], C: kept[1]})
    assert [each.key for each in episodes([old])] == ids, "and keeps its id"


def old_row(row: Row, kept: dict[str, Any]) -> Row:
    return Row(row.run, row.started_at, row.today, row.outcomes, {A: kept}, frozenset(), row.live)
