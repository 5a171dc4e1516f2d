"""The overview of a run: how each record compares with earlier runs, its section, and the state in a sentence."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.evidence.changes import OPTIONAL_HEADER_ABSENT
from catalog_probe.catalog.model import Outcome, Reason, Severity
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.model.exchange import AnsweredBy
from catalog_probe.catalog.model.record_states import RecordState
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.reasons import list_next_steps
from catalog_probe.reports.content.records import list_query_words
from catalog_probe.reports.content.run_sentence import format_sentence, format_tab_title, format_verdict
from catalog_probe.reports.history import build_history_line
from tests.unit.reports import sample
from tests.unit.reports.factories import TODAY, make_finding, make_record_data, make_result, make_run

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result, Run

A, B, C = "pa/errors/general/a", "pa/errors/general/b", "pb/errors/http/c"
LIMITS = "pa/rate_limits/limits/a"
DRIFT: dict[str, Any] = {"outcome": Outcome.DRIFTED, "findings": (make_finding(),)}


def make_run_after(*days: dict[str, Outcome]) -> Run:
    """A run after these: each a mapping of address to outcome, the last of them yesterday."""
    lines: list[dict[str, Any]] = []
    for back, outcomes in zip(range(len(days), 0, -1), days, strict=True):
        day = TODAY - timedelta(days=back)
        earlier = make_run(run=f"r-{back}", started_at=f"{day}T00:00:00Z", today=str(day), history=tuple(lines))
        results = [
            make_result(address, outcome, findings=(make_finding(),) if outcome is Outcome.DRIFTED else ())
            for address, outcome in outcomes.items()
        ]
        lines.append(build_history_line(earlier, results))
    return make_run(history=tuple(lines), previous_run="r-1" if days else None)


def find_state(run: Run, *results: Result) -> RecordState:
    return Overview(run, results).records[0].state


def test_a_change_is_relative_to_the_last_conclusive_run() -> None:
    cases: list[tuple[list[Outcome], Outcome, RecordState]] = [
        ([], Outcome.DRIFTED, RecordState.NEW_DRIFT),
        ([Outcome.CONFORMS], Outcome.DRIFTED, RecordState.NEW_DRIFT),
        ([Outcome.DRIFTED], Outcome.DRIFTED, RecordState.STILL_DRIFTING),
        ([Outcome.DRIFTED, Outcome.INCONCLUSIVE], Outcome.DRIFTED, RecordState.STILL_DRIFTING),
        ([Outcome.DRIFTED], Outcome.CONFORMS, RecordState.FIXED),
        ([Outcome.DRIFTED, Outcome.INCONCLUSIVE], Outcome.CONFORMS, RecordState.FIXED),
        ([Outcome.CONFORMS], Outcome.CONFORMS, RecordState.CONFORMS),
        ([Outcome.CONFORMS], Outcome.INCONCLUSIVE, RecordState.COVERAGE_LOST),
        ([Outcome.DRIFTED, Outcome.INCONCLUSIVE], Outcome.RESTRICTED, RecordState.COVERAGE_LOST),
        ([Outcome.INCONCLUSIVE], Outcome.INCONCLUSIVE, RecordState.INCONCLUSIVE),
        ([Outcome.INCONCLUSIVE], Outcome.RESTRICTED, RecordState.RESTRICTED),
        ([Outcome.CONFORMS], Outcome.FLAKY, RecordState.FLAKY),
        ([Outcome.CONFORMS], Outcome.HARNESS_ERROR, RecordState.OUR_FAULT),
        ([Outcome.CONFORMS], Outcome.NOT_PROBED, RecordState.NOT_PROBED),
    ]
    for before, now, change in cases:
        findings = (make_finding(),) if now is Outcome.DRIFTED else ()
        assert (
            find_state(make_run_after(*({A: outcome} for outcome in before)), make_result(A, now, findings=findings))
            is change
        )


def test_a_different_drift_is_a_change() -> None:
    other_finding = make_finding("type-differs", location="type")
    assert (
        find_state(make_run_after({A: Outcome.DRIFTED}), make_result(A, Outcome.DRIFTED, findings=(other_finding,)))
        is RecordState.CHANGED
    )


def test_a_difference_is_accepted_or_its_entry_is_stale() -> None:
    assert (
        find_state(make_run(), make_result(A, **DRIFT, accepted_difference={"state": "accounted"}))
        is RecordState.ACCEPTED
    )
    assert find_state(make_run(), make_result(A, accepted_difference={"state": "stale"})) is RecordState.STALE


def test_the_days_of_a_drift_are_counted_from_its_first() -> None:
    described = make_run_after({A: Outcome.CONFORMS}, {A: Outcome.DRIFTED}, {A: Outcome.INCONCLUSIVE})
    (record,) = Overview(described, [make_result(A, **DRIFT)]).records
    assert (record.since, record.drift_day) == (TODAY - timedelta(days=2), 3)
    assert record.conformed_before == str(TODAY - timedelta(days=3))


def test_the_strip_has_a_place_for_each_run() -> None:
    described = make_run_after({B: Outcome.CONFORMS}, {A: Outcome.DRIFTED})
    (record,) = Overview(described, [make_result(A)]).records
    assert record.recent_outcomes == (None, Outcome.DRIFTED, Outcome.CONFORMS)
    assert not record.added


def test_the_verdict_compares_with_the_runs_before() -> None:
    described = make_run_after(dict.fromkeys((A, B, C), Outcome.CONFORMS), {A: Outcome.CONFORMS, B: Outcome.DRIFTED})
    unseen = make_result(C, Outcome.INCONCLUSIVE, reason=Reason("read-timeout"), probed_record={})
    results = [make_result(A, **DRIFT), make_result(B), unseen, make_result("pb/errors/http/d")]
    overview = Overview(replace(described, expected=("pa", "pb")), results)
    assert format_verdict(overview) == (
        "PB was observed only in part: 1 of 2 probes are inconclusive (read-timeout); PA drifts: 1 new cause behind "
        "1 record. "
        "3 of 4 records that your keys reach were observed, oldest evidence 2 days."
    )
    assert [record.address for record in overview.added_records] == ["pb/errors/http/d"]


def test_out_of_reach_assertions_are_counted_only_on_the_mock() -> None:
    results = [make_result(A, reach="one key"), make_result(B, reach="mock only"), make_result(C, reach="traffic only")]
    on_mock = Overview(make_run(live=False), results)
    assert on_mock.coverage == "3 of 3 conform on the mock"
    assert on_mock.evidence_note.startswith("2 of what conforms no client's request can check")
    assert not Overview(make_run(live=False), results[:1]).evidence_note
    assert Overview(make_run(live=False), results[:1]).coverage == "1 of 1 conform on the mock"
    recorded = make_run(live=False, answered_by=AnsweredBy.RECORDING)
    assert Overview(recorded, results).coverage == "3 of 3 conform in the recording"
    compatible = make_run(answered_by=AnsweredBy.COMPATIBLE)
    assert Overview(compatible, results).coverage == "3 of 3 conform on this server"


def test_a_live_run_counts_what_is_verified_by_reach() -> None:
    silent = make_result(LIMITS, Outcome.NOT_PROBED, reach="more", probed_record={})
    unseen = make_result(B, Outcome.INCONCLUSIVE, reason=Reason("read-timeout"), reach="one key", probed_record={})
    results = [make_result(A, reach="one key"), unseen, silent]
    overview = Overview(make_run(), results)
    assert overview.coverage == "1 of 2 records that your keys reach was observed, oldest evidence today"
    assert overview.evidence_note == "1 of 3 verified (1 of 2 one key, 0 of 1 more)"


def test_a_night_that_could_not_look_is_never_good() -> None:
    unseen = make_result(A, Outcome.INCONCLUSIVE, reason=Reason("connect-refused"))
    assert Overview(make_run(), [unseen]).mood == "warn"
    assert Overview(make_run(), [make_result(A, Outcome.NOT_PROBED)]).mood == "warn"
    assert Overview(make_run(), [make_result(A, **DRIFT)]).mood == "bad"
    assert Overview(make_run(), [make_result(A)]).mood == "good"


def test_an_unobserved_record_counts_by_its_evidence() -> None:
    cases: list[tuple[Run, str, dict[str, Any], date | None]] = [
        (make_run(), A, {}, date(2026, 11, 16)),
        (make_run(), "pa/endpoints/messages/a", {}, date(2026, 11, 16)),
        (make_run(), LIMITS, {"observed_for_this_key": {"verified_at": "2026-11-12"}}, date(2026, 11, 12)),
        (make_run(), LIMITS, {}, None),
        (make_run(), A, {"status": ["DOCUMENTED"]}, None),
        (make_run(live=False), A, {}, None),
        (make_run_after({A: Outcome.CONFORMS}), A, {}, TODAY - timedelta(days=1)),
    ]
    for described, address, fields, evidence in cases:
        unseen = make_result(address, Outcome.NOT_PROBED, probed_record=make_record_data(address, **fields))
        (standing,) = Overview(described, [unseen]).records
        assert standing.age == (None if evidence is None else (TODAY - evidence).days), (described, address, fields)
        assert standing.verified == (evidence is not None), (described, address, fields)


def test_a_discovery_is_new_once() -> None:
    discovery = make_finding("undocumented-header", location="x-new")
    assert Overview(make_run(), [make_result(A, findings=(discovery,))]).discoveries == (
        "pa undocumented-header x-new",
    )
    line = build_history_line(make_run(), [make_result(A, findings=(discovery,))])
    assert Overview(make_run(history=(line,)), [make_result(A, findings=(discovery,))]).discoveries == ()


def test_a_corrected_assumption_is_new_once() -> None:
    corrected = make_finding(
        severity=Severity.SHOULD, label="success", documented=200, observed=201, assertion="success/status"
    )
    night = [make_result(A, findings=(corrected,))]
    first = Overview(make_run(expected=()), night)
    assert first.resolved_assumptions == (f"pa status: assumed 200, observed 201: {A}",)
    assert first.has_news
    assert first.mood == "good"
    another_server = make_run(expected=(), answered_by=AnsweredBy.COMPATIBLE)
    assert Overview(another_server, night).resolved_assumptions == (), "it says nothing of the provider"
    second = Overview(make_run(expected=(), history=(build_history_line(make_run(), night),)), night)
    assert second.resolved_assumptions == ()
    assert not second.has_news
    unsure = make_result(
        A, Outcome.INCONCLUSIVE, findings=(corrected,)
    )  # nothing of it is written down: it waits for a verdict
    assert Overview(make_run(expected=()), [unsure]).resolved_assumptions == ()


def test_partly_verified_records_are_counted() -> None:
    """A cell that nothing could be learnt of, or a label that nobody asked; not one that another endpoint showed."""
    matched, unseen = (
        Observation("e", "answer", ("status",)),
        Observation("f", "answer", (), {}, {"status": "gateway-page"}),
    )
    left_out = replace(matched, not_observed={"header:retry-after": OPTIONAL_HEADER_ABSENT})
    results = [make_result(A, observations=(matched, unseen)), make_result(B, observations=(left_out,))]
    assert Overview(make_run(), results).evidence_note == "2 of 2 verified"
    partly = [
        make_result(A, observations=(unseen,)),
        make_result(B, findings=(make_finding("not-observed", severity=Severity.INFO),)),
    ]
    note = "2 of 2 verified, 2 of them in part: 1 of their 2 steps were sent"
    assert Overview(make_run(), partly).evidence_note == note


def test_a_stale_accepted_difference_comes_before_lost_coverage_because_it_fails_the_run() -> None:
    detail = "the accepted difference was to be reviewed by 2026-11-01"
    blind = make_result(
        A, Outcome.INCONCLUSIVE, reason=Reason("read-timeout"), accepted_difference={"state": "stale", "detail": detail}
    )
    overview = Overview(make_run_after({A: Outcome.CONFORMS}), [blind])
    assert overview.records[0].state is RecordState.STALE
    assert "1 accepted difference is stale" in format_verdict(overview)
    assert find_state(make_run_after(), blind) is RecordState.STALE


OF_PC = "pc/errors/general/c"
TYPE = make_finding("type-differs", location="type")
REGRESSED = {"statements": "1", "regressed": ["answer/status"], "never_confirmed": {}}
NEVER = {"statements": "1", "regressed": [], "never_confirmed": {"answer/status": {"first": "2026-11-01"}}}
PENDING = {
    "statements": "1",
    "regressed": [],
    "never_confirmed": {"answer/status": {"first": "2026-11-20", "until": "2026-11-27"}},
}


def make_drift(address: str, *findings: Any, **changes: Any) -> Result:
    return make_result(address, Outcome.DRIFTED, findings=findings or (make_finding(),), **changes)


def test_the_section_of_a_record() -> None:
    cases: list[tuple[Result, RecordState]] = [
        (make_drift(A, confirmation=REGRESSED), RecordState.REGRESSED),
        (make_drift(A, confirmation=NEVER), RecordState.NEVER_CONFIRMED),
        (make_drift(A, confirmation=PENDING), RecordState.PENDING),
        (make_drift(A), RecordState.NEW_DRIFT),
        (make_drift(A, accepted_difference={"state": "accounted"}), RecordState.ACCEPTED),
        (make_result(A, accepted_difference={"state": "stale"}), RecordState.STALE),
        (make_result(A, Outcome.FLAKY), RecordState.FLAKY),
        (make_result(A, Outcome.HARNESS_ERROR), RecordState.OUR_FAULT),
        (make_result(A, Outcome.NOT_PROBED), RecordState.NOT_PROBED),
        (make_result(A), RecordState.CONFORMS),
    ]
    for result, name in cases:
        (section,) = Overview(make_run(), [result]).sections
        assert section.name is name, result
        assert str(name) in list_query_words(section.records[0]), result


def test_the_sections_of_a_run_stand_in_order_and_add_up() -> None:
    overview = Overview(*sample.make_full_run())
    assert [section.name for section in overview.sections] == sorted(
        (section.name for section in overview.sections), key=list(RecordState).index
    )
    assert sum(len(section.records) for section in overview.sections) == len(overview.records) == 418


def test_next_steps_are_in_the_order_of_the_sections() -> None:
    pending, regressed = make_drift(A, TYPE, confirmation=PENDING), make_drift(OF_PC, confirmation=REGRESSED)
    steps = list_next_steps(
        make_run(), Overview(make_run(), [pending, make_result(B, Outcome.FLAKY), regressed]).records
    )
    assert [(step.code, step.addresses) for step in steps] == [("status-differs", (OF_PC,)), ("type-differs", (A,))]


def test_the_state_in_one_sentence() -> None:
    cases: list[tuple[list[Result], str, str]] = [
        ([make_result(A)], "All that was observed is as documented.", "as documented"),
        (
            [make_drift(A), make_drift(B), make_drift(OF_PC)],
            "PA and PC drift: 2 new causes behind 3 records.",
            "2 new causes",
        ),
        ([make_drift(A, make_finding(), TYPE)], "PA drifts: 2 new causes behind 1 record.", "2 new causes"),
        (
            [make_result(A), make_result(B, Outcome.FLAKY)],
            "Nothing new drifts, and 1 record of PA is flaky.",
            "1 flaky",
        ),
        (
            [make_result(A), make_drift(B, confirmation=PENDING)],
            "1 cause is pending, never confirmed.",
            "pending",
        ),
        (
            [make_result(A), make_drift(B, accepted_difference={"state": "accounted"})],
            "All that was observed is as documented, or accepted.",
            "as documented",
        ),
        ([make_result(A, Outcome.HARNESS_ERROR)], "The probe itself failed in 1 place.", "our fault"),
        (
            [
                *(make_result(f"{A}{number}") for number in range(9)),
                make_result(B, Outcome.INCONCLUSIVE, probed_record={}),
            ],
            "Nothing that was seen drifts, and 1 record of PA is inconclusive.",
            "inconclusive",
        ),
        (
            [
                *(make_result(f"{A}{number}") for number in range(9)),
                make_result(
                    B, Outcome.INCONCLUSIVE, reason=Reason("value-not-found", "set PA_SMALL_MODEL"), probed_record={}
                ),
            ],
            "Nothing that was seen drifts, and 1 record of PA is inconclusive (value-not-found).",
            "inconclusive",
        ),
        ([make_result(A, Outcome.NOT_PROBED)], "Nothing could be judged.", "nothing judged"),
        ([], "Nothing was probed.", "nothing judged"),
    ]
    for results, sentence, tab in cases:
        overview = Overview(make_run(expected=()), results)
        assert format_sentence(overview) == sentence, results
        assert format_tab_title(overview) == tab, results


BEFORE = {A: Outcome.DRIFTED, OF_PC: Outcome.DRIFTED}


def test_ongoing_drifts_are_counted_with_new_ones() -> None:
    cases: list[tuple[list[Result], str]] = [
        (
            [make_drift(A), make_drift(OF_PC), make_drift(B)],
            "PA and PC drift: 1 new cause behind 1 record, 2 known behind 2.",
        ),
        ([make_drift(OF_PC), make_drift(B)], "PA and PC drift: 1 new cause behind 1 record, 1 known behind 1."),
        ([make_drift(A), make_drift(OF_PC)], "Nothing new drifts, and 2 known causes behind 2 records go on."),
        (
            [make_drift(A), make_result(B, Outcome.FLAKY)],
            "Nothing new drifts, 1 record of PA is flaky, and 1 known cause behind 1 record goes on.",
        ),
    ]
    for results, sentence in cases:
        assert format_sentence(Overview(make_run_after(BEFORE), results)) == sentence


def test_a_blind_provider_comes_first() -> None:
    unseen = make_result(OF_PC, Outcome.INCONCLUSIVE, reason=Reason("read-timeout"), probed_record={})
    overview = Overview(make_run(expected=("pa", "pc")), [make_drift(A), unseen])
    assert format_sentence(overview) == (
        "PC was not observed: no record has a verdict (read-timeout); PA drifts: 1 new cause behind 1 record."
    )
    assert format_tab_title(overview) == "PC blind"


def test_an_account_without_credit_comes_first() -> None:
    unpaid = make_result(OF_PC, Outcome.INCONCLUSIVE, reason=Reason("no-credit", "HTTP 402"), probed_record={})
    assert format_sentence(Overview(make_run(), [unpaid])) == (
        "The account of PC has no credit; PC was not observed: no record has a verdict (no-credit)."
    )


def test_a_partly_observed_provider_is_not_unobserved() -> None:
    timeout = Reason("read-timeout")
    unseen = [
        make_result(f"{provider}/errors/general/x", Outcome.INCONCLUSIVE, reason=timeout, probed_record={})
        for provider in ("pa", "pc")
    ]
    overview = Overview(make_run(expected=("pa", "pc")), [make_result(A), *unseen])
    assert format_sentence(overview, reasons=False) == (
        "PA was observed only in part, and PC was not observed; nothing that was seen drifts."
    )


def test_no_sentence_is_a_list() -> None:
    overview = Overview(*sample.make_full_run())
    assert len(format_sentence(overview)) < 120
    assert len(format_tab_title(overview)) < 30
