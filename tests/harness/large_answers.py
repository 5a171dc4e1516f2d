"""Probes a provider whose every JSON answer is nearly as large as may be, and measures what that takes.

`nox -s large`: for each filling and number of workers the peak memory of the process that records and of the largest
that probes, the bytes of results.jsonl, and how many verdicts differ from those on small answers. Exit 1 where one
differs or a bound is broken.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from catalog.evidence.results_file import read_run
from catalog.evidence.self_check import of_records
from probes.target.target_file import SHIPPED
from tests.harness.command import CHECKOUT, OF_OUR_DEPENDENCIES
from tests.harness.target_files import toml

if TYPE_CHECKING:
    from catalog.evidence.results import Result

SIZE = 3_950_000
"""Bytes of the filling: an answer with it is just below the cap of the shipped target."""

MOST_MB = 200
"""Peak memory that each process of a run may take."""

MOST_RESULTS_MB = 40
DEADLINE_S = 3600.0
GLANCE_S = 0.02


@dataclass(frozen=True)
class Took:
    """What a run took, and what it said."""

    seconds: float
    status: int
    recording_mb: float
    probing_mb: float
    """The largest worker's; the recording process's own where there is none."""
    results_mb: float
    verdicts: Mapping[str, str]


@contextmanager
def padded_mock(size: int, shape: str) -> Iterator[Mapping[str, Mapping[str, str]]]:
    """Where each provider of the padded mock is, served by a process of its own."""
    command = [sys.executable, "-m", "tests.harness.padding", str(size), shape]
    process = subprocess.Popen(command, cwd=CHECKOUT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["providers"]
    finally:
        process.stdin.close()
        process.wait(10)


def target_at(addresses: Mapping[str, Mapping[str, str]], path: Path) -> Path:
    """The mock target, where this mock is."""
    data = tomllib.loads((SHIPPED / "mock.toml").read_text(encoding="utf-8"))
    for name, table in data["providers"].items():
        table.update(addresses[name])
    path.write_text(toml({**data, "name": "large"}), encoding="utf-8")
    return path


def measured(size: int, shape: str, arguments: Sequence[str]) -> Took:
    """One whole run on the padded mock."""
    with tempfile.TemporaryDirectory() as name, padded_mock(size, shape) as addresses:
        folder = Path(name)
        target = target_at(addresses, folder / "large.toml")
        command = [sys.executable, "-m", "pytest", "-p", "xdist", "-p", "no:cacheprovider", "probes", "-q", "--tb=no"]
        command += ["--target", str(target), "--out", str(folder / "out"), *arguments]
        started = time.monotonic()
        with (folder / "said").open("wb") as said:
            process = subprocess.Popen(
                command,
                cwd=CHECKOUT,
                env={**os.environ, **OF_OUR_DEPENDENCIES},
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
            peaks = _peaks(process, started)
        (results,) = (each for each in (folder / "out").glob("*/results.jsonl") if not each.parent.is_symlink())
        told = {each.record: f"{each.outcome} {each.reason.code if each.reason else ''}" for each in _told(results)}
        own = peaks.pop(process.pid)
        return Took(
            time.monotonic() - started,
            process.returncode,
            own,
            max(peaks.values(), default=own),
            results.stat().st_size / 1e6,
            told,
        )


def _told(results: Path) -> Sequence[Result]:
    return of_records(read_run(results)[1])


def _peaks(process: subprocess.Popen[bytes], started: float) -> dict[int, float]:
    """Peak memory in MB of a process and of those that it started, until it ends."""
    peaks: dict[int, float] = {process.pid: 0.0}
    while process.poll() is None:
        if time.monotonic() - started > DEADLINE_S:
            process.kill()
        for pid in (process.pid, *_children(process.pid)):
            peaks[pid] = max(peaks.get(pid, 0.0), _peak_mb(pid))
        time.sleep(GLANCE_S)
    return peaks


def _children(pid: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def _peak_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM")), 0.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print a line a run, and say with the exit status whether all was within its bounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=SIZE, help=f"bytes of the filling; default: {SIZE}")
    parser.add_argument("--shape", action="append", help="text, wide, lists, names or escapes; again for more")
    parser.add_argument("--workers", type=int, action="append", help="0 for none; again for more; default: 0 and 2")
    chosen, more = parser.parse_known_args(arguments)
    bad = False
    small = measured(10, "text", ["-n", "0", *more])
    _say(f"{'filling':10}{'workers':>8}{'seconds':>9}{'recording':>11}{'probing':>9}{'results':>9} MB  verdicts")
    _say(_line("none", 0, small))
    for shape in chosen.shape or ["text"]:
        for workers in chosen.workers if chosen.workers is not None else (0, 2):
            took = measured(chosen.size, shape, ["-n", str(workers), *more])
            differ = sorted(each for each in small.verdicts if took.verdicts.get(each) != small.verdicts[each])
            _say(f"{_line(shape, workers, took)}, {len(differ)} otherwise")
            for each in differ[:20]:
                _say(f"  {each}: {small.verdicts[each]} -> {took.verdicts.get(each)}")
            over = max(took.recording_mb, took.probing_mb) > MOST_MB or took.results_mb > MOST_RESULTS_MB
            bad = bad or over or bool(differ)
    return int(bad)


def _line(shape: str, workers: int, took: Took) -> str:
    figures = f"{took.seconds:9.1f}{took.recording_mb:11.0f}{took.probing_mb:9.0f}{took.results_mb:9.1f}"
    return f"{shape:10}{workers:8}{figures}     {len(took.verdicts)}, exit {took.status}"


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
