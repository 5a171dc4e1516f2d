"""How cost grows with the records: milliseconds of CPU a record for each stage, and the memory of a run.

Each stage is a whole process on a generated home (`generated.py`) of so many records, each with one request. Nothing is
asserted: no column should grow from row to row.

    python benchmarks/growth.py --records 500 2000 8000
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.generated import write_home, write_target
from benchmarks.peers import Took, Tool, provider, took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, nargs="+", default=[500, 2_000, 8_000])
    asked = parser.parse_args()
    print(f"CPU in ms a record, {os.cpu_count()} cores\n")
    print("| records | check | plan | run | views | write-back | peak memory |\n|---|---|---|---|---|---|---|")
    for number in asked.records:
        with tempfile.TemporaryDirectory() as name:
            print(row(Path(name), number), flush=True)


def row(folder: Path, number: int) -> str:
    """The costs of a home of so many records."""
    home, out = write_home(folder / "home", number), folder / "out"
    probes = ("pytest", "probes", "-q", "-p", "no:cacheprovider", "--catalog", str(home), "--out", str(out))
    check = took(_python("check", "-m", "catalog_probe", "check", "--catalog", str(home)), folder)
    with provider(number, 0) as address:
        target = str(write_target(home, address, live=True))
        plan = took(_python("plan", "-m", *probes, "--target", target, "--plan"), folder)
        run = took(_python("run", "-m", *probes, "--target", target), folder)
    views = took(_python("views", "-m", "catalog_probe", "report", "build", str(out / "latest")), folder)
    update = ("catalog_probe", "catalog", "update", str(out / "latest"), "--catalog", str(home))
    write_back = took(_python("write-back", "-m", *update), folder)
    cells = (f"{1000 * each.cpu_s / number:.2f}" for each in (check, plan, run, views, write_back))
    return f"| {number} | {' | '.join(cells)} | {_most(run)} |"


def _most(run: Took) -> str:
    return f"{run.peak_mb:.0f} MB"


def _python(name: str, *arguments: str) -> Tool:
    return Tool(name, (sys.executable, *arguments))


if __name__ == "__main__":
    main()
