"""Coverage on the command line: never there, lost, and `--expect-all`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model.record_states import RecordState
from catalog_probe.reports.content.overview import Overview
from tests.harness.command import CommandResult, probe_here
from tests.harness.fault_changes import replace_answer
from tests.harness.faults import Fault, FaultScope
from tests.harness.live import KEYS, LiveTarget, write_live_target

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness.fault_proxy import FaultServer

REFUSAL = '{"type":"error","error":{"type":"permission_error","message":"Your key may not use this resource."}}'
READS = ("--kind", "endpoints")
"""A whole of what options select, as `-k` is not: only such a run is remembered."""


@pytest.fixture
def tonight(tmp_path: Path, fault_server: FaultServer) -> LiveTarget:
    fault_server.target_behind()
    return write_live_target(tmp_path, {"pa": f"{fault_server.base}/pa"}, expected=None)


def probe(tonight: LiveTarget, out: Path, *arguments: str) -> CommandResult:
    return probe_here(out, "--target", str(tonight.path), *arguments, environ=tonight.environ)


def copy_history(first: CommandResult, out: Path) -> None:
    """Give the next run of another folder the memory of this one, with a damaged line that must not blind it."""
    out.mkdir()
    (first.out / "history").rename(out / "history")
    with (out / "history" / "night.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"run": 1}\n')


def test_records_that_only_the_provider_can_cause_exit_with_5(tmp_path: Path) -> None:
    """If nobody expects the provider to be seen."""
    unexpected = write_live_target(tmp_path, {"pa": "http://127.0.0.1:9"}, expected=False)
    run_result = probe(unexpected, tmp_path / "out", "-k", "general and overloaded and 529")
    assert run_result.status == 5, run_result.all_output


def test_a_dead_key_of_an_unexpected_provider_is_blind_too(tmp_path: Path, fault_server: FaultServer) -> None:
    fault_server.target_behind()
    unexpected = write_live_target(tmp_path, {"pa": f"{fault_server.base}/pa"}, expected=False)
    chosen = ("--target", str(unexpected.path), "-k", "get_model")
    run_result = probe_here(tmp_path / "out", *chosen, environ={"PA_API_KEY": "deleted-since"})
    assert run_result.status == 10, run_result.all_output


def test_coverage_that_was_there_yesterday_is_reported_lost(
    tonight: LiveTarget, tmp_path: Path, fault_server: FaultServer
) -> None:
    """The control is still let in: the key lost a scope, and the night must say so."""
    first = probe(tonight, tmp_path / "1", *READS, "--today", "2026-11-20")
    assert first.status == 0, first.all_output
    copy_history(first, tmp_path / "2")
    fault_server.target_behind(
        Fault(FaultScope(path="/pa/v1/(?!models$)", statuses=(200,)), answer=replace_answer(403, REFUSAL))
    )
    second = probe(tonight, tmp_path / "2", *READS, "--today", "2026-11-21")
    assert second.status == 10, second.all_output
    assert "night.jsonl:2: not a history line that can be read (no address_set); it is skipped" in second.output
    overview = Overview(second.run, list(second.results.values()))
    lost = overview.records_in(RecordState.COVERAGE_LOST)
    assert lost
    assert f"Coverage lost ({len(lost)})" in second.output


def test_expect_all_lists_each_record_without_verdict(tonight: LiveTarget, tmp_path: Path) -> None:
    run_result = probe(tonight, tmp_path / "out", "-k", "list_models or spend_cap", "--expect-all")
    assert run_result.status == 10, run_result.all_output
    assert "all was expected, and" in run_result.output
    assert "(credential-missing)" in run_result.output
    assert run_result.run.policy["expect_all"] is True
    complete = probe(tonight, tmp_path / "whole", "-k", "pa/endpoints/models/list_models", "--expect-all")
    assert complete.status == 0, complete.all_output
    assert KEYS["PA_API_KEY"] not in run_result.all_output
