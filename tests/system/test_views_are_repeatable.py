"""Views are the same bytes whatever the hash seed and the time zone."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.unit.catalog.catalog_factories import write_run
from tests.unit.reports import sample

if TYPE_CHECKING:
    from pathlib import Path

VIEWS = ("report.html", "summary.md", "junit.xml")


def test_the_same_results_give_the_same_bytes(tmp_path: Path) -> None:
    described, results = sample.make_smaller_run()
    folders = [write_run(tmp_path / name, described, results) for name in ("one", "two")]
    for seed, folder in enumerate(folders):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "TZ": ("UTC", "Asia/Tokyo")[seed]}
        subprocess.run(
            [sys.executable, "-m", "catalog_probe", "report", "build", str(folder)],
            env=environment,
            check=True,
            capture_output=True,
        )
    for name in VIEWS:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
