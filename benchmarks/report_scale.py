"""How a report of very many results does: seconds to build, megabytes, seconds to open it and a record in it."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from reports import build
from tests.system.browser.chromium import chromium
from tests.unit.reports import sample

PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
UNFOLD = "() => document.querySelector('#list td.outcome .conforms').closest('tr').querySelector('a').click()"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=int, default=10_000)
    parser.add_argument("--openings", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = sample.write(Path(name), *sample.many(asked.results))
        started = time.perf_counter()
        build.build(folder)
        built = time.perf_counter() - started
        page = folder / "report.html"
        print(f"{asked.results} results: results.jsonl {_mb(folder / 'results.jsonl'):.1f} MB")
        print(f"built in {built:.1f} s; report.html {_mb(page):.2f} MB, summary.md {_mb(folder / 'summary.md'):.3f} MB")
        seconds = open_times(page, asked.openings)
        print(f"open in Chromium: {_told([whole for whole, _ in seconds])}")
        print(f"unfold a record: {_told([record for _, record in seconds])}")


def open_times(page: Path, openings: int) -> list[tuple[float, float]]:
    """Seconds from asking for the page until its list is drawn and painted, and from a click until a record is."""
    seconds = []
    with chromium() as browser:
        for _ in range(openings):
            tab = browser.new_page(viewport={"width": 1360, "height": 900})
            started = time.perf_counter()
            tab.goto(page.as_uri(), wait_until="load")
            tab.wait_for_selector("#list tr.row")
            tab.evaluate(PAINTED)
            opened = time.perf_counter()
            tab.evaluate(UNFOLD)
            tab.wait_for_selector("#list tr.detail")
            tab.evaluate(PAINTED)
            seconds.append((opened - started, time.perf_counter() - opened))
            tab.close()
    return seconds


def _told(seconds: list[float]) -> str:
    return f"median {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s"


def _mb(path: Path) -> float:
    return path.stat().st_size / 1_000_000


if __name__ == "__main__":
    main()
