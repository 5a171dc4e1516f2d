"""What became of a record since it was last judged: the closed list, and what a known verdict adds to earlier runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from catalog_probe.catalog.evidence.past import Earlier
from catalog_probe.catalog.evidence.verdicts.changes import Change, change, remembered
from catalog_probe.catalog.model import Outcome
from tests.unit.reports.making import finding, result

ADDRESS = "pa/errors/general/rate_limit_error"


def test_the_changes_are_a_closed_list_of_words_that_pages_and_filters_use() -> None:
    assert [str(each) for each in Change] == (
        "lost pending new different ongoing fixed accepted stale flaky broken unseen none".split()
    )


def test_a_verdict_is_lost_whether_a_run_or_the_record_itself_remembers_it() -> None:
    unseen, seen = result(ADDRESS, Outcome.INCONCLUSIVE), Earlier(date(2026, 11, 20), Outcome.CONFORMS)
    unseen_too = Earlier(date(2026, 11, 20), Outcome.INCONCLUSIVE)
    assert change(unseen, [], seen) is Change.LOST
    assert change(unseen, [seen]) is Change.LOST
    assert change(unseen, [unseen_too], seen) is Change.LOST
    assert change(unseen, [unseen_too]) is Change.UNSEEN
    assert change(unseen, []) is Change.UNSEEN


def test_a_drift_that_nobody_ever_saw_otherwise_waits_and_is_new_afterwards() -> None:
    drifted = result(ADDRESS, Outcome.DRIFTED, findings=(finding(),))
    first = {"first": "2026-11-21"}
    waiting = replace(drifted, confirmation={"never_confirmed": {"answer/status": {**first, "until": "2026-11-28"}}})
    assert change(waiting, []) is Change.PENDING
    assert change(replace(drifted, confirmation={"never_confirmed": {"answer/status": first}}), []) is Change.NEW


def test_a_drift_whose_endpoints_were_not_drawn_is_neither_fixed_nor_forgotten() -> None:
    on = "pa/endpoints/messages/count_tokens"
    drifted = Earlier(date(2026, 11, 20), Outcome.DRIFTED, {"since": "2026-11-18", "on": [on]})
    elsewhere = replace(result(ADDRESS), not_drawn=(on,))
    assert change(elsewhere, [drifted]) is Change.NONE
    assert change(result(ADDRESS), [drifted]) is Change.FIXED
    assert change(replace(result(ADDRESS), not_drawn=("pa/endpoints/x/y",)), [drifted]) is Change.FIXED
    assert remembered(elsewhere, date(2026, 11, 21), [drifted]) == {"since": "2026-11-18", "on": [on]}
    assert remembered(result(ADDRESS), date(2026, 11, 21), [drifted]) is None


def test_a_drift_of_which_the_history_kept_nothing_may_be_another_one() -> None:
    drifted = result(ADDRESS, Outcome.DRIFTED, findings=(finding(),))
    kept_nothing = Earlier(date(2026, 11, 20), Outcome.DRIFTED, {})
    assert change(drifted, [kept_nothing]) is Change.DIFFERENT
    kept_it = replace(kept_nothing, kept=remembered(drifted, date(2026, 11, 20), []) or {})
    assert change(drifted, [kept_it]) is Change.ONGOING
