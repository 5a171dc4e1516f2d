"""A drift of what was once seen as documented is a regression; of what never was, it is pending for some days."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.check.fixing import fix_records
from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.evidence.verdicts.confirmation import (
    PENDING_DAYS,
    describe_confirmation,
    is_pending,
    list_never_confirmed,
    list_regressions,
    pending_until,
)
from catalog_probe.catalog.evidence.verdicts.merge import merge_runs
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import Outcome, Record
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.catalog.observed.confirmed import confirmed_keys, statement_digest, unconfirmed_since
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback.planner import Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.sightings import Sighting
from catalog_probe.reports.history.history_line import build_history_line
from tests.harness.exit_status import find_exit_status
from tests.unit.catalog.catalog_factories import (
    ERROR_ADDRESS,
    make_drift,
    make_record,
    make_run,
    make_small_catalog,
    write_catalog,
)

if TYPE_CHECKING:
    from catalog_probe.catalog.model.assertion import Assertion

FIRST = date(2026, 11, 1)
STATUS = "answer/status"
TYPE = "answer/type"


def stated(of: Record) -> tuple[Assertion, ...]:
    return assertions(of, lambda address: make_record(str(address)))


def looked_at(day: date, *otherwise: str, of: Record | None = None, live: bool = True) -> Sighting:
    """A night that saw all as stated, but what is named."""
    probed = of or make_record()
    keys = [assertion.key for assertion in stated(probed)]
    observation = Observation(
        "pa/endpoints/messages/create_message",
        "answer",
        tuple(key.local_key for key in keys if str(key) not in otherwise),
        {key.local_key: "403" for key in keys if str(key) in otherwise},
    )
    outcome = Outcome.DRIFTED if otherwise else Outcome.CONFORMS
    findings = tuple(make_drift(assertion=key) for key in otherwise)
    at = f"{day}T04:00:00.000Z"
    result = Result(
        str(probed.address), dict(probed.data), outcome, None, findings, (), at, observations=(observation,)
    )
    return Sighting(make_run(f"r{day}", day.isoformat(), live=live), result)


def written(start: Record, *nights: Sighting) -> Record:
    """The record after each night was written back."""
    for night in nights:
        probed = replace(night, result=replace(night.result, probed_record=start.data))
        planned = plan_patch(start, [probed], UpdatePolicy(), night.day, stated(start))
        start = planned.record if isinstance(planned, Patch) else start
    return start


def judged(
    of: Record,
    day: date,
    *keys: str,
    earlier: list[earlier_runs.HistoryRow] | None = None,
    pending_days: int = PENDING_DAYS,
) -> Result:
    """A drift of these assertions as a night judges it that knows the record."""
    result = looked_at(day, *keys, of=of).result
    return replace(result, confirmation=describe_confirmation(result, of, stated(of), earlier or [], day, pending_days))


def later(days: int) -> date:
    return FIRST + timedelta(days=days)


def test_a_new_user_s_first_night_is_told_and_not_red() -> None:
    result = judged(make_record(), FIRST, STATUS)
    assert is_pending(result)
    assert pending_until(result) == "2026-11-08"
    assert not run_verdict.is_failure(result)
    assert find_exit_status([result], "pa") is Exit.FINE


def test_it_waits_until_the_first_day_of_what_waits() -> None:
    never = {
        "a": {"first": "2026-10-01"},
        "b": {"first": "2026-11-01", "until": "2026-11-08"},
        "c": {"until": "2026-11-09"},
    }
    result = judged(make_record(), FIRST, STATUS)
    assert pending_until(replace(result, confirmation={"never_confirmed": never})) == "2026-11-08"
    assert (
        pending_until(replace(result, confirmation={"never_confirmed": {"a": never["a"]}}))
        == pending_until(replace(result, confirmation=None))
        == ""
    )


def test_who_is_strict_counts_it() -> None:
    result = judged(make_record(), FIRST, STATUS, pending_days=0)
    assert not is_pending(result)
    assert list_never_confirmed(result) == {STATUS: {"first": "2026-11-01"}}
    assert find_exit_status([result], "pa") is Exit.DRIFT


@pytest.mark.parametrize(("days", "waits"), [(0, True), (1, True), (6, True), (7, False), (30, False)])
@pytest.mark.parametrize("wrote", [True, False])
def test_it_is_red_when_its_days_ran_out_with_or_without_write_back(days: int, waits: bool, wrote: bool) -> None:
    """The record remembers the first look; where nobody writes back, the history does."""
    nights = [looked_at(later(number), STATUS) for number in range(days)]
    written_record = written(make_record(), *nights) if wrote else make_record()
    rows = [] if wrote else remembered(*(judged(written_record, later(number), STATUS) for number in range(days)))
    result = judged(written_record, later(days), STATUS, earlier=rows)
    assert is_pending(result) == waits
    assert run_verdict.is_failure(result) != waits


def remembered(*nights: Result, live: bool = True) -> list[earlier_runs.HistoryRow]:
    lines: list[Any] = []
    for number, result in enumerate(nights):
        described = replace(make_run(f"r{number}", later(number).isoformat(), live=live), history=tuple(lines))
        lines.append(build_history_line(described, [result]))
    return earlier_runs.parse_history_lines(lines)


def test_beyond_the_rows_that_a_run_carries_the_first_observation_is_still_known() -> None:
    nights = [judged(make_record(), FIRST, STATUS)]
    for number in range(1, 12):
        nights.append(judged(make_record(), later(number), STATUS, earlier=remembered(*nights)[-2:]))
    assert [is_pending(night) for night in nights] == [True] * 7 + [False] * 5


def test_what_was_once_seen_as_documented_is_a_regression_at_once() -> None:
    written_record = written(make_record(), looked_at(FIRST))
    result = judged(written_record, later(1), STATUS)
    assert list_regressions(result) == (STATUS,)
    assert run_verdict.is_failure(result)
    conformed = looked_at(FIRST).result
    history_rows = remembered(
        replace(
            conformed, confirmation=describe_confirmation(conformed, make_record(), stated(make_record()), [], FIRST)
        )
    )
    assert list_regressions(judged(make_record(), later(1), STATUS, earlier=history_rows)) == (STATUS,)


def test_a_night_that_saw_nothing_was_no_first_observation() -> None:
    lost = replace(looked_at(FIRST).result, outcome=Outcome.INCONCLUSIVE, observations=())
    rows = remembered(
        replace(lost, confirmation=describe_confirmation(lost, make_record(), stated(make_record()), [], FIRST))
    )
    result = judged(make_record(), later(3), STATUS, earlier=rows)
    assert list_never_confirmed(result)[STATUS]["first"] == later(3).isoformat()


def test_whatever_was_seen_it_says_which_statements_were_looked_at() -> None:
    confirmation = [
        describe_confirmation(sighting.result, make_record(), stated(make_record()), [], FIRST)
        for sighting in (looked_at(FIRST), looked_at(FIRST, STATUS))
    ]
    assert confirmation[0] == {"statements": confirmation[1]["statements"]}


def test_under_another_revision_its_own_history_alone_remembers() -> None:
    """What the record remembers was seen under the usual one."""
    written_record = written(make_record(), looked_at(FIRST))
    night = looked_at(later(1), STATUS, of=written_record).result
    confirmation = describe_confirmation(night, None, stated(written_record), [], later(1))
    assert confirmation["regressed"] == []
    assert confirmation["never_confirmed"] == {STATUS: {"first": "2026-11-02", "until": "2026-11-09"}}
    conformed = looked_at(FIRST).result
    own = remembered(
        replace(conformed, confirmation=describe_confirmation(conformed, None, stated(written_record), [], FIRST))
    )
    assert describe_confirmation(night, None, stated(written_record), own, later(1))["regressed"] == [STATUS]


def test_it_stays_a_regression_however_long_it_drifts() -> None:
    written_record = written(
        make_record(), looked_at(FIRST), *(looked_at(later(number), STATUS) for number in range(1, 20))
    )
    assert list_regressions(judged(written_record, later(20), STATUS)) == (STATUS,)


def test_each_assertion_is_weighed_by_itself() -> None:
    """A type that never agreed waits; the status beside it, which did, does not."""
    written_record = written(make_record(), looked_at(FIRST, TYPE))
    result = judged(written_record, later(1), STATUS, TYPE)
    assert list_regressions(result) == (STATUS,)
    assert list(list_never_confirmed(result)) == [TYPE]
    assert not is_pending(result)
    assert is_pending(judged(written_record, later(1), TYPE))


def test_an_edit_makes_pending_what_it_edits_and_nothing_else() -> None:
    written_record = written(make_record(), looked_at(FIRST))
    edited = Record(written_record.address, {**written_record.data, "http_status": 430})
    assert is_pending(judged(edited, later(30), STATUS))
    assert list_regressions(judged(edited, later(30), TYPE)) == (TYPE,)
    assert is_pending(judged(Record(edited.address, {**edited.data, "evidence": None}), later(30), TYPE))


def test_dropping_void_evidence_keeps_what_was_once_seen_to_hold(tmp_path_factory: pytest.TempPathFactory) -> None:
    written_record = written(make_record(), looked_at(FIRST, "answer/header:request-id"))
    content = make_small_catalog()
    content["pa/errors/general.json"]["rate_limit_error"] = {**written_record.data, "http_status": 430}
    root = write_catalog(tmp_path_factory.mktemp("records"), content)
    fix_records(root)
    after = Catalog.load(root)[ERROR_ADDRESS]
    assert after.data["evidence"]["endpoints"] == {}
    assert TYPE in confirmed_keys(after, stated(after))
    assert STATUS not in confirmed_keys(after, stated(after))
    assert unconfirmed_since(after, stated(after)) == {"answer/header:request-id": FIRST}


def test_a_mock_proves_nothing_and_nothing_there_is_remembered() -> None:
    night = looked_at(FIRST, live=False)
    written_record = written(make_record(), night)
    assert "confirmed" not in written_record.data.get("evidence", {})
    assert written(written_record, night) == written_record
    assert is_pending(judged(written_record, later(1), STATUS))
    conformed = looked_at(FIRST).result
    history_rows = remembered(replace(conformed, confirmation={"statements": "x"}), live=False)
    assert is_pending(judged(make_record(), later(1), STATUS, earlier=history_rows))


def test_an_edited_record_is_not_remembered_by_the_history_of_another() -> None:
    conformed = looked_at(FIRST).result
    history_rows = remembered(
        replace(
            conformed, confirmation=describe_confirmation(conformed, make_record(), stated(make_record()), [], FIRST)
        )
    )
    edited = make_record(http_status=430)
    assert is_pending(judged(edited, later(10), STATUS, earlier=history_rows))


@given(st.permutations(range(4)), st.lists(st.sets(st.sampled_from([STATUS, TYPE])), min_size=4, max_size=4))
def test_nights_merged_in_any_order_remember_the_same(order: list[int], mismatched_keys: list[set[str]]) -> None:
    nights = [looked_at(later(number), *sorted(keys)) for number, keys in enumerate(mismatched_keys)]
    written_evidence = set()
    for sightings in (nights, [nights[number] for number in order]):
        planned = plan_patch(make_record(), sightings, UpdatePolicy(), later(4), stated(make_record()))
        assert isinstance(planned, Patch)
        written_evidence.add(str(planned.record.data["evidence"]))
    assert len(written_evidence) == 1


def test_a_digest_names_one_statement() -> None:
    names = [statement_digest(assertion) for assertion in stated(make_record())]
    assert len(set(names)) == len(names)
    other = {statement_digest(assertion) for assertion in stated(make_record(http_status=430))}
    assert len(set(names) - other) == 1


def test_shards_merged_wait_no_longer_than_their_strictest() -> None:
    waiting, due = judged(make_record(), FIRST, STATUS), judged(make_record(), FIRST, STATUS, pending_days=0)
    shards: list[tuple[Run, list[Result]]] = [
        (make_run("a"), [waiting]),
        (make_run("b"), [replace(due, record="pa/errors/general/other")]),
    ]
    for order in permutations(shards):
        assert run_verdict.exit_status(*merge_runs(order)) is Exit.DRIFT
