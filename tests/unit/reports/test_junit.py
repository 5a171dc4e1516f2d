"""junit.xml: well-formed for any observed text, with the counts that CI systems read."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence.causes import find_causes
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.reports.content.commands import format_cause_command
from catalog_probe.reports.views import junit
from tests.unit.reports import sample
from tests.unit.reports.factories import make_finding, make_result, make_run

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result, Run

A = "pa/errors/general/a"


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
    wrong = make_finding(message=text, observed=text, location=text)
    results = [
        make_result(A, Outcome.DRIFTED, findings=(wrong,)),
        make_result(f"{A}2", Outcome.INCONCLUSIVE, reason=Reason("read-timeout", detail)),
        make_result(f"{A}3", Outcome.HARNESS_ERROR, reason=Reason("recipe-error", detail)),
    ]
    document = junit.render(make_run(target=text, run=detail), results)
    assert len(list(ElementTree.fromstring(document.encode()).iter("testcase"))) == 3
