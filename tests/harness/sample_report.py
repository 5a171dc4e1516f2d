"""Makes the example report, `reports/example/`, from a night on the mock with `--as-published`.

usage: python -m tests.harness.sample_report
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.harness import field
from tests.harness.command import CHECKOUT, pytest_probes

EXAMPLE = CHECKOUT / "reports" / "example"
"""The committed example, which the documentation links."""

FILES = ("results.jsonl", "report.html")

PAGE = "sample/report.html"
"""Its path in the documentation's site."""

CHOSEN = ("--provider", "pa,pb", "--kind", "errors", "-k", "general or quota", "--depth", "quick")
"""Few records, because the report is committed; those of PA and PB differ most from the documents."""

FOLDER = Path(".cache/sample-report")
"""The folder of the run; relative, so that no printed command contains a path of this machine."""

RATE = 50.0
"""Requests per second and key; a mock needs no limit."""

DEADLINE_S = 300


def make() -> None:
    """Probe, and replace the committed example.

    Raises:
        RuntimeError: the run left no report; the message has the end of its output.
    """
    folder = CHECKOUT / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with field.serving_as_published() as addresses:
        environ = field.write_live_target(folder / "as_published.toml", addresses, rate=RATE)
        target = ("--target", str(FOLDER / "as_published.toml"))
        result = pytest_probes(FOLDER / "out", *target, *CHOSEN, environ=environ, deadline_s=DEADLINE_S)
    run = folder / "out" / "latest"
    if not (run / "report.html").is_file():
        raise RuntimeError(f"the sample run left no report, with status {result.status}: {result.all_output[-2000:]}")
    EXAMPLE.mkdir(exist_ok=True)
    for name in FILES:
        shutil.copyfile(run / name, EXAMPLE / name)


if __name__ == "__main__":
    make()
