"""Runs that are told to end, whose controller dies, or whose disk is full: what was seen is kept, nobody goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from catalog.evidence.complete import unreported
from catalog.evidence.results_file import read_run
from tests.harness.command import CHECKOUT, DEADLINE_S, OF_OUR_DEPENDENCIES, child_environ, pytest_probes
from tests.harness.processes import children, gone, until

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

UNFINISHED = """
import os, threading

told = 0

def pytest_runtest_logreport(report):
    global told
    told += report.when == "setup" and "PYTEST_XDIST_WORKER" not in os.environ
    if told > 5:
        threading.Event().wait()
"""
"""Comes to no end of its own, whoever is quicker: the process that records stops at the sixth report, until then."""

PYTEST = """
import runpy, signal

signal.signal(signal.SIGHUP, signal.SIG_DFL)
runpy.run_module("pytest", run_name="__main__", alter_sys=True)
"""
"""Hears a hang-up, whoever started the tests: under `nohup` it would be ignored by all that they start."""


def started(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    """A run that goes on until it is ended, with its results below `out` of the folder."""
    (folder / "unfinished.py").write_text(UNFINISHED)
    plugins = ("-p", "xdist", "-p", "unfinished", "-p", "no:cacheprovider")
    return subprocess.Popen(
        [
            *(sys.executable, "-c", PYTEST, *plugins, "probes", "--provider", "pa", "-q"),
            *("--out", str(folder / "out"), *arguments),
        ],
        cwd=CHECKOUT,
        env=child_environ({**OF_OUR_DEPENDENCIES, "PYTHONPATH": str(folder)}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def reported(process: subprocess.Popen[str], folder: Path) -> Path | None:
    """The results file, once something stands in it beside the run; a run that ended before says why."""
    assert process.poll() is None, process.communicate()[0]
    return next((path for path in folder.glob("out/*/results.jsonl") if path.read_bytes().count(b"\n") > 3), None)


@pytest.mark.parametrize(
    ("number", "workers"), [(signal.SIGTERM, ()), (signal.SIGHUP, ()), (signal.SIGTERM, ("-n", "2"))]
)
def test_a_run_that_is_told_to_end_leaves_a_report(
    tmp_path: Path, number: signal.Signals, workers: tuple[str, ...]
) -> None:
    process = started(tmp_path, *workers)
    path = until(lambda: reported(process, tmp_path))
    below = children(process.pid)
    process.send_signal(number)
    output, _ = process.communicate(timeout=DEADLINE_S)
    assert process.returncode == 128 + number, output
    assert f"ended by {number.name}" in output
    assert "Traceback" not in output
    _, results = read_run(path)
    lost = [each for each in results if unreported(each)]
    assert 0 < len(lost) < len(results)
    for view in ("report.html", "summary.md", "junit.xml"):
        assert (path.parent / view).stat().st_size
    assert f"`not-reported` ({len(lost)})" in (path.parent / "summary.md").read_text()
    until(lambda: gone(below))


def test_workers_end_with_a_controller_that_is_killed(tmp_path: Path) -> None:
    process = started(tmp_path, "-n", "2")
    until(lambda: reported(process, tmp_path))
    below = children(process.pid)
    assert len(below) >= 2, "there are workers"
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=DEADLINE_S)
    until(lambda: gone(below))


def test_a_full_disk_ends_the_run_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "full.py").write_text(FULL)
    options = ("-p", "full", "-p", "no:randomly", "--provider", "pa", "--kind", "errors", "-k", "general")
    ran = pytest_probes(tmp_path / "out", *options, environ={"PYTHONPATH": str(tmp_path)})
    assert ran.status == 3, ran.said
    assert "results.jsonl: File too large; make room, or name another folder with --out" in ran.output
    assert "Traceback" not in ran.said
    assert "INTERNALERROR" not in ran.said
    assert any(not unreported(each) for each in ran.lines), "what was written before is read"
    assert any(unreported(each) for each in ran.lines)
