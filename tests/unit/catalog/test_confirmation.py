"""A drift is a regression if the assertion was confirmed before, and pending for some days if not."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from itertools import permutations
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.check.fixing import fix_records
from catalog_probe.catalog.evidence import earlier_runs, run_verdict
from catalog_probe.catalog.evidence.earlier_runs import (
    PENDING_DAYS,
    describe_confirmation,
    is_pending,
    list_never_confirmed,
    list_regressions,
    pending_until,
)
from catalog_probe.catalog.evidence.merge import merge_runs
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.files.store import Catalog
from catalog_probe.catalog.model import Outcome, Record
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.observed import confirmed_keys, statement_digest, unconfirmed_since
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback.planner import Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.record_evidence import Sighting
from catalog_probe.reports.history import build_history_line
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
    import pytest

    from catalog_probe.catalog.model.assertion import Assertion

FIRST = date(2026, 11, 1)
STATUS = "answer/status"
TYPE = "answer/type"


def list_assertions(record: Record) -> tuple[Assertion, ...]:
    return assertions(record, lambda address: make_record(str(address)))


def make_night(day: date, *mismatched_keys: str, record: Record | None = None, live: bool = True) -> Sighting:
    """A night that saw all as stated, but what is named."""
    probed = record or make_record()
    keys = [assertion.key for assertion in list_assertions(probed)]
    observation = Observation(
        "pa/endpoints/messages/create_message",
        "answer",
        tuple(key.local_key for key in keys if str(key) not in mismatched_keys),
        {key.local_key: "403" for key in keys if str(key) in mismatched_keys},
    )
    outcome = Outcome.DRIFTED if mismatched_keys else Outcome.CONFORMS
    findings = tuple(make_drift(assertion=key) for key in mismatched_keys)
    at = f"{day}T04:00:00.000Z"
    result = Result(
        str(probed.address), dict(probed.data), outcome, None, findings, (), at, observations=(observation,)
    )
    return Sighting(make_run(f"r{day}", day.isoformat(), live=live), result)


def write_back(record: Record, *nights: Sighting) -> Record:
    """The record after each night was written back."""
    for night in nights:
        probed = replace(night, result=replace(night.result, probed_record=record.data))
        planned = plan_patch(record, [probed], UpdatePolicy(), night.day, list_assertions(record))
        record = planned.record if isinstance(planned, Patch) else record
    return record


def judge_drift(
    record: Record,
    day: date,
    *keys: str,
    earlier: list[earlier_runs.HistoryRow] | None = None,
    pending_days: int = PENDING_DAYS,
) -> Result:
    """A drift of these assertions as a night judges it that knows the record."""
    result = make_night(day, *keys, record=record).result
    return replace(
        result,
        confirmation=describe_confirmation(result, record, list_assertions(record), earlier or [], day, pending_days),
    )


def days_later(days: int) -> date:
    return FIRST + timedelta(days=days)


def test_a_drift_on_the_first_night_is_pending() -> None:
    result = judge_drift(make_record(), FIRST, STATUS)
    assert is_pending(result)
    assert pending_until(result) == "2026-11-08"
    assert not run_verdict.is_failure(result)
    assert find_exit_status([result], "pa") is Exit.FINE


def test_a_result_is_pending_until_its_earliest_pending_day() -> None:
    never = {
        "a": {"first": "2026-10-01"},
        "b": {"first": "2026-11-01", "until": "2026-11-08"},
        "c": {"until": "2026-11-09"},
    }
    result = judge_drift(make_record(), FIRST, STATUS)
    assert pending_until(replace(result, confirmation={"never_confirmed": never})) == "2026-11-08"
    assert (
        pending_until(replace(result, confirmation={"never_confirmed": {"a": never["a"]}}))
        == pending_until(replace(result, confirmation=None))
        == ""
    )


def test_without_pending_days_a_first_drift_counts() -> None:
    result = judge_drift(make_record(), FIRST, STATUS, pending_days=0)
    assert not is_pending(result)
    assert list_never_confirmed(result) == {STATUS: {"first": "2026-11-01"}}
    assert find_exit_status([result], "pa") is Exit.DRIFT


def test_it_is_red_when_its_days_ran_out_with_or_without_write_back() -> None:
    """The record remembers the first look; where nobody writes back, the history does."""
    days_cases: list[tuple[int, bool]] = [(0, True), (1, True), (6, True), (7, False), (30, False)]
    for wrote in [True, False]:
        for days, waits in days_cases:
            nights = [make_night(days_later(number), STATUS) for number in range(days)]
            written_record = write_back(make_record(), *nights) if wrote else make_record()
            rows = (
                []
                if wrote
                else make_history_rows(
                    *(judge_drift(written_record, days_later(number), STATUS) for number in range(days))
                )
            )
            result = judge_drift(written_record, days_later(days), STATUS, earlier=rows)
            assert is_pending(result) == waits, wrote
            assert run_verdict.is_failure(result) != waits, wrote


def make_history_rows(*nights: Result, live: bool = True) -> list[earlier_runs.HistoryRow]:
    lines: list[Any] = []
    for number, result in enumerate(nights):
        described = replace(make_run(f"r{number}", days_later(number).isoformat(), live=live), history=tuple(lines))
        lines.append(build_history_line(described, [result]))
    return earlier_runs.parse_history_lines(lines)


def test_the_first_observation_outlives_the_rows_of_a_run() -> None:
    nights = [judge_drift(make_record(), FIRST, STATUS)]
    for number in range(1, 12):
        nights.append(judge_drift(make_record(), days_later(number), STATUS, earlier=make_history_rows(*nights)[-2:]))
    assert [is_pending(night) for night in nights] == [True] * 7 + [False] * 5


def test_a_confirmed_assertion_that_drifts_is_a_regression_at_once() -> None:
    written_record = write_back(make_record(), make_night(FIRST))
    result = judge_drift(written_record, days_later(1), STATUS)
    assert list_regressions(result) == (STATUS,)
    assert run_verdict.is_failure(result)
    conformed = make_night(FIRST).result
    history_rows = make_history_rows(
        replace(
            conformed,
            confirmation=describe_confirmation(conformed, make_record(), list_assertions(make_record()), [], FIRST),
        )
    )
    assert list_regressions(judge_drift(make_record(), days_later(1), STATUS, earlier=history_rows)) == (STATUS,)


def test_a_night_that_saw_nothing_was_no_first_observation() -> None:
    lost = replace(make_night(FIRST).result, outcome=Outcome.INCONCLUSIVE, observations=())
    rows = make_history_rows(
        replace(
            lost, confirmation=describe_confirmation(lost, make_record(), list_assertions(make_record()), [], FIRST)
        )
    )
    result = judge_drift(make_record(), days_later(3), STATUS, earlier=rows)
    assert list_never_confirmed(result)[STATUS]["first"] == days_later(3).isoformat()


def test_confirmation_lists_the_observed_statements() -> None:
    confirmation = [
        describe_confirmation(sighting.result, make_record(), list_assertions(make_record()), [], FIRST)
        for sighting in (make_night(FIRST), make_night(FIRST, STATUS))
    ]
    assert confirmation[0] == {"statements": confirmation[1]["statements"]}


def test_under_another_revision_its_own_history_alone_remembers() -> None:
    """What the record remembers was seen under the usual one."""
    written_record = write_back(make_record(), make_night(FIRST))
    night = make_night(days_later(1), STATUS, record=written_record).result
    confirmation = describe_confirmation(night, None, list_assertions(written_record), [], days_later(1))
    assert confirmation["regressed"] == []
    assert confirmation["never_confirmed"] == {STATUS: {"first": "2026-11-02", "until": "2026-11-09"}}
    conformed = make_night(FIRST).result
    own = make_history_rows(
        replace(
            conformed, confirmation=describe_confirmation(conformed, None, list_assertions(written_record), [], FIRST)
        )
    )
    assert describe_confirmation(night, None, list_assertions(written_record), own, days_later(1))["regressed"] == [
        STATUS
    ]


def test_it_stays_a_regression_however_long_it_drifts() -> None:
    written_record = write_back(
        make_record(), make_night(FIRST), *(make_night(days_later(number), STATUS) for number in range(1, 20))
    )
    assert list_regressions(judge_drift(written_record, days_later(20), STATUS)) == (STATUS,)


def test_each_assertion_is_weighed_by_itself() -> None:
    """A type that never agreed waits; the status beside it, which did, does not."""
    written_record = write_back(make_record(), make_night(FIRST, TYPE))
    result = judge_drift(written_record, days_later(1), STATUS, TYPE)
    assert list_regressions(result) == (STATUS,)
    assert list(list_never_confirmed(result)) == [TYPE]
    assert not is_pending(result)
    assert is_pending(judge_drift(written_record, days_later(1), TYPE))


def test_an_edit_makes_only_the_edited_assertion_pending() -> None:
    written_record = write_back(make_record(), make_night(FIRST))
    edited = Record(written_record.address, {**written_record.data, "http_status": 430})
    assert is_pending(judge_drift(edited, days_later(30), STATUS))
    assert list_regressions(judge_drift(edited, days_later(30), TYPE)) == (TYPE,)
    assert is_pending(judge_drift(Record(edited.address, {**edited.data, "evidence": None}), days_later(30), TYPE))


def test_removing_void_evidence_keeps_confirmations(tmp_path_factory: pytest.TempPathFactory) -> None:
    written_record = write_back(make_record(), make_night(FIRST, "answer/header:request-id"))
    content = make_small_catalog()
    content["pa/errors/general.json"]["rate_limit_error"] = {**written_record.data, "http_status": 430}
    root = write_catalog(tmp_path_factory.mktemp("records"), content)
    fix_records(root)
    after = Catalog.load(root)[ERROR_ADDRESS]
    assert after.data["evidence"]["endpoints"] == {}
    assert TYPE in confirmed_keys(after, list_assertions(after))
    assert STATUS not in confirmed_keys(after, list_assertions(after))
    assert unconfirmed_since(after, list_assertions(after)) == {"answer/header:request-id": FIRST}


def test_a_mock_proves_nothing_and_nothing_there_is_remembered() -> None:
    night = make_night(FIRST, live=False)
    written_record = write_back(make_record(), night)
    assert "confirmed" not in written_record.data.get("evidence", {})
    assert write_back(written_record, night) == written_record
    assert is_pending(judge_drift(written_record, days_later(1), STATUS))
    conformed = make_night(FIRST).result
    history_rows = make_history_rows(replace(conformed, confirmation={"statements": "x"}), live=False)
    assert is_pending(judge_drift(make_record(), days_later(1), STATUS, earlier=history_rows))


def test_an_edited_record_is_not_remembered_by_the_history_of_another() -> None:
    conformed = make_night(FIRST).result
    history_rows = make_history_rows(
        replace(
            conformed,
            confirmation=describe_confirmation(conformed, make_record(), list_assertions(make_record()), [], FIRST),
        )
    )
    edited = make_record(http_status=430)
    assert is_pending(judge_drift(edited, days_later(10), STATUS, earlier=history_rows))


@given(st.permutations(range(4)), st.lists(st.sets(st.sampled_from([STATUS, TYPE])), min_size=4, max_size=4))
def test_nights_merged_in_any_order_remember_the_same(order: list[int], mismatched_keys: list[set[str]]) -> None:
    nights = [make_night(days_later(number), *sorted(keys)) for number, keys in enumerate(mismatched_keys)]
    written_evidence = set()
    for sightings in (nights, [nights[number] for number in order]):
        planned = plan_patch(make_record(), sightings, UpdatePolicy(), days_later(4), list_assertions(make_record()))
        assert isinstance(planned, Patch)
        written_evidence.add(str(planned.record.data["evidence"]))
    assert len(written_evidence) == 1


def test_a_digest_names_one_statement() -> None:
    names = [statement_digest(assertion) for assertion in list_assertions(make_record())]
    assert len(set(names)) == len(names)
    other_digests = {statement_digest(assertion) for assertion in list_assertions(make_record(http_status=430))}
    assert len(set(names) - other_digests) == 1


def test_shards_merged_wait_no_longer_than_their_strictest() -> None:
    waiting, due = judge_drift(make_record(), FIRST, STATUS), judge_drift(make_record(), FIRST, STATUS, pending_days=0)
    shards: list[tuple[Run, list[Result]]] = [
        (make_run("a"), [waiting]),
        (make_run("b"), [replace(due, record="pa/errors/general/other")]),
    ]
    for order in permutations(shards):
        assert run_verdict.exit_status(*merge_runs(order)) is Exit.DRIFT
