"""What CI systems read: junit.xml, and annotations that observed text cannot end or forge."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.reports.content.commands import format_cause_command
from catalog_probe.reports.views import junit
from catalog_probe.reports.views.ci_annotations import MOST, render
from tests.unit.reports import sample
from tests.unit.reports.factories import make_finding, make_result, make_run
from tests.unit.reports.special_results import HOSTILE

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result, Run


def parse_cases(run_: Run, results: list[Result]) -> dict[str, ElementTree.Element]:
    root = ElementTree.fromstring(junit.render(run_, results).encode())
    return {
        case.findtext("./properties/property[@name='record']") or _record(case): case for case in root.iter("testcase")
    }


def _record(case: ElementTree.Element) -> str:
    return next(element.attrib["value"] for element in case.iter("property") if element.get("name") == "record")


def test_each_outcome_has_its_junit_element() -> None:
    case_by_address = parse_cases(*sample.make_full_run())
    verdicts = {
        address: [child.tag for child in case if child.tag not in ("properties", "system-out")]
        for address, case in case_by_address.items()
    }
    assert verdicts["pa/errors/general/overloaded"] == ["failure"]
    assert verdicts["pc/errors/general/timeout_error"] == ["failure"]
    assert verdicts["pd/errors/inference/scope_missing"] == ["error"]
    assert verdicts["pb/errors/live/overloaded"] == ["skipped"]
    assert verdicts["pc/errors/oauth/invalid_request"] == ["skipped"]
    assert verdicts["pa/errors/general/not_found"] == []


def test_a_failure_names_each_cause_and_how_to_ask_it_again() -> None:
    both = [make_result(address, Outcome.DRIFTED, findings=(make_finding(),)) for address in (A, f"{A}2")]
    (shared,) = find_causes(both)
    for case in parse_cases(make_run(), both).values():
        text = case.findtext("failure", "")
        assert (
            f"cause {shared.id}, 2 records; to ask again: {format_cause_command(make_run(), shared)}"
            in text.splitlines()
        )


def test_an_accepted_drift_is_no_failure() -> None:
    accepted = make_result(
        A, Outcome.DRIFTED, findings=(make_finding(),), accepted_difference={"state": "accounted", "reason": "known"}
    )
    document = junit.render(make_run(), [accepted])
    assert "cause " not in document


def test_the_counts_are_those_of_the_cases() -> None:
    root = ElementTree.fromstring(junit.render(*sample.make_full_run()).encode())
    for element in [root, *root.iter("testsuite")]:
        cases = list(element.iter("testcase"))
        assert int(element.attrib["tests"]) == len(cases)
        for name, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            assert int(element.attrib[name]) == sum(case.find(tag) is not None for case in cases)


def test_there_is_a_suite_for_each_provider_and_kind() -> None:
    root = ElementTree.fromstring(junit.render(*sample.make_full_run()).encode())
    names = [suite.get("name") for suite in root.iter("testsuite")]
    assert names[:3] == ["pa.endpoints", "pa.errors", "pa.rate_limits"]
    assert len(names) == 12


def test_a_case_is_named_by_its_address() -> None:
    (case,) = parse_cases(make_run(), [make_result(A)]).values()
    assert (case.get("classname"), case.get("name")) == ("pa.errors.general", "a")


def test_attempts_are_kept() -> None:
    case = parse_cases(*sample.make_full_run())["pc/errors/general/timeout_error"]
    output = case.findtext("system-out", "")
    assert [f"attempt {number} at" in output for number in (1, 2, 3)] == [True, True, True]
    assert "-> HTTP 500" in output


def test_a_stale_accepted_difference_fails_though_the_record_conforms() -> None:
    stale = make_result(A, accepted_difference={"state": "stale", "detail": "no longer diverges"})
    (case,) = parse_cases(make_run(), [stale]).values()
    assert [failure.get("message") for failure in case.iter("failure")] == ["no longer diverges"]


@given(st.text(), st.text())
def test_any_text_makes_a_document_that_parses(text: str, detail: str) -> None:
    wrong = make_finding(remark=text, observed=text, location=text)
    results = [
        make_result(A, Outcome.DRIFTED, findings=(wrong,)),
        make_result(f"{A}2", Outcome.INCONCLUSIVE, reason=Reason("read-timeout", detail)),
        make_result(f"{A}3", Outcome.HARNESS_ERROR, reason=Reason("recipe-error", detail)),
    ]
    document = junit.render(make_run(target=text, run=detail), results)
    assert len(list(ElementTree.fromstring(document.encode()).iter("testcase"))) == 3


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
        "3 of 3 records that your keys reach were observed, oldest evidence 5 days.",
    ]


def test_a_calm_run_is_a_notice() -> None:
    observed = "1 of 1 record that your keys reach was observed, oldest evidence today."
    state = f"All that was observed is as documented. {observed}"
    assert render(make_run(), [make_result(A)]) == [f"::notice title=Catalog probe::{state}"]


def test_no_more_are_written_than_are_shown_and_the_rest_is_counted() -> None:
    many = [make_result(f"{A}{number}", Outcome.FLAKY) for number in range(30)]
    lines = render(make_run(), many)
    assert len(lines) == MOST + 1
    assert lines[MOST - 1] == "::error title=More::21 more, in report.html"


@given(st.text() | st.just(HOSTILE) | st.just("x\n::error::forged%0A"))
def test_an_answer_cannot_write_an_annotation_of_its_own(text: str) -> None:
    lines = render(
        make_run(target=text), [make_result(A, Outcome.DRIFTED, findings=(make_finding(remark=text, location=text),))]
    )
    assert len(lines) == 2
    assert all(line.startswith("::error title=") and "\n" not in line and "\r" not in line for line in lines)
    assert all("%0A" not in line and "%0a" not in line for line in lines)
