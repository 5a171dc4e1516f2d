"""Runs `pytest probes` as a person would, in a process of its own or in this one, and reads what it leaves."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.completeness import select_record_results
from catalog_probe.catalog.evidence.results_file import read_run

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.catalog.evidence.results import Result, Run

CHECKOUT = Path(__file__).parent.parent.parent

DEADLINE_S = 600
"""Seconds after which a wait counts as a hang. No expectation rests on it: some machines are many times slower."""

LOOPBACK_GUARD = Path(__file__).parent / "loopback"
"""First on the `PYTHONPATH` of each child process: its `sitecustomize` refuses every address but loopback."""

SDK_KEYS = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "XAI_API_KEY")
TARGET_VARIABLES = ("PA_", "PB_", "PC_", "PD_", *SDK_KEYS)
"""Prefixes of the variables that the shipped live target reads: a test sets the ones that it needs."""

PLAIN_TEXT = {"COLUMNS": "100", "NO_COLOR": "1"}
"""The terminal of each run."""

NO_TEST_PLUGINS = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""With `-p xdist`: the plugins that `nox -s probe` has. Importing those of our tests takes a second a process."""


@dataclass(frozen=True)
class CommandResult:
    """A finished command: its exit status, its output, and the folder of its `--out`."""

    status: int
    output: str
    errors: str
    out: Path

    @property
    def all_output(self) -> str:
        return self.output + self.errors

    @property
    def folder(self) -> Path:
        """The folder of the one run below `--out`."""
        runs = [path.parent for path in self.out.glob("*/results.jsonl") if not path.parent.is_symlink()]
        (folder,) = runs
        return folder

    @property
    def run(self) -> Run:
        return read_run(self.folder / "results.jsonl")[0]

    @property
    def lines(self) -> list[Result]:
        """All lines of the results file: results of records, and of the harness itself."""
        return read_run(self.folder / "results.jsonl")[1]

    @property
    def results(self) -> dict[str, Result]:
        """The results of records, by address."""
        results = select_record_results(self.lines)
        assert len({result.record for result in results}) == len(results), "a record has one result"
        return {result.record: result for result in results}


def pytest_probes(
    out: Path,
    *arguments: str,
    environ: Mapping[str, str] | None = None,
    paths: Sequence[str] = ("probes",),
    deadline_s: float = DEADLINE_S,
) -> CommandResult:
    """Run `python -m pytest probes …` in the checkout, with its runs below `out` and a clean environment.

    For runs of which the process is the point, as with workers and signals; `probe_here` takes a quarter of the time.
    """
    cache = f"cache_dir={out.parent / 'pytest-cache'}"
    command = [sys.executable, "-m", "pytest", "-p", "xdist", *paths, "-o", cache, "--out", str(out), *arguments]
    return run_command(out, command, {**NO_TEST_PLUGINS, **(environ or {})}, deadline_s=deadline_s)


def probe_here(
    out: Path, *arguments: str, environ: Mapping[str, str] | None = None, paths: Sequence[str] = ("probes",)
) -> CommandResult:
    """Run `pytest probes …` in this process, with its runs below `out` and none of the developer's keys."""
    output, errors = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output), redirect_stderr(errors):
        for name in [name for name in os.environ if name.startswith(TARGET_VARIABLES)]:
            patch.delenv(name)
        for name, value in {**PLAIN_TEXT, **(environ or {})}.items():
            patch.setenv(name, value)
        status = run_pytest_here(*paths, "--out", str(out), *arguments)
    return CommandResult(status, output.getvalue(), errors.getvalue(), out)


def run_pytest_here(*arguments: str, plugins: Sequence[object] = ()) -> int:
    """Run pytest in this process and in the checkout, without a cache, and return its exit status."""
    quiet = ("-W", "ignore::pytest.PytestAssertRewriteWarning")  # for modules that are imported already
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith("PYTEST_"):
                patch.delenv(name)
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        patch.chdir(CHECKOUT)
        return int(pytest.main(["-p", "xdist", "-p", "no:cacheprovider", "-s", *quiet, *arguments], plugins=plugins))


def run_command(
    out: Path,
    command: list[str],
    environ: Mapping[str, str] | None = None,
    cwd: Path = CHECKOUT,
    deadline_s: float = DEADLINE_S,
) -> CommandResult:
    """Run a command to its end in a clean environment."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=child_environ({**PLAIN_TEXT, **(environ or {})}),
        capture_output=True,
        text=True,
        errors="backslashreplace",
        timeout=deadline_s,
        check=False,
    )
    return CommandResult(done.returncode, done.stdout, done.stderr, out)


def child_environ(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a child process: `variables`, none of the developer's keys, and the loopback guard.

    `PYTHONPATH` begins with the guard, so that no child dials out. `PATH` is the one in `variables`, then the folder of
    this Python (its environment need not be activated), then the developer's.
    """
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", *TARGET_VARIABLES))
    }
    python_path = [str(LOOPBACK_GUARD), variables.get("PYTHONPATH") or inherited.get("PYTHONPATH", "")]
    path = [variables.get("PATH", ""), str(Path(sys.executable).parent), inherited.get("PATH", "")]
    return {
        **inherited,
        **variables,
        "PYTHONPATH": os.pathsep.join(filter(None, python_path)),
        "PATH": os.pathsep.join(filter(None, path)),
    }
