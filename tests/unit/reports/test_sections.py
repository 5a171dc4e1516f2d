"""Every selected record is in one section, and the sentence names the worst."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.reports.content.advice import list_next_steps
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.run_sentence import format_sentence, format_tab_title
from catalog_probe.reports.content.sections import SectionName, list_query_words
from tests.unit.reports import sample
from tests.unit.reports.factories import make_finding, make_result, make_run
from tests.unit.reports.test_overview import make_run_after

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

A, B, C = "pa/errors/general/a", "pa/errors/general/b", "pc/errors/general/c"
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
    cases: list[tuple[Result, SectionName]] = [
        (make_drift(A, confirmation=REGRESSED), SectionName.REGRESSED),
        (make_drift(A, confirmation=NEVER), SectionName.NEVER),
        (make_drift(A, confirmation=PENDING), SectionName.PENDING),
        (make_drift(A), SectionName.NEW),
        (make_drift(A, accepted_difference={"state": "accounted"}), SectionName.ACCEPTED),
        (make_result(A, accepted_difference={"state": "stale"}), SectionName.STALE),
        (make_result(A, Outcome.FLAKY), SectionName.FLAKY),
        (make_result(A, Outcome.HARNESS_ERROR), SectionName.OURS),
        (make_result(A, Outcome.NOT_PROBED), SectionName.NOT_PROBED),
        (make_result(A), SectionName.CONFORMS),
    ]
    for result, name in cases:
        (section,) = Overview(make_run(), [result]).sections
        assert section.name is name, result
        assert str(name) in list_query_words(section.records[0]), result


def test_the_sections_of_a_run_stand_in_order_and_add_up() -> None:
    overview = Overview(*sample.make_full_run())
    assert [section.name for section in overview.sections] == sorted(
        (section.name for section in overview.sections), key=list(SectionName).index
    )
    assert sum(len(section.records) for section in overview.sections) == len(overview.records) == 418


def test_next_steps_are_in_the_order_of_the_sections() -> None:
    pending, regressed = make_drift(A, TYPE, confirmation=PENDING), make_drift(C, confirmation=REGRESSED)
    steps = list_next_steps(Overview(make_run(), [pending, make_result(B, Outcome.FLAKY), regressed]).records)
    assert [(step.code, step.addresses) for step in steps] == [("status-differs", (C,)), ("type-differs", (A,))]


def test_the_state_in_one_sentence() -> None:
    cases: list[tuple[list[Result], str, str]] = [
        ([make_result(A)], "All that was observed is as documented.", "as documented"),
        (
            [make_drift(A), make_drift(B), make_drift(C)],
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


BEFORE = {A: Outcome.DRIFTED, C: Outcome.DRIFTED}


def test_ongoing_drifts_are_counted_with_new_ones() -> None:
    cases: list[tuple[list[Result], str]] = [
        (
            [make_drift(A), make_drift(C), make_drift(B)],
            "PA and PC drift: 1 new cause behind 1 record, 2 known behind 2.",
        ),
        ([make_drift(C), make_drift(B)], "PA and PC drift: 1 new cause behind 1 record, 1 known behind 1."),
        ([make_drift(A), make_drift(C)], "Nothing new drifts, and 2 known causes behind 2 records go on."),
        (
            [make_drift(A), make_result(B, Outcome.FLAKY)],
            "Nothing new drifts, 1 record of PA is flaky, and 1 known cause behind 1 record goes on.",
        ),
    ]
    for results, sentence in cases:
        assert format_sentence(Overview(make_run_after(BEFORE), results)) == sentence


def test_a_blind_provider_comes_first() -> None:
    unseen = make_result(C, Outcome.INCONCLUSIVE, reason=Reason("read-timeout"), probed_record={})
    overview = Overview(make_run(expected=("pa", "pc")), [make_drift(A), unseen])
    assert format_sentence(overview) == (
        "PC was not observed: no record has a verdict (read-timeout); PA drifts: 1 new cause behind 1 record."
    )
    assert format_tab_title(overview) == "PC blind"


def test_an_account_without_credit_comes_first() -> None:
    unpaid = make_result(C, Outcome.INCONCLUSIVE, reason=Reason("no-credit", "HTTP 402"), probed_record={})
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
