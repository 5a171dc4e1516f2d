"""A run that is killed: what it had reported is readable, the records are untouched, mock and workers are gone.

Cut at every byte its results are read in tests/unit/catalog/test_results_file.py; session `crash` kills at random.
"""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from catalog.evidence import verdicts
from catalog.evidence.complete import unreported
from catalog.evidence.results_file import read_run
from catalog.model.exits import Exit
from catalog.reading.store import RECORDS, Catalog
from reports import build
from tests.harness.command import CHECKOUT, OF_OUR_DEPENDENCIES, child_environ
from tests.harness.processes import children, gone, until

ENOUGH = 12
"""So many results of some fifty are reported when the kill comes."""


def digest_of_records() -> str:
    digest = hashlib.sha256()
    for path in sorted(RECORDS.rglob("*.json")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for the mock's process in /proc")
def test_a_killed_run_loses_nothing_that_it_had_reported(tmp_path: Path) -> None:
    before = digest_of_records()
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "xdist",
        "probes",
        "--provider",
        "pa",
        "--kind",
        "endpoints",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        "2",
    ]
    nothing = subprocess.DEVNULL
    process = subprocess.Popen(
        [*command, "--out", str(tmp_path)],
        cwd=CHECKOUT,
        env=child_environ(OF_OUR_DEPENDENCIES),
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
    )
    try:
        path = until(lambda: next(iter(tmp_path.glob("*/results.jsonl")), None))
        until(lambda: process.poll() is not None or path.read_bytes().count(b"\n") > ENOUGH)
        started = children(process.pid)
        reported = max(0, path.read_bytes().count(b"\n") - 1)
        os.kill(process.pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()

    run, results = read_run(path)
    assert run.run == path.parent.name
    told = [result for result in results if not unreported(result)]
    assert len(told) >= min(ENOUGH, reported)
    assert {result.record for result in results} == set(run.selected or ())
    lost = len(results) - len(told)
    assert (verdicts.of_run(run, results) is Exit.HARNESS_ERROR) == bool(lost)
    assert len({result.record for result in results}) == len(results)
    build.build(path.parent)
    assert (path.parent / "report.html").stat().st_size > 1000
    assert (f"`not-reported` ({lost})" in (path.parent / "summary.md").read_text()) == bool(lost)
    assert digest_of_records() == before
    assert len(Catalog.load()) > 0
    assert started or process.returncode != -signal.SIGKILL
    until(lambda: gone(started))
