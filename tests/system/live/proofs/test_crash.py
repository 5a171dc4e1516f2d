"""kill -9 at random moments leaves nothing half written and no process behind.

Ten times, or as often as the variable CRASHES says. tests/system/probes/test_killed.py kills one run, each time.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.check import validate
from catalog_probe.catalog.evidence.completeness import select_record_results
from catalog_probe.catalog.evidence.results_file import read_run
from catalog_probe.catalog.files.store import RECORDS, Catalog
from catalog_probe.catalog.model import Tag
from catalog_probe.reports import build
from tests.harness.command import CHECKOUT, DEADLINE_S, child_environ, pytest_probes
from tests.harness.live import LiveTarget, mock_process, write_live_target
from tests.harness.processes import have_ended, wait_for

if TYPE_CHECKING:
    from collections.abc import Mapping

CRASHES = int(os.environ.get("CRASHES", "10"))
CHOSEN = ("--provider", "pa", "--kind", "endpoints", "-k", "models or count_tokens or unknown")
MODEL = "pa/endpoints/models/get_model"


def killed_after(seconds: float, command: list[str], environ: Mapping[str, str]) -> int:
    """Start a command, kill it when the time is up, and say how it ended; it may be done by then."""
    process = subprocess.Popen(
        command, cwd=CHECKOUT, env=child_environ(environ), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        return process.wait()


def probing(tonight: LiveTarget, records: Path, out: Path) -> list[str]:
    arguments = ["--target", str(tonight.path), "--catalog", str(records), "--out", str(out), "--update", *CHOSEN]
    return [sys.executable, "-m", "pytest", "probes", "-q", "-p", "no:cacheprovider", *arguments]


def assert_whole(records: Path, out: Path) -> None:
    """The catalog is valid, and every results file tells what it has."""
    assert [str(problem) for problem in validate.check_catalog(records)] == []
    for path in out.glob("*/results.jsonl"):
        if path.stat().st_size:  # killed before its first line was written, it says nothing, truly
            run, results = read_run(path)
            assert run.target == "night"
            assert all(result.record.startswith("pa/") for result in results)


def test_nothing_is_half_written_and_a_second_run_finishes_the_work(tmp_path: Path) -> None:
    records, out = tmp_path / "records", tmp_path / "out"
    shutil.copytree(RECORDS / "pa", records / "pa", ignore=shutil.ignore_patterns(".cache"))
    moments = random.Random(20261121)
    killed = 0
    with mock_process("pa") as addresses:
        tonight = write_live_target(tmp_path, addresses)
        started = time.monotonic()
        whole = pytest_probes(tmp_path / "whole", "--target", str(tonight.path), *CHOSEN, environ=tonight.environ)
        takes = time.monotonic() - started
        assert whole.status == 0, whole.all_output
        updating = [
            sys.executable,
            "-m",
            "catalog_probe",
            "catalog",
            "update",
            str(whole.folder),
            "--catalog",
            str(records),
        ]
        for _ in range(CRASHES):
            moment = moments.uniform(0.1, 1.0) * takes
            killed += killed_after(moment, probing(tonight, records, out), tonight.environ) == -signal.SIGKILL
            killed += killed_after(moments.uniform(0.05, 0.6), updating, {}) == -signal.SIGKILL
            assert_whole(records, out)
        again = subprocess.run(
            probing(tonight, records, out),
            cwd=CHECKOUT,
            env=child_environ(tonight.environ),
            capture_output=True,
            check=False,
        )
    assert killed >= CRASHES // 2, "the moments should lie within the work"
    assert again.returncode == 0, again.stdout.decode()
    assert Tag.LIVE_VERIFIED in Catalog.load(records)[MODEL].tags
    assert not list(records.rglob("*.tmp")), "what a killed writer left is removed by the next"


def below(pid: int) -> list[int]:
    """The processes that a process started, and those that they did."""
    try:
        own = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []
    return [each for child in own for each in (child, *below(child))]


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="looks for processes in /proc")
def test_a_kill_leaves_readable_results_and_no_process(tmp_path: Path) -> None:
    out = tmp_path / "out"
    moments = random.Random(20261122)
    victims: Counter[str] = Counter()
    command = [sys.executable, "-m", "pytest", "-p", "xdist", "probes", "-n", "2", "--out", str(out), *CHOSEN]
    command += ["-q", "-p", "no:cacheprovider"]
    started = time.monotonic()
    assert pytest_probes(tmp_path / "whole", "-n", "2", *CHOSEN).status == 0
    takes = time.monotonic() - started
    outlived: list[float] = []
    for number in range(CRASHES):
        process = subprocess.Popen(
            command, cwd=CHECKOUT, env=child_environ({}), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + moments.uniform(0.1, 1.0) * takes
        while process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        tree = below(process.pid)
        wanted = [process.pid, *tree][(number % 3) % (1 + len(tree))]
        victims["controller" if wanted == process.pid else "child"] += process.poll() is None
        with contextlib.suppress(ProcessLookupError):
            os.kill(wanted, signal.SIGKILL)
        tree += below(process.pid)
        process.wait(timeout=DEADLINE_S)
        ended = time.monotonic()
        wait_for(partial(have_ended, tree))  # nobody goes on without the one that records
        outlived.append(time.monotonic() - ended)
        for path in out.glob("*/results.jsonl"):
            if path.stat().st_size:
                run, results = read_run(path)
                assert {result.record for result in select_record_results(results)} == set(run.selected or ())
                build.build(path.parent)
    again = pytest_probes(tmp_path / "again", *CHOSEN)
    assert again.status == 0, again.all_output
    assert victims["controller"]
    assert victims["child"]
    sys.stdout.write(f"\n{CRASHES} runs were killed; the last process of one was gone {max(outlived):.2f} s after it\n")
