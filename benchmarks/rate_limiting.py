"""Times live runs under rate budgets, and prints how much longer they take than a budget asks.

Each is a whole `pytest probes` against a provider at loopback that enforces its limits and tells them (`limited.py`):
of requests by the second, so that so many cannot take less than an interval each but the first; of tokens by a bucket
of a minute. Two keys draw on both. Time is counted where it is asked, from the first request to the last, and with it
what was refused and the busiest second, as a share of what a second may hold. Nothing is asserted: read the ratios,
and aim below 1.05.

    python benchmarks/rate_limiting.py
    python benchmarks/rate_limiting.py --per-minute 3000 --workers 1 --latency-ms 50 --seconds 20
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.generated import KEY, write_target
from benchmarks.limited import ROLES, TOKENS, write_limited_home

ROOT = Path(__file__).resolve().parent.parent
FEWEST = 12
"""Requests of a run that would have fewer in its time."""
MORE_S = 0.2
"""By how much longer, as a share, the limit of tokens takes where there is one, than that of requests."""


def main() -> None:
    asked = _options()
    print(f"{os.cpu_count()} cores, {asked.seconds:.0f} s a run\n")
    print("| a minute | tokens | workers | latency | requests | took | at least | ratio | refused | busiest second |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    axes = (asked.per_minute, (False, True), asked.workers, asked.latency_ms)
    for per_minute, metered, workers, latency_ms in itertools.product(*axes):
        with tempfile.TemporaryDirectory() as folder:
            row(Path(folder), per_minute, workers, latency_ms, asked.seconds, metered=metered)


def row(folder: Path, per_minute: int, workers: int, latency_ms: int, seconds: float, *, metered: bool) -> None:
    """Print what one run came to."""
    number = max(FEWEST, round(per_minute * seconds / 60))
    write_limited_home(folder / "home", number, per_minute)
    least = number * 60 / per_minute
    tokens = round(number * TOKENS / (1 + least * (1 + MORE_S) / 60)) if metered else None
    with provider(number, per_minute, tokens, latency_ms) as (address, seen):
        run(folder, address, workers)
    least = (seen["requests"] - 1) * 60 / per_minute
    if tokens is not None:
        least = max(least, (seen["requests"] * TOKENS - tokens) * 60 / tokens)
    told = (
        *(per_minute, tokens or "", workers, f"{latency_ms} ms", seen["requests"]),
        *(f"{seen['seconds']:.2f} s", f"{least:.2f} s", f"{seen['seconds'] / least:.3f}", seen["refused"]),
        f"{seen['most_in_a_second'] / max(1.0, per_minute / 60):.0%}",
    )
    print(f"| {' | '.join(map(str, told))} |", flush=True)


def run(folder: Path, address: str, workers: int) -> None:
    """A live run of all of it.

    Raises:
        SystemExit: it did not find everything as it should be, and so measures nothing.
    """
    target = write_target(folder / "home", address, live=True)
    target.write_text(target.read_text() + "".join(f'{each} = "env:PX_KEY"\n' for each in ROLES[1:]))
    options = ("--catalog", str(folder / "home"), "--target", str(target), "--out", str(folder / "out"))
    spread = ("-n", str(workers)) if workers > 1 else ()
    command = (sys.executable, "-m", "pytest", "probes", "-q", "-p", "no:cacheprovider", *options, *spread)
    environ = {**os.environ, "PX_KEY": KEY, "PYTHONPATH": str(ROOT)}
    ran = subprocess.run(command, check=False, cwd=ROOT, env=environ, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(f"the run ended with {ran.returncode}:\n{ran.stdout[-2000:]}{ran.stderr[-2000:]}")


@contextmanager
def provider(number: int, per_minute: int, tokens: int | None, latency_ms: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The address of the limited provider, in a process of its own, and what it saw, once it has ended."""
    command = [sys.executable, "benchmarks/limited.py", str(number), "--per-minute", str(per_minute)]
    command += ["--latency-ms", str(latency_ms)]
    command += ["--tokens-per-minute", str(tokens)] if tokens is not None else []
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    seen: dict[str, Any] = {}
    try:
        yield json.loads(process.stdout.readline())["base_url"], seen
    finally:
        last, _ = process.communicate()
        seen.update(json.loads(last or "{}"))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--per-minute", type=int, nargs="+", default=[60, 300, 600, 1_200, 3_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 3])
    parser.add_argument("--latency-ms", type=int, nargs="+", default=[0, 50])
    parser.add_argument("--seconds", type=float, default=6.0, help="what a run takes at least by the limit of requests")
    return parser.parse_args()


if __name__ == "__main__":
    main()
