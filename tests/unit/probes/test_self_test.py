"""The self-test of each lane: another false assertion every day, whose missing drift is a harness error."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence import completeness, run_verdict
from catalog_probe.catalog.evidence.merge import merge_runs
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.files.manifest import manifest
from catalog_probe.catalog.model import Exchange, Outcome, Reason, Request, Response
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.recognition.vocabulary import ProviderVocabulary
from catalog_probe.catalog.writeback.planner import UpdatePolicy
from catalog_probe.catalog.writeback.update import update_records
from catalog_probe.probes.calls import Call
from catalog_probe.probes.judging.control import (
    FALSIFICATIONS,
    TEAPOT,
    UNKNOWN_NAME,
    expect_control,
    expect_proof,
    self_test,
)
from catalog_probe.reports import comparison
from catalog_probe.reports.content.overview import Overview
from catalog_probe.reports.content.run_sentence import format_verdict
from catalog_probe.reports.history import build_history_line
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
EMPTY_VOCABULARY = ProviderVocabulary.from_records(())

CONTROL = Exchange(
    "control",
    Request("GET", "https://pa.example/v1/models"),
    Response(200, {"content-type": "application/json", "request-id": "req_1"}, {"data": [{"id": "m"}]}, "json"),
)


def run_self_test(day: date = TODAY) -> Result:
    return self_test(LANE, expect_control("pa"), CONTROL, EMPTY_VOCABULARY, day, "2026-11-21T04:00:00.000Z")


def make_run(name: str = "r", **changes: object) -> Run:
    selected = (MODELS,)
    run = Run(name, "live", live=True, started_at="2026-11-21T00:00:00Z", today="2026-11-21", selected=selected)
    return replace(run, expected=("pa",), self_tests=(LANE,), **changes)  # type: ignore[arg-type]


def make_conforming(record: str = MODELS) -> Result:
    return Result(record, {}, Outcome.CONFORMS, lane=LANE, observed_at="2026-11-21T04:00:00.000Z")


@given(st.dates(), st.sampled_from(["pa", "pb", "pc", "pd"]))
def test_self_test_drifts_every_day(day: date, provider: str) -> None:
    vocabulary = ProviderVocabulary.from_records(tuple(catalog().select(provider=provider)))
    result = self_test(
        f"{provider}:inference", expect_control(provider), CONTROL, vocabulary, day, "2026-11-21T04:00:00.000Z"
    )
    assert result.outcome is Outcome.DRIFTED
    assert len(result.drifts) >= 1
    assert run_verdict.is_failure(result)
    assert not completeness.is_record_result(result)


def test_self_test_changes_its_aspect_each_day() -> None:
    days = [TODAY + timedelta(days=number) for number in range(len(FALSIFICATIONS))]
    assert len({(finding.aspect, finding.code) for day in days for finding in run_self_test(day).drifts[:1]}) == len(
        FALSIFICATIONS
    )


def test_only_the_false_assertion_drifts() -> None:
    results = [run_self_test(TODAY + timedelta(days=day)) for day in range(len(FALSIFICATIONS))]
    findings = [finding for result in results for finding in result.findings]
    assert [(finding.assertion, finding.documented) for finding in findings] == [
        (f"control/header:{UNKNOWN_NAME}", "present"),
        (f"control/body:/{UNKNOWN_NAME}", True),
        ("control/body", "empty"),
        ("control/status", TEAPOT),
    ]
    assert [
        (finding.label, finding.matched, finding.mismatched, finding.not_observed)
        for result in results
        for finding in result.observations
    ] == [
        ("control", (), {f"header:{UNKNOWN_NAME}": "absent"}, {}),
        ("control", (), {f"body:/{UNKNOWN_NAME}": "absent"}, {}),
        ("control", (), {"body": "out-of-range"}, {}),
        ("control", (), {"status": "200"}, {}),
    ]


def test_control_must_show_the_proof_of_its_manifest() -> None:
    controls = manifest("pa").controls
    assert {
        name: expect_proof(Call(control.method, control.path), "pa").fields for name, control in controls.items()
    } == {name: dict.fromkeys(control.proof, True) for name, control in controls.items()}
    assert expect_proof(Call("POST", "/v1/models"), "pa") == expect_control("pa")
    assert (expect_control("pa").status, expect_control("pa").envelope.body) == (200, "json")


def test_passed_self_test_is_not_shown() -> None:
    run, results = make_run(), [make_conforming(), run_self_test()]
    assert run_verdict.exit_status(run, results) is Exit.FINE
    assert run_verdict.list_faults(run, results) == ()
    overview = Overview(run, results)
    assert [record.address for record in overview.records] == [MODELS]
    assert build_history_line(run, results) == build_history_line(run, [make_conforming()])
    assert comparison.render((run, results), (run, [make_conforming()])) is None
    without_self_test = replace(run, self_tests=())
    for render in (terminal.render, summary.render, html.render, junit.render):
        assert "".join(render(run, results)) == "".join(render(without_self_test, [make_conforming()]))


FAILED_SELF_TESTS = {
    "the line is lost": [make_conforming()],
    "the judge sees nothing": [make_conforming(), replace(run_self_test(), outcome=Outcome.CONFORMS, findings=())],
    "its drift has no finding": [make_conforming(), replace(run_self_test(), findings=())],
    "it is inconclusive": [
        make_conforming(),
        replace(run_self_test(), outcome=Outcome.INCONCLUSIVE, findings=(), reason=Reason("attempts-disagree")),
    ],
    "it is accepted": [make_conforming(), replace(run_self_test(), accepted_difference={"state": "accounted"})],
}


def test_failed_self_test_is_a_harness_error_in_every_view(subtests: pytest.Subtests) -> None:
    for name, results in FAILED_SELF_TESTS.items():
        with subtests.test(name):
            run = make_run()
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


def test_self_test_detects_a_failure_rule_that_ignores_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_verdict, "is_failure", lambda result: False)
    assert run_verdict.exit_status(make_run(), [make_conforming(), run_self_test()]) is Exit.HARNESS_ERROR


def test_self_test_detects_lost_causes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("catalog_probe.catalog.evidence.causes.find_causes", lambda results: ())
    assert run_verdict.exit_status(make_run(), [make_conforming(), run_self_test()]) is Exit.HARNESS_ERROR


def test_lane_without_verdict_needs_no_self_test() -> None:
    """Its control failed: the run is blind, which is no harness error."""
    result = Result(MODELS, {}, Outcome.INCONCLUSIVE, Reason("control-failed"), lane=LANE)
    assert run_verdict.exit_status(make_run(), [result]) is Exit.BLIND


def test_failed_self_test_survives_merging_in_any_order(subtests: pytest.Subtests) -> None:
    for name, results in FAILED_SELF_TESTS.items():
        with subtests.test(name):
            bad = (make_run("r-1"), results)
            good = (make_run("r-2", started_at="2026-11-21T02:00:00Z"), [make_conforming(), run_self_test()])
            for shards in ([bad, good], [good, bad], [bad, bad], [merge_runs([bad, good]), good]):
                assert run_verdict.exit_status(*merge_runs(shards)) is Exit.HARNESS_ERROR
            assert run_verdict.exit_status(*merge_runs([good, good])) is Exit.FINE


@pytest.mark.parametrize(
    "results", [[make_conforming(), run_self_test()], FAILED_SELF_TESTS["the line is lost"]], ids=["heard", "silent"]
)
def test_records_of_a_failed_self_test_are_not_updated(
    tmp_path_factory: pytest.TempPathFactory, results: list[Result]
) -> None:
    root = write_catalog(tmp_path_factory.mktemp("records"))
    written = [replace(result, record=ENDPOINT_ADDRESS) if result.record == MODELS else result for result in results]
    update = update_records([(make_run(selected=(ENDPOINT_ADDRESS,)), written)], into=root, policy=UpdatePolicy())
    has_drifted = len(results) == 2
    assert [address for address, _ in update.patched] == ([ENDPOINT_ADDRESS] if has_drifted else [])
    assert any("the self-test of pa:inference did not come out" in result for result in update.lines()) != has_drifted
    assert update.unknown == ()


def test_blind_provider_updates_nothing_in_any_shard(tmp_path_factory: pytest.TempPathFactory) -> None:
    first_address, *other_addresses = (ENDPOINT_ADDRESS, ERROR_ADDRESS, SECOND_ERROR_ADDRESS, LIMITS_ADDRESS)
    inconclusive = [
        Result(address, {}, Outcome.INCONCLUSIVE, Reason("read-timeout"), lane=LANE) for address in other_addresses
    ]
    first = (make_run("r-1", selected=(first_address,)), [make_conforming(first_address), run_self_test()])
    second = (make_run("r-2", selected=tuple(other_addresses)), inconclusive)
    alone = update_records([first], into=write_catalog(tmp_path_factory.mktemp("records")))
    assert [address for address, _ in alone.patched] == [first_address]
    for shards in ([first, second], [second, first]):
        update = update_records(shards, into=write_catalog(tmp_path_factory.mktemp("records")))
        assert update.patched == ()
        assert any("pa: nothing is written: 3 of 4 probes are inconclusive" in address for address in update.lines())


def test_lost_worker_is_a_harness_error_despite_finished_records() -> None:
    results = [
        make_conforming(),
        run_self_test(),
        completeness.lost_worker_result("gw0", "worker gw0: Not properly terminated"),
    ]
    assert run_verdict.exit_status(make_run(), results) is Exit.HARNESS_ERROR
    assert "worker-lost: worker gw0: Not properly terminated" in terminal.render(make_run(), results)
    assert [record.address for record in Overview(make_run(), results).records] == [MODELS]
    assert (
        run_verdict.exit_status(*merge_runs([(make_run(), results), (make_run("r-2"), results[:2])]))
        is Exit.HARNESS_ERROR
    )
