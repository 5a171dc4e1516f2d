"""Makes the example report, `reports/example/`: a night on the mock with `--as-published`, so that causes are shown.

usage: python -m tests.harness.sample_report
"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.harness import field
from tests.harness.command import CHECKOUT, pytest_probes

EXAMPLE = CHECKOUT / "reports" / "example"
"""Where it is committed; the documentation links it."""

FILES = ("results.jsonl", "report.html")

PAGE = "sample/report.html"
"""Where it stands in the documentation's site."""

CHOSEN = ("--provider", "pa,pb", "--kind", "errors", "-k", "general or quota", "--depth", "quick")
"""Few records, for the report is committed; those of PA and PB differ most from their documents."""

FOLDER = Path(".cache/sample-report")
"""Where the run is made: relative, so that no printed command names a folder of this machine."""

RATE = 50.0
"""Requests a second and key: the mock need not be spared."""

DEADLINE_S = 300


def make() -> None:
    """Probe, and replace the committed example.

    Raises:
        RuntimeError: the run left no report; with the end of what it printed.
    """
    folder = CHECKOUT / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with field.serving_as_published() as addresses:
        environ = field.write_live_target(folder / "as_published.toml", addresses, rate=RATE)
        target = ("--target", str(FOLDER / "as_published.toml"))
        ran = pytest_probes(FOLDER / "out", *target, *CHOSEN, environ=environ, deadline_s=DEADLINE_S)
    run = folder / "out" / "latest"
    if not (run / "report.html").is_file():
        raise RuntimeError(f"the sample run left no report, with status {ran.status}: {ran.all_output[-2000:]}")
    EXAMPLE.mkdir(exist_ok=True)
    for name in FILES:
        shutil.copyfile(run / name, EXAMPLE / name)


if __name__ == "__main__":
    make()
