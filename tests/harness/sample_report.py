"""The report that the documentation links: a night of the mock with `--as-published`, made while the site is built."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.harness import field
from tests.harness.command import CHECKOUT, pytest_probes

PAGE = "sample/report.html"
"""Where it stands in the site."""

FOLDER = Path(".cache/sample-report")
"""Where it is made: relative, so that no command in it names a folder of this machine."""

REPORT = CHECKOUT / FOLDER / "out" / "latest" / "report.html"

PROVIDERS = "pa,pb,pc"
"""Those that contradict their documents; PD's low limits would be waited for longer than all else takes."""

RATE = 50.0
"""Requests a second and key: the mock need not be spared."""

DEADLINE_S = 300


def make() -> None:
    """Probe, and leave the report at `REPORT`.

    Raises:
        RuntimeError: the run left none; with the end of what it said.
    """
    folder = CHECKOUT / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with field.served() as addresses:
        environ = field.live_target(folder / "field.toml", addresses, rate=RATE)
        chosen = ("--target", str(FOLDER / "field.toml"), "--provider", PROVIDERS, "--depth", "quick")
        ran = pytest_probes(FOLDER / "out", *chosen, environ=environ, deadline_s=DEADLINE_S)
    if not REPORT.is_file():
        raise RuntimeError(f"the sample run left no report, with status {ran.status}: {ran.said[-2000:]}")
