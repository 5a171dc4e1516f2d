"""Runs `pytest probes` as a person would, in a process of its own, and reads what it leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.harness_results import select_record_results
from catalog_probe.catalog.evidence.results_file import read_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run

CHECKOUT = Path(__file__).parent.parent.parent

DEADLINE_S = 600
"""What takes longer hangs. No expectation rests on it: a machine may be many times slower than the one next to it."""

GUARD = Path(__file__).parent / "loopback"
"""Where every Python process that a test starts finds what refuses all but loopback."""

SDK_KEYS = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "XAI_API_KEY")
OF_TARGETS = ("PA_", "PB_", "PC_", "PD_", *SDK_KEYS)
"""How the variables begin that the shipped live target names: a test sets those it means."""

OF_OUR_DEPENDENCIES = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""With `-p xdist`: the plugins that `nox -s probe` has. Those of our own tests take a second to import, a process."""


@dataclass(frozen=True)
class Ran:
    """What a command said and left behind."""

    status: int
    output: str
    errors: str
    out: Path

    @property
    def said(self) -> str:
        return self.output + self.errors

    @property
    def folder(self) -> Path:
        """The folder of the one run below `--out`."""
        (folder,) = (each for each in self.out.iterdir() if (each / "results.jsonl").exists() and not each.is_symlink())
        return folder

    @property
    def run(self) -> Run:
        return read_run(self.folder / "results.jsonl")[0]

    @property
    def lines(self) -> list[Result]:
        """All that the run told, of records and of itself."""
        return read_run(self.folder / "results.jsonl")[1]

    @property
    def results(self) -> dict[str, Result]:
        """Those of records, by address."""
        results = select_record_results(self.lines)
        assert len({result.record for result in results}) == len(results), "a record has one result"
        return {result.record: result for result in results}


def pytest_probes(
    out: Path,
    *arguments: str,
    environ: Mapping[str, str] | None = None,
    what: Sequence[str] = ("probes",),
    deadline_s: float = DEADLINE_S,
) -> Ran:
    """`python -m pytest probes …` in the checkout, with its runs below `out`; nothing of this process leaks in."""
    cache = f"cache_dir={out.parent / 'pytest-cache'}"
    command = [sys.executable, "-m", "pytest", "-p", "xdist", *what, "-o", cache, "--out", str(out), *arguments]
    return ran(out, command, {**OF_OUR_DEPENDENCIES, **(environ or {})}, deadline_s=deadline_s)


def pytest_here(*arguments: str, plugins: Sequence[object] = ()) -> int:
    """`python -m pytest …` in this process and in the checkout, without a cache; its exit status.

    For what ends before anything is probed: what is refused, and what is only planned.
    """
    quiet = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # what is imported already need not be rewritten
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("PYTEST_"):
                patch.delenv(name)
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.chdir(CHECKOUT)
        return int(pytest.main(["-p", "xdist", "-p", "no:cacheprovider", "-s", *quiet, *arguments], plugins=plugins))


def ran(
    out: Path,
    command: list[str],
    environ: Mapping[str, str] | None = None,
    cwd: Path = CHECKOUT,
    deadline_s: float = DEADLINE_S,
) -> Ran:
    """Run a command to its end."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=child_environ({"COLUMNS": "100", "NO_COLOR": "1", **(environ or {})}),
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=deadline_s,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr, out)


def child_environ(given: Mapping[str, str]) -> dict[str, str]:
    """The environment of a process that a test starts: what is given, none of the developer's keys, and the guard.

    The guard (`tests/harness/loopback`) stands before whatever `PYTHONPATH` is given, so that no child dials out. A
    `PATH` that is given stands before the developer's; between them is the folder of this Python, so that `python` is
    this one where its environment is not activated.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_", *OF_TARGETS))}
    path = [str(GUARD), given.get("PYTHONPATH") or kept.get("PYTHONPATH", "")]
    commands = [given.get("PATH", ""), str(Path(sys.executable).parent), kept.get("PATH", "")]
    joined = {name: os.pathsep.join(filter(None, each)) for name, each in (("PYTHONPATH", path), ("PATH", commands))}
    return {**kept, **given, **joined}
