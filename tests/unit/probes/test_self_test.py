"""The self-test of each lane: false every day in another way, drift at the far end, and our fault where it is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence import harness_results
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.evidence.verdicts.merge import merge_runs
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Exchange, Outcome, Reason, Request, Response
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.catalog.writeback.planner import UpdatePolicy
from catalog_probe.catalog.writeback.update import update_records
from catalog_probe.probes.calls.call import Call
from catalog_probe.probes.judging.control import expect_control, expect_proof
from catalog_probe.probes.judging.self_test import FALSIFICATIONS, TEAPOT, UNKNOWN_NAME, self_test
from catalog_probe.reports import comparison
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.run_sentence import format_verdict
from catalog_probe.reports.history.history_line import build_history_line
from catalog_probe.reports.page import html
from catalog_probe.reports.views import junit, summary, terminal
from tests.harness.engines import catalog
from tests.unit.catalog.catalog_factories import (
    ENDPOINT_ADDRESS,
    ERROR_ADDRESS,
    LIMITS_ADDRESS,
    SECOND_ERROR_ADDRESS,
    write_catalog,
)

TODAY = date(2026, 11, 21)
LANE = "pa:inference"
MODELS = "pa/endpoints/models/list_models"
NOTHING = ProviderVocabulary.from_records(())

CONTROL = Exchange(
    "control",
    Request("GET", "https://pa.example/v1/models"),
    Response(200, {"content-type": "application/json", "request-id": "req_1"}, {"data": [{"id": "m"}]}, "json"),
)


def sprung(day: date = TODAY) -> Result:
    return self_test(LANE, expect_control("pa"), CONTROL, NOTHING, day, "2026-11-21T04:00:00.000Z")


def described(name: str = "r", **changes: object) -> Run:
    selected = (MODELS,)
    run = Run(name, "live", live=True, started_at="2026-11-21T00:00:00Z", today="2026-11-21", selected=selected)
    return replace(run, expected=("pa",), self_tests=(LANE,), **changes)  # type: ignore[arg-type]


def conforming(record: str = MODELS) -> Result:
    return Result(record, {}, Outcome.CONFORMS, lane=LANE, observed_at="2026-11-21T04:00:00.000Z")


@given(st.dates(), st.sampled_from(["pa", "pb", "pc", "pd"]))
def test_each_day_it_is_false_and_comes_out_as_drift(day: date, provider: str) -> None:
    known = ProviderVocabulary.from_records(tuple(catalog().select(provider=provider)))
    found = self_test(
        f"{provider}:inference", expect_control(provider), CONTROL, known, day, "2026-11-21T04:00:00.000Z"
    )
    assert found.outcome is Outcome.DRIFTED
    assert len(found.drifts) >= 1
    assert run_verdict.is_failure(found)
    assert not harness_results.is_record_result(found)


def test_another_side_of_the_answer_is_lied_about_each_day() -> None:
    days = [TODAY + timedelta(days=number) for number in range(len(FALSIFICATIONS))]
    assert len({(each.aspect, each.code) for day in days for each in sprung(day).drifts[:1]}) == len(FALSIFICATIONS)


def test_what_it_lies_about_is_what_drifts_and_nothing_else() -> None:
    seen = [sprung(TODAY + timedelta(days=day)) for day in range(len(FALSIFICATIONS))]
    findings = [each for result in seen for each in result.findings]
    assert [(each.assertion, each.documented) for each in findings] == [
        (f"control/header:{UNKNOWN_NAME}", "present"),
        (f"control/body:/{UNKNOWN_NAME}", True),
        ("control/body", "empty"),
        ("control/status", TEAPOT),
    ]
    assert [
        (each.label, each.matched, each.mismatched, each.not_observed)
        for result in seen
        for each in result.observations
    ] == [
        ("control", (), {f"header:{UNKNOWN_NAME}": "absent"}, {}),
        ("control", (), {f"body:/{UNKNOWN_NAME}": "absent"}, {}),
        ("control", (), {"body": "out-of-range"}, {}),
        ("control", (), {"status": "200"}, {}),
    ]


def test_a_control_is_held_against_what_its_manifest_names_as_proof() -> None:
    controls = manifest("pa").controls
    assert {name: expect_proof(Call(each.method, each.path), "pa").fields for name, each in controls.items()} == {
        name: dict.fromkeys(each.proof, True) for name, each in controls.items()
    }
    assert expect_proof(Call("POST", "/v1/models"), "pa") == expect_control("pa")
    assert (expect_control("pa").status, expect_control("pa").envelope.body) == (200, "json")


def test_where_it_came_out_it_is_nowhere_to_be_seen() -> None:
    run, results = described(), [conforming(), sprung()]
    assert run_verdict.exit_status(run, results) is Exit.FINE
    assert run_verdict.list_faults(run, results) == ()
    overview = Overview(run, results)
    assert [each.address for each in overview.records] == [MODELS]
    assert build_history_line(run, results) == build_history_line(run, [conforming()])
    assert comparison.render((run, results), (run, [conforming()])) is None
    bare = replace(run, self_tests=())
    for render in (terminal.render, summary.render, html.render, junit.render):
        assert "".join(render(run, results)) == "".join(render(bare, [conforming()]))


SILENT = {
    "the line is lost": [conforming()],
    "the judge sees nothing": [conforming(), replace(sprung(), outcome=Outcome.CONFORMS, findings=())],
    "its drift has no finding": [conforming(), replace(sprung(), findings=())],
    "it is inconclusive": [
        conforming(),
        replace(sprung(), outcome=Outcome.INCONCLUSIVE, findings=(), reason=Reason("attempts-disagree")),
    ],
    "it is accepted": [conforming(), replace(sprung(), accepted_difference={"state": "accounted"})],
}


@pytest.mark.parametrize("results", SILENT.values(), ids=SILENT)
def test_where_it_did_not_come_out_the_run_is_our_fault_in_every_view(results: list[Result]) -> None:
    run = described()
    assert run_verdict.exit_status(run, results) is Exit.HARNESS_ERROR
    overview = Overview(run, results)
    assert overview.mood == "bad"
    assert format_verdict(overview).startswith("The probe itself failed in 1 place")
    assert "as documented" not in format_verdict(overview)
    for text in (terminal.render(run, results), summary.render(run, results), html.render(run, results)):
        assert "self-test-silent" in text
        assert "lane pa:inference" in text
    assert 'type="self-test-silent"' in junit.render(run, results)
    assert 'errors="1"' in junit.render(run, results)


def test_a_rule_that_counts_no_drift_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_verdict, "is_failure", lambda result: False)
    assert run_verdict.exit_status(described(), [conforming(), sprung()]) is Exit.HARNESS_ERROR


def test_a_cause_that_is_dropped_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalog_probe.catalog.evidence.causes.find_causes", lambda results: ())
    assert run_verdict.exit_status(described(), [conforming(), sprung()]) is Exit.HARNESS_ERROR


def test_a_lane_without_any_verdict_needs_none() -> None:
    """Its control failed, and the run is blind: that is told, and no fault of ours."""
    unseen = Result(MODELS, {}, Outcome.INCONCLUSIVE, Reason("control-failed"), lane=LANE)
    assert run_verdict.exit_status(described(), [unseen]) is Exit.BLIND


@pytest.mark.parametrize("results", SILENT.values(), ids=SILENT)
def test_no_order_of_shards_hides_it(results: list[Result]) -> None:
    bad = (described("r-1"), results)
    good = (described("r-2", started_at="2026-11-21T02:00:00Z"), [conforming(), sprung()])
    for shards in ([bad, good], [good, bad], [bad, bad], [merge_runs([bad, good]), good]):
        assert run_verdict.exit_status(*merge_runs(shards)) is Exit.HARNESS_ERROR
    assert run_verdict.exit_status(*merge_runs([good, good])) is Exit.FINE


@pytest.mark.parametrize("results", [[conforming(), sprung()], SILENT["the line is lost"]], ids=["heard", "silent"])
def test_what_could_not_have_drifted_is_not_written(
    tmp_path_factory: pytest.TempPathFactory, results: list[Result]
) -> None:
    root = write_catalog(tmp_path_factory.mktemp("records"))
    mine = [replace(each, record=ENDPOINT_ADDRESS) if each.record == MODELS else each for each in results]
    done = update_records([(described(selected=(ENDPOINT_ADDRESS,)), mine)], into=root, policy=UpdatePolicy())
    heard = len(results) == 2
    assert [address for address, _ in done.patched] == ([ENDPOINT_ADDRESS] if heard else [])
    assert any("the self-test of pa:inference did not come out" in each for each in done.lines()) != heard
    assert done.unknown == ()


def test_a_blind_provider_writes_nothing_over_the_whole_of_a_night(tmp_path_factory: pytest.TempPathFactory) -> None:
    one, *others = (ENDPOINT_ADDRESS, ERROR_ADDRESS, SECOND_ERROR_ADDRESS, LIMITS_ADDRESS)
    unseen = [Result(each, {}, Outcome.INCONCLUSIVE, Reason("read-timeout"), lane=LANE) for each in others]
    first = (described("r-1", selected=(one,)), [conforming(one), sprung()])
    second = (described("r-2", selected=tuple(others)), unseen)
    alone = update_records([first], into=write_catalog(tmp_path_factory.mktemp("records")))
    assert [address for address, _ in alone.patched] == [one]
    for shards in ([first, second], [second, first]):
        done = update_records(shards, into=write_catalog(tmp_path_factory.mktemp("records")))
        assert done.patched == ()
        assert any("pa: nothing is written: 3 of 4 probes are inconclusive" in each for each in done.lines())


def test_a_lost_worker_is_our_fault_though_another_finished_its_work() -> None:
    results = [conforming(), sprung(), harness_results.lost_worker_result("gw0", "worker gw0: Not properly terminated")]
    assert run_verdict.exit_status(described(), results) is Exit.HARNESS_ERROR
    assert "worker-lost: worker gw0: Not properly terminated" in terminal.render(described(), results)
    assert [each.address for each in Overview(described(), results).records] == [MODELS]
    assert (
        run_verdict.exit_status(*merge_runs([(described(), results), (described("r-2"), results[:2])]))
        is Exit.HARNESS_ERROR
    )
