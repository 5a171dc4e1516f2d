"""The committed example report is up to date."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from catalog_probe.reports.build import build
from tests.harness.sample_report import EXAMPLE

if TYPE_CHECKING:
    from pathlib import Path


def test_the_example_report_is_made_of_its_results(tmp_path: Path) -> None:
    """If it differs, `python -m tests.harness.sample_report` makes the example anew."""
    shutil.copyfile(EXAMPLE / "results.jsonl", tmp_path / "results.jsonl")
    build(tmp_path)
    assert (tmp_path / "report.html").read_bytes() == (EXAMPLE / "report.html").read_bytes()
