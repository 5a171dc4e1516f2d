"""Change of a record since its last verdict: the closed list, and its rules."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome
from catalog_probe.catalog.evidence.verdicts.changes import Change, classify_change, summarize_drift_for_history
from catalog_probe.catalog.model import Outcome
from tests.unit.reports.factories import make_finding, make_result

ADDRESS = "pa/errors/general/rate_limit_error"


def test_the_changes_are_a_closed_list_of_words_that_pages_and_filters_use() -> None:
    assert [str(change) for change in Change] == (
        "lost pending new different ongoing fixed accepted stale flaky broken unseen none".split()
    )


def test_a_verdict_is_lost_whether_a_run_or_the_record_itself_remembers_it() -> None:
    inconclusive, earlier = (
        make_result(ADDRESS, Outcome.INCONCLUSIVE),
        EarlierOutcome(date(2026, 11, 20), Outcome.CONFORMS),
    )
    unseen_too = EarlierOutcome(date(2026, 11, 20), Outcome.INCONCLUSIVE)
    assert classify_change(inconclusive, [], earlier) is Change.LOST
    assert classify_change(inconclusive, [earlier]) is Change.LOST
    assert classify_change(inconclusive, [unseen_too], earlier) is Change.LOST
    assert classify_change(inconclusive, [unseen_too]) is Change.UNSEEN
    assert classify_change(inconclusive, []) is Change.UNSEEN


def test_a_drift_that_was_never_confirmed_is_pending_first_and_new_later() -> None:
    drifted = make_result(ADDRESS, Outcome.DRIFTED, findings=(make_finding(),))
    first = {"first": "2026-11-21"}
    waiting = replace(drifted, confirmation={"never_confirmed": {"answer/status": {**first, "until": "2026-11-28"}}})
    assert classify_change(waiting, []) is Change.PENDING
    assert (
        classify_change(replace(drifted, confirmation={"never_confirmed": {"answer/status": first}}), []) is Change.NEW
    )


def test_a_drift_whose_endpoints_were_not_drawn_is_neither_fixed_nor_forgotten() -> None:
    on = "pa/endpoints/messages/count_tokens"
    drifted = EarlierOutcome(date(2026, 11, 20), Outcome.DRIFTED, {"since": "2026-11-18", "on": [on]})
    elsewhere = replace(make_result(ADDRESS), not_drawn=(on,))
    assert classify_change(elsewhere, [drifted]) is Change.NONE
    assert classify_change(make_result(ADDRESS), [drifted]) is Change.FIXED
    assert classify_change(replace(make_result(ADDRESS), not_drawn=("pa/endpoints/x/y",)), [drifted]) is Change.FIXED
    assert summarize_drift_for_history(elsewhere, date(2026, 11, 21), [drifted]) == {"since": "2026-11-18", "on": [on]}
    assert summarize_drift_for_history(make_result(ADDRESS), date(2026, 11, 21), [drifted]) is None


def test_a_drift_of_which_the_history_kept_nothing_may_be_another_one() -> None:
    drifted = make_result(ADDRESS, Outcome.DRIFTED, findings=(make_finding(),))
    kept_nothing = EarlierOutcome(date(2026, 11, 20), Outcome.DRIFTED, {})
    assert classify_change(drifted, [kept_nothing]) is Change.DIFFERENT
    kept_it = replace(kept_nothing, drift=summarize_drift_for_history(drifted, date(2026, 11, 20), []) or {})
    assert classify_change(drifted, [kept_it]) is Change.ONGOING
