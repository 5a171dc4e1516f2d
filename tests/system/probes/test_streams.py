"""A run works with a full or closed stdout, and under `python -O`; on a full disk it says so."""

from __future__ import annotations

import errno
import os
import shlex
import sys
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.errors import Exit
from tests.harness.command import NO_TEST_PLUGINS, CommandResult, run_command

if TYPE_CHECKING:
    from pathlib import Path

RECORD = "pd/errors/not_found/unknown_path"


def probe_through_shell(out: Path, where: str, before: str = "", **environ: str) -> CommandResult:
    """One record on the mock, by a shell that sends what is printed elsewhere."""
    words = [sys.executable, "-m", "pytest", "probes", "-p", "no:cacheprovider", "--out", str(out), "-k", RECORD]
    return run_command(out, ["sh", "-c", f"{before}{shlex.join(words)} {where}"], {**NO_TEST_PLUGINS, **environ})


@pytest.mark.parametrize(
    ("where", "environ", "status", "said"),
    [
        (">/dev/full", {}, Exit.HARNESS_ERROR, "catalog-probe: stdout: No space left on device; {command} prints it\n"),
        (">&- 2>&- <&-", {}, Exit.FINE, ""),
        ("", {"PYTHONOPTIMIZE": "1"}, Exit.FINE, ""),
    ],
    ids=["full", "closed", "optimized"],
)
def test_a_run_with_unwritable_stdout_keeps_results_and_status(
    where: str, environ: dict[str, str], status: Exit, said: str, tmp_path: Path
) -> None:
    done = probe_through_shell(tmp_path / "out", where, **environ)
    assert {result.outcome for result in done.results.values()} == {Outcome.CONFORMS}
    assert (done.folder / "report.html").is_file()
    assert done.errors == said.format(command=f"`catalog-probe report show {done.folder}`")
    assert done.status == status


NO_ROOM = os.strerror(errno.EFBIG)


def test_a_disk_without_room_for_views_is_our_own_fault(tmp_path: Path) -> None:
    """No file may have more than 64 blocks of 512 bytes, which fails as a full disk does.

    Without room for results: test_terminated_runs.py.
    """
    done = probe_through_shell(tmp_path / "out", "", before="ulimit -f 64; ")
    assert done.status == Exit.HARNESS_ERROR
    assert done.output.count(NO_ROOM) == 1
    assert f"the report: {NO_ROOM}; mend that, then `catalog-probe report build " in done.output
    assert not list((tmp_path / "out").glob("*/report.html"))


@pytest.mark.parametrize("where", ["2>/dev/full", "2>&-"])
def test_wrong_usage_exits_4_even_with_unwritable_stderr(where: str, tmp_path: Path) -> None:
    words = shlex.join([sys.executable, "-m", "pytest", "probes", "-p", "no:cacheprovider", "--depth", "nonsense"])
    done = run_command(tmp_path, ["sh", "-c", f"{words} {where}"], NO_TEST_PLUGINS)
    assert done.status == Exit.USAGE
    assert done.errors == ""


def test_tests_are_refused_when_python_skips_asserts(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "--collect-only", __file__]
    done = run_command(tmp_path, words, {**NO_TEST_PLUGINS, "PYTHONOPTIMIZE": "1"})
    assert done.status == Exit.USAGE
    assert done.errors == "ERROR: tests assert, and PYTHONOPTIMIZE leaves that out; unset it\n\n"
