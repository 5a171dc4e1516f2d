"""A run that never ends by itself: the plugin that holds it up, and the function that starts it."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.harness.command import CHECKOUT, NO_TEST_PLUGINS, child_environ
from tests.harness.processes import wait_for_signal

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pytest

MAX_REPORTED = 5
"""Reported items; the recording process then sleeps until it is ended."""

SELECTED = ("--provider", "pa", "--kind", "endpoints", "-k", "list or get")
"""Selects more items than are reported."""

PYTEST = """
import runpy, signal

signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("pytest", run_name="__main__", alter_sys=True)
"""
"""Runs pytest with default signal handlers: under `nohup` or behind `&` a child inherits ignored signals."""

_started_tests: list[str] = []


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Sleep at the first item beyond `MAX_REPORTED`."""
    if report.when == "setup" and "PYTEST_XDIST_WORKER" not in os.environ:
        _started_tests.append(report.nodeid)
        if len(_started_tests) > MAX_REPORTED:
            wait_for_signal()


def start_run(folder: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start such a run, with its results below `out` of the folder."""
    return start_probes(folder, "-p", "tests.harness.unfinished", *SELECTED, *arguments, environ=environ)


def start_probes(folder: Path, *arguments: str, environ: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
    """Start `pytest probes` with default signal handlers, and with its results below `out` of the folder."""
    common = ("-p", "xdist", "-p", "no:cacheprovider", "probes", "-q", "--out", str(folder / "out"))
    return subprocess.Popen(
        [sys.executable, "-c", PYTEST, *common, *arguments],
        cwd=CHECKOUT,
        env=child_environ({**NO_TEST_PLUGINS, "PYTHONPATH": str(CHECKOUT), **(environ or {})}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def find_results_file(process: subprocess.Popen[str], folder: Path) -> Path | None:
    """Return the results file once it has results; fail with the output of a run that has ended."""
    assert process.poll() is None, process.communicate()[0]
    return next((path for path in folder.glob("out/*/results.jsonl") if path.read_bytes().count(b"\n") > 3), None)
