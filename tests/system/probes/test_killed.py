"""A killed run keeps what it reported and leaves records intact, no process.

Cut at every byte its results are read in tests/unit/catalog/test_results_file.py; test_crash.py kills at random.
"""

from __future__ import annotations

import hashlib
import os
import signal
from pathlib import Path

import pytest

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.completeness import is_unreported
from catalog_probe.catalog.evidence.results_file import read_run
from catalog_probe.catalog.files.store import RECORDS, Catalog
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.reports import build
from tests.harness.command import DEADLINE_S
from tests.harness.processes import have_ended, list_children, wait_for
from tests.harness.unfinished import find_results_file, start_run


def digest_of_records() -> str:
    digest = hashlib.sha256()
    for path in sorted(RECORDS.rglob("*.json")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for workers and the mock's process in /proc")
def test_a_killed_run_loses_nothing_that_it_had_reported(tmp_path: Path) -> None:
    before = digest_of_records()
    process = start_run(tmp_path, "-n", "2")
    path = wait_for(lambda: find_results_file(process, tmp_path))
    below = list_children(process.pid)
    assert len(below) >= 3, "two workers and a mock"
    lines = path.read_bytes().count(b"\n")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=DEADLINE_S)
    wait_for(lambda: have_ended(below))

    run, results = read_run(path)
    assert run.run == path.parent.name
    told = [result for result in results if not is_unreported(result)]
    assert len(told) >= lines - 1, "the first line is the run's own"
    assert {result.record for result in results} == set(run.selected or ())
    assert len({result.record for result in results}) == len(results)
    lost = len(results) - len(told)
    assert lost
    assert run_verdict.exit_status(run, results) is Exit.BLIND
    build.build(path.parent)
    assert (path.parent / "report.html").stat().st_size > 1000
    assert f"`not-reported` ({lost})" in (path.parent / "summary.md").read_text()
    assert digest_of_records() == before
    assert len(Catalog.load()) > 0
