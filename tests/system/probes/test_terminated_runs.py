"""Terminated runs and full disks keep what was observed and leave no process."""

from __future__ import annotations

import signal
from collections import Counter
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.completeness import is_record_result, is_unreported
from catalog_probe.catalog.evidence.results_file import read_run
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.errors import Exit
from tests.harness.command import DEADLINE_S, pytest_probes
from tests.harness.live import write_live_target
from tests.harness.processes import have_ended, list_children, wait_for
from tests.harness.unfinished import find_results_file, start_probes, start_run

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock

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
    assert process.returncode == Exit.BLIND, output
    assert f"ended by {number.name}" in output
    assert "the run ended before" in output
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
    assert any(result.outcome is Outcome.CONFORMS for result in results), "what was answered is kept"
    wait_for(lambda: have_ended(below))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_night_keeps_what_was_answered(
    tmp_path: Path, mock: EmbeddedMock, number: signal.Signals
) -> None:
    """PD is complete while PA is asked slowly: PD has its verdicts, and PA has those of the answers that came."""
    addresses = {name: mock.addresses()[name]["base_url"] for name in ("pa", "pd")}
    night = write_live_target(tmp_path, addresses)
    text = night.path.read_text(encoding="utf-8")
    night.path.write_text(text.replace("[providers.pa]", "[providers.pa]\nrate = 2"), encoding="utf-8")
    process = start_probes(tmp_path, "--target", str(night.path), environ=night.environ)

    def find_answered() -> Path | None:
        """Return the results file once PD is complete and PA has some answers."""
        path = find_results_file(process, tmp_path)
        results = read_run(path)[1] if path is not None else []
        answered = Counter(result.address.provider for result in results if result.attempts)
        is_open = any(is_unreported(result) for result in results if result.address.provider == "pd")
        return path if answered["pa"] > 3 and answered["pd"] and not is_open else None

    path = wait_for(find_answered)
    _, before = read_run(path)
    process.send_signal(number)
    output, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == Exit.BLIND, output
    assert "blind: pa was observed only in part" in output
    assert "blind: pd" not in output
    _, results = read_run(path)
    after = {result.record: result for result in results}
    conforming = [result for result in before if result.outcome is Outcome.CONFORMS]
    assert {after[result.record].outcome for result in conforming} == {Outcome.CONFORMS}
    of_pa = [result for result in results if result.address.provider == "pa"]
    assert any(result.outcome is Outcome.CONFORMS for result in of_pa)
    assert not any(result.outcome is Outcome.DRIFTED for result in of_pa if is_record_result(result))
    for view in ("report.html", "summary.md", "junit.xml"):
        assert (path.parent / view).stat().st_size


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
