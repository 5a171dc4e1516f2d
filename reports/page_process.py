"""Makes report.html in a process of its own, while the one that ran makes all else: a large run has a second core idle.

It is begun early, so that it has imported what it needs when the results are complete, and waits for a word on its
standard input: where that ends without one, so does it, whatever ended the run. Whoever began it makes the page
himself where it did not, so nothing hangs on it but time, and what goes wrong is said as it always was. What makes
views is imported when one is made: who asks, and is copied meanwhile, needs none of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from catalog.evidence.results_file import RESULTS, read_run

RECORDS = 200
"""Of fewer the page is made sooner than another process starts."""

DEADLINE_S = 120.0
"""What takes longer is not waited for."""

_GO = b"\n"


def is_worth_it(records: int) -> bool:
    """Whether a run of so many records has a page that takes its time, and this machine a core to spare."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return records >= RECORDS and cores > 1


class Beside:
    """The other process, from its start to its end. Where it is not started, it makes nothing."""

    def __init__(self, folder: Path) -> None:
        """For the run of this folder."""
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, environ: Mapping[str, str]) -> None:
        """Start it with these variables, where that can be done."""
        command = [sys.executable, "-P", "-m", __name__, str(self._folder.resolve())]
        with suppress(OSError):
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                start_new_session=True,  # Ctrl-C is for the run, which then tells what it saw
            )

    def begin(self) -> None:
        """Say that results.jsonl is complete."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):  # it has ended already, as is seen later
                self._process.stdin.write(_GO)
                self._process.stdin.flush()
        self.close()

    def close(self) -> None:
        """Close its standard input: without a word it ends by itself."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()

    def is_made(self) -> bool:
        """Wait for its end; whether it made the page. What it left of one that it did not make is removed."""
        if self._process is None:
            return False
        try:
            status = self._process.wait(DEADLINE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        if status:
            from reports import build

            build.fresh(self._folder / build.PAGE, self._process.pid).unlink(missing_ok=True)
        return status == 0


def main(folder: Path) -> int:
    """Load what makes a page, wait for the word, and make it."""
    from reports import build, html, known, markup

    markup.environment()
    if sys.stdin.buffer.read(1) != _GO:
        return 1
    run, results = read_run(folder / RESULTS)
    known.demand(run)
    build.write_view(folder, build.PAGE, html.render, run, results)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
