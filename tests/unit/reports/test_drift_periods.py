"""Drift periods: which differences are one change, and when it begins and ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.evidence.merge import merge_runs
from catalog_probe.catalog.model import Aspect, Outcome
from catalog_probe.reports.history import MAX_SHOWN_RUNS, build_history_line
from catalog_probe.reports.news import DriftPeriod, PeriodEnding, find_drift_periods
from tests.unit.reports.factories import make_finding, make_result, make_run
from tests.unit.reports.history_factories import (
    FIRST,
    A,
    B,
    C,
    build_history_rows,
    make_drift,
    make_result_for_letter,
    make_unobserved,
)

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable


def summarize(periods: Iterable[DriftPeriod]) -> list[tuple[str, int, int, str]]:
    """What differed, on which nights it was first and last seen, and how it ended."""
    return [
        (period.summary, (period.first - FIRST).days, (period.last - FIRST).days, str(period.ending or ""))
        for period in periods
    ]


def test_thirty_nights_have_an_entry_a_change_and_a_recovery_each() -> None:
    """A drifts, is blind, drifts on, recovers, drifts again; B and C turn to other answers; all else is calm."""
    nights = []
    for number in range(30):
        a = (
            make_unobserved(A)
            if number in (5, 6, 20)
            else make_drift(A)
            if number in {*range(4, 9), *range(18, 25)}
            else make_result(A)
        )
        b = make_drift(B, 422 if number < 14 else 409) if 10 <= number < 17 else make_result(B)
        c = make_drift(C, 404) if number >= 27 else make_result(C)
        nights.append([a, b, c])
    assert summarize(find_drift_periods(build_history_rows(nights))) == [
        ("status: documented 400, observed 422", 4, 8, "recovered"),
        ("status: documented 400, observed 422", 10, 13, "changed"),
        ("status: documented 400, observed 409", 14, 16, "recovered"),
        ("status: documented 400, observed 422", 18, 24, "recovered"),
        ("status: documented 400, observed 404", 27, 29, ""),
    ]


def test_a_cause_behind_many_records_is_one_change() -> None:
    [change] = find_drift_periods(
        build_history_rows(
            [[make_drift(A), make_result(B)], [make_drift(A), make_drift(B)], [make_result(A), make_drift(B)]]
        )
    )
    assert (change.first.day, change.last.day, change.ended) == (1, 3, None)
    endings = {address: record.ending for address, record in change.records.items()}
    assert endings == {A: PeriodEnding.RECOVERED, B: None}


def test_a_change_ends_as_the_last_of_its_records_did() -> None:
    nights = [[make_drift(A), make_drift(B)], [make_result(A), make_drift(B)], [make_result(A), make_drift(B, 409)]]
    first, second = find_drift_periods(build_history_rows(nights))
    assert (first.ending, second.replaced_ids) == (PeriodEnding.CHANGED, {first.id})


def test_a_drift_that_was_never_confirmed_is_marked() -> None:
    never = replace(
        make_drift(A), confirmation={"statements": "x", "never_confirmed": {"answer/status": {"first": "2026-10-30"}}}
    )
    assert [
        period.never_confirmed
        for night in (never, make_drift(A))
        for period in find_drift_periods(build_history_rows([[night]]))
    ] == [
        True,
        False,
    ]


def test_a_period_names_the_one_that_it_replaced() -> None:
    was, now = find_drift_periods(build_history_rows([[make_drift(A)], [make_drift(A, 500)]]))
    assert (was.ending, now.replaced_ids) == (PeriodEnding.CHANGED, {was.id})


def test_one_of_two_differences_recovers_where_nothing_takes_its_place() -> None:
    absent = make_finding("header-missing", aspect=Aspect.HEADER, location="retry-after", label="limited")
    both = make_result(A, Outcome.DRIFTED, findings=(make_finding(), absent))
    periods = find_drift_periods(build_history_rows([[both], [make_drift(A)]]))
    assert {(period.code, str(period.ending or "")) for period in periods} == {
        ("header-missing", "recovered"),
        ("status-differs", ""),
    }


NO_VERDICT = [Outcome.INCONCLUSIVE, Outcome.RESTRICTED, Outcome.NOT_PROBED, Outcome.FLAKY, Outcome.HARNESS_ERROR]


@given(
    st.lists(st.sampled_from(["c", "x", "y"]), min_size=1, max_size=12),
    st.lists(st.tuples(st.integers(0, 12), st.sampled_from(NO_VERDICT)), max_size=6),
)
def test_nights_without_a_verdict_change_nothing(letters: list[str], between: list[tuple[int, Outcome]]) -> None:
    nights = [{"c": make_result(A), "x": make_drift(A), "y": make_drift(A, 500)}[letter] for letter in letters]
    expected = [
        (period.summary, period.ending)
        for period in find_drift_periods(build_history_rows([[night] for night in nights]))
    ]
    for position, outcome in between:
        nights.insert(position, make_result(A, outcome))
    assert [
        (period.summary, period.ending)
        for period in find_drift_periods(build_history_rows([[night] for night in nights]))
    ] == (expected)


def test_an_endpoint_that_is_not_drawn_neither_recovers_nor_changes() -> None:
    here, there = "pa/endpoints/messages/create", "pa/endpoints/messages/count"
    on_both = make_result(A, Outcome.DRIFTED, findings=(make_finding(endpoints=(here,)), missing_header(there)))
    not_there = make_result(A, Outcome.DRIFTED, findings=(make_finding(endpoints=(here,)),), not_drawn=(there,))
    neither = make_result(A, not_drawn=(here, there))
    open_periods = find_drift_periods(build_history_rows([[on_both], [not_there], [not_there], [neither]]))
    assert [period.ending for period in open_periods] == [None, None]
    ended_periods = find_drift_periods(
        build_history_rows([[on_both], [not_there], [not_there], [neither], [make_result(A)]])
    )
    assert [period.ending for period in ended_periods] == [PeriodEnding.RECOVERED, PeriodEnding.RECOVERED]


def missing_header(endpoint: str) -> Any:
    return make_finding("header-missing", aspect=Aspect.HEADER, location="retry-after", endpoints=(endpoint,))


OUTCOMES = st.sampled_from(["c", "x", "y", "i"])


@given(st.lists(st.fixed_dictionaries(dict.fromkeys((A, B, C), OUTCOMES)), min_size=1, max_size=8), st.randoms())
def test_shards_give_the_same_periods_merged_or_not(nights: list[dict[str, str]], dice: random.Random) -> None:
    complete: list[dict[str, Any]] = []
    merged: list[dict[str, Any]] = []
    unmerged: list[dict[str, Any]] = []
    for number, night in enumerate(nights):
        results = [make_result_for_letter(item, how) for item, how in night.items()]
        day = FIRST + timedelta(days=number)

        def make_night(name: str, lines_before: list[dict[str, Any]], second: int = 0, day: date = day) -> Any:
            started = f"{day}T04:00:{second:02}Z"
            return make_run(
                run=name, started_at=started, today=day.isoformat(), history=tuple(lines_before[-MAX_SHOWN_RUNS:])
            )

        complete.append(build_history_line(make_night(f"r{number}", complete), results))
        shards = [(make_night(f"s{number}{shard}", merged, shard), [results[shard]]) for shard in range(3)]
        dice.shuffle(shards)
        merged.append(build_history_line(*merge_runs(shards)))
        unmerged += [
            build_history_line(make_night(f"s{number}{shard}", unmerged, shard), [results[shard]]) for shard in range(3)
        ]
    dice.shuffle(unmerged)
    periods = [
        find_drift_periods(earlier_runs.parse_history_lines(lines))
        for lines in (complete, merged, unmerged, [*complete, *unmerged])
    ]
    assert periods[0] == periods[1] == periods[2] == periods[3]


def test_ids_outlive_the_nights_after_them() -> None:
    nights = [[make_drift(A)], [make_drift(A)], [make_result(A)], [make_drift(A, 409)]]
    ids = [{item.id for item in find_drift_periods(build_history_rows(nights[:number]))} for number in range(1, 5)]
    assert ids[0] == ids[1] == ids[2] < ids[3]


def test_a_drift_under_another_label_replaces_no_period() -> None:
    """Neither of what goes on beside it nor of what recovered: only what differed under its own label changed."""
    for is_seen in [False, True]:
        limited = make_finding(label="limited", documented=429, observed=400)
        was = make_finding()
        now = make_result(A, Outcome.DRIFTED, findings=(was, limited) if is_seen else (limited,))
        first, second = find_drift_periods(
            build_history_rows([[make_result(A, Outcome.DRIFTED, findings=(was,))], [now]])
        )
        assert (first.ending, second.ending) == (None if is_seen else PeriodEnding.RECOVERED, None)
        assert second.replaced_ids == set(), is_seen


def test_a_period_is_accepted_if_all_its_drifting_records_are() -> None:
    accepted, not_accepted = (
        replace(make_drift(address), accepted_difference={"state": "accounted", "reason": "known"})
        for address in (A, B)
    )
    for last, expected in (([accepted, make_result(B)], True), ([accepted, make_drift(B)], False)):
        [change] = find_drift_periods(build_history_rows([[accepted, not_accepted], last]))
        assert change.accepted is expected
