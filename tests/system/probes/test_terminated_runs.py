"""Terminated runs and full disks keep what was observed and leave no process."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.completeness import is_unreported
from catalog_probe.catalog.evidence.results_file import read_run
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.outcome import ReasonCode
from tests.harness.command import DEADLINE_S, pytest_probes
from tests.harness.processes import have_ended, list_children, wait_for
from tests.harness.unfinished import find_results_file, start_run

if TYPE_CHECKING:
    from pathlib import Path

FULL = '''
"""Lets no file of the controller grow by more than so much once the run is described."""

import os
import resource

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    session.config.pluginmanager.get_plugin("catalog-probe-controller")
    resource.setrlimit(resource.RLIMIT_FSIZE, (60_000, 60_000))
'''


@pytest.mark.parametrize(("number", "workers"), [(signal.SIGHUP, ()), (signal.SIGTERM, ("-n", "2"))])
def test_a_terminated_run_leaves_a_report(tmp_path: Path, number: signal.Signals, workers: tuple[str, ...]) -> None:
    process = start_run(tmp_path, *workers)
    path = wait_for(lambda: find_results_file(process, tmp_path))
    below = list_children(process.pid)
    process.send_signal(number)
    output, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 128 + number, output
    assert f"ended by {number.name}" in output
    assert "Traceback" not in output
    _, results = read_run(path)
    lost = [result for result in results if is_unreported(result)]
    assert 0 < len(lost) < len(results)
    for view in ("report.html", "summary.md", "junit.xml"):
        assert (path.parent / view).stat().st_size
    assert f"`not-reported` ({len(lost)})" in (path.parent / "summary.md").read_text()
    wait_for(lambda: have_ended(below))


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_an_interrupted_run_is_blind_and_says_so(tmp_path: Path, workers: tuple[str, ...]) -> None:
    process = start_run(tmp_path, *workers)
    path = wait_for(lambda: find_results_file(process, tmp_path))
    below = list_children(process.pid)
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == Exit.BLIND, output
    assert f"(exit {Exit.BLIND})" in output
    assert "Traceback" not in output
    _, results = read_run(path)
    stopped = [result for result in results if result.reason and result.reason.code == ReasonCode.LANE_STOPPED]
    assert 0 < len(stopped) < len(results)
    assert not any(map(is_unreported, results)), "an interruption is no lost process"
    wait_for(lambda: have_ended(below))


def test_a_full_disk_ends_the_run_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "full.py").write_text(FULL)
    options = ("-p", "full", "-p", "no:randomly", "--provider", "pa", "--kind", "errors", "-k", "general")
    ran = pytest_probes(tmp_path / "out", *options, environ={"PYTHONPATH": str(tmp_path)})
    assert ran.status == 3, ran.all_output
    assert "results.jsonl: File too large; make room, or name another folder with --out" in ran.output
    assert "Traceback" not in ran.all_output
    assert "INTERNALERROR" not in ran.all_output
    assert any(not is_unreported(line) for line in ran.lines), "what was written before is read"
    assert any(is_unreported(line) for line in ran.lines)
