"""Every selected record stands in one section, and the sentence says what is gravest, never a list of counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.reports.content.advice import steps
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.sections import Name, words_of
from catalog_probe.reports.content.sentence import sentence, title
from tests.unit.reports import sample
from tests.unit.reports.making import finding, result, run
from tests.unit.reports.test_overview import past

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result

A, B, C = "pa/errors/general/a", "pa/errors/general/b", "pc/errors/general/c"
TYPE = finding("type-differs", location="type")
REGRESSED = {"statements": "1", "regressed": ["answer/status"], "never_confirmed": {}}
NEVER = {"statements": "1", "regressed": [], "never_confirmed": {"answer/status": {"first": "2026-11-01"}}}
PENDING = {
    "statements": "1",
    "regressed": [],
    "never_confirmed": {"answer/status": {"first": "2026-11-20", "until": "2026-11-27"}},
}


def drifted(address: str, *findings: Any, **changes: Any) -> Result:
    return result(address, Outcome.DRIFTED, findings=findings or (finding(),), **changes)


@pytest.mark.parametrize(
    ("seen", "name"),
    [
        (drifted(A, confirmation=REGRESSED), Name.REGRESSED),
        (drifted(A, confirmation=NEVER), Name.NEVER),
        (drifted(A, confirmation=PENDING), Name.PENDING),
        (drifted(A), Name.NEW),
        (drifted(A, accepted_difference={"state": "accounted"}), Name.ACCEPTED),
        (result(A, accepted_difference={"state": "stale"}), Name.STALE),
        (result(A, Outcome.FLAKY), Name.FLAKY),
        (result(A, Outcome.HARNESS_ERROR), Name.OURS),
        (result(A, Outcome.NOT_PROBED), Name.NOT_PROBED),
        (result(A), Name.CONFORMS),
    ],
)
def test_the_section_of_a_record(seen: Result, name: Name) -> None:
    (section,) = Overview(run(), [seen]).sections
    assert section.name is name
    assert str(name) in words_of(section.members[0])


def test_the_sections_of_a_run_stand_in_order_and_add_up() -> None:
    overview = Overview(*sample.full())
    assert [each.name for each in overview.sections] == sorted(
        (each.name for each in overview.sections), key=list(Name).index
    )
    assert sum(len(each.members) for each in overview.sections) == len(overview.standings) == 418


def test_the_next_steps_are_told_in_the_order_of_the_sections() -> None:
    pending, regressed = drifted(A, TYPE, confirmation=PENDING), drifted(C, confirmation=REGRESSED)
    told = steps(Overview(run(), [pending, result(B, Outcome.FLAKY), regressed]).standings)
    assert [(each.code, each.addresses) for each in told] == [("status-differs", (C,)), ("type-differs", (A,))]


@pytest.mark.parametrize(
    ("results", "said", "tab"),
    [
        ([result(A)], "All that was observed is as documented.", "as documented"),
        ([drifted(A), drifted(B), drifted(C)], "PA and PC drift: 2 new causes behind 3 records.", "2 new causes"),
        ([drifted(A, finding(), TYPE)], "PA drifts: 2 new causes behind 1 record.", "2 new causes"),
        (
            [result(A), result(B, Outcome.FLAKY)],
            "Nothing new drifts, and 1 record of PA is flaky.",
            "1 flaky",
        ),
        (
            [result(A), drifted(B, confirmation=PENDING)],
            "1 cause is pending, never confirmed.",
            "pending",
        ),
        (
            [result(A), drifted(B, accepted_difference={"state": "accounted"})],
            "All that was observed is as documented, or accepted.",
            "as documented",
        ),
        ([result(A, Outcome.HARNESS_ERROR)], "The probe itself failed in 1 place.", "our fault"),
        (
            [*(result(f"{A}{number}") for number in range(9)), result(B, Outcome.INCONCLUSIVE, probed_record={})],
            "Nothing that was seen drifts, and 1 record of PA is inconclusive.",
            "inconclusive",
        ),
        (
            [
                *(result(f"{A}{number}") for number in range(9)),
                result(
                    B, Outcome.INCONCLUSIVE, reason=Reason("value-not-found", "set PA_SMALL_MODEL"), probed_record={}
                ),
            ],
            "Nothing that was seen drifts, and 1 record of PA is inconclusive (value-not-found).",
            "inconclusive",
        ),
        ([result(A, Outcome.NOT_PROBED)], "Nothing could be judged.", "nothing judged"),
        ([], "Nothing was probed.", "nothing judged"),
    ],
)
def test_the_state_in_one_sentence(results: list[Result], said: str, tab: str) -> None:
    overview = Overview(run(expected=()), results)
    assert sentence(overview) == said
    assert title(overview) == tab


BEFORE = {A: Outcome.DRIFTED, C: Outcome.DRIFTED}


@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([drifted(A), drifted(C), drifted(B)], "PA and PC drift: 1 new cause behind 1 record, 2 known behind 2."),
        ([drifted(C), drifted(B)], "PA and PC drift: 1 new cause behind 1 record, 1 known behind 1."),
        ([drifted(A), drifted(C)], "Nothing new drifts, and 2 known causes behind 2 records go on."),
        (
            [drifted(A), result(B, Outcome.FLAKY)],
            "Nothing new drifts, 1 record of PA is flaky, and 1 known cause behind 1 record goes on.",
        ),
    ],
)
def test_what_still_drifts_is_counted_beside_what_is_new(results: list[Result], said: str) -> None:
    assert sentence(Overview(past(BEFORE), results)) == said


def test_what_is_blind_is_said_first() -> None:
    unseen = result(C, Outcome.INCONCLUSIVE, reason=Reason("read-timeout"), probed_record={})
    overview = Overview(run(expected=("pa", "pc")), [drifted(A), unseen])
    assert sentence(overview) == (
        "PC was not observed: no record has a verdict (read-timeout); PA drifts: 1 new cause behind 1 record."
    )
    assert title(overview) == "PC blind"


def test_an_account_without_credit_is_said_before_all_that_follows_from_it() -> None:
    unpaid = result(C, Outcome.INCONCLUSIVE, reason=Reason("no-credit", "HTTP 402"), probed_record={})
    assert sentence(Overview(run(), [unpaid])) == (
        "The account of PC has no credit; PC was not observed: no record has a verdict (no-credit)."
    )


def test_who_was_seen_in_part_is_not_said_to_be_unseen() -> None:
    timeout = Reason("read-timeout")
    unseen = [
        result(f"{each}/errors/general/x", Outcome.INCONCLUSIVE, reason=timeout, probed_record={})
        for each in ("pa", "pc")
    ]
    overview = Overview(run(expected=("pa", "pc")), [result(A), *unseen])
    assert sentence(overview, whys=False) == (
        "PA was observed only in part, and PC was not observed; nothing that was seen drifts."
    )


def test_no_sentence_is_a_list() -> None:
    overview = Overview(*sample.full())
    assert len(sentence(overview)) < 120
    assert len(title(overview)) < 30
