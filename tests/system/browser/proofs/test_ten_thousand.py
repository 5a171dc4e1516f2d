"""A report of ten thousand results opens and can be searched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.system.browser.test_page import opens

if TYPE_CHECKING:
    from pathlib import Path

    from tests.system.browser.chromium import Visit


def test_ten_thousand_results_open(visit: Visit, tmp_path: Path) -> None:
    opens(10_000, visit, tmp_path / "report.html")
