"""Annotations for a CI system: one line per cause, which observed text cannot end or forge."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.reports.views.ci_annotations import MOST, render
from tests.unit.reports.factories import make_finding, make_result, make_run
from tests.unit.reports.special_results import HOSTILE

A, B, C = "pa/errors/general/a", "pa/errors/general/b", "pc/errors/general/c"


def test_each_cause_is_one_error_and_the_state_comes_last() -> None:
    drifts = [make_result(address, Outcome.DRIFTED, findings=(make_finding(),)) for address in (A, B)]
    lines = render(
        make_run(), [*drifts, make_result(C, Outcome.FLAKY, reason=Reason("attempts-disagree", "504, then 500"))]
    )
    assert lines == [
        "::error title=New drift%3A PA pa-fc60f8a3::status: documented 400, observed 422 "
        "(2 records: pa/errors/general/a, pa/errors/general/b)",
        "::error title=Flaky%3A pc/errors/general/c::attempts-disagree: 504, then 500",
        "::error title=Catalog probe::PA drifts: 1 new cause behind 2 records. "
        "1 of 3 verified, oldest evidence 5 days.",
    ]


def test_a_calm_run_is_a_notice() -> None:
    state = "All that was observed is as documented. 1 of 1 verified, oldest evidence today."
    assert render(make_run(), [make_result(A)]) == [f"::notice title=Catalog probe::{state}"]


def test_no_more_are_written_than_are_shown_and_the_rest_is_counted() -> None:
    many = [make_result(f"{A}{number}", Outcome.FLAKY) for number in range(30)]
    lines = render(make_run(), many)
    assert len(lines) == MOST + 1
    assert lines[MOST - 1] == "::error title=More::21 more, in report.html"


@given(st.text() | st.just(HOSTILE) | st.just("x\n::error::forged%0A"))
def test_an_answer_cannot_write_an_annotation_of_its_own(text: str) -> None:
    lines = render(
        make_run(target=text), [make_result(A, Outcome.DRIFTED, findings=(make_finding(message=text, location=text),))]
    )
    assert len(lines) == 2
    assert all(line.startswith("::error title=") and "\n" not in line and "\r" not in line for line in lines)
    assert all("%0A" not in line and "%0a" not in line for line in lines)
