"""Repeats clean runs on a machine under different loads; any outcome but the expected one is an error.

Each run probes records on a mock without faults. The machine differs: one process or several, another order, a busy
processor, a low priority, a slow network. A test that fails once in fifty runs here has a cause.

A run takes one part of the records under one load. After as many runs as there are parts and loads, each record was
probed under each load. `--parts 1` takes all records each time.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
import tomllib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zlib import crc32

import anyio

from catalog_probe.catalog.evidence.harness_results import select_record_results
from catalog_probe.catalog.evidence.results_file import read_run
from catalog_probe.catalog.files.provider_folders import SHIPPED
from catalog_probe.catalog.model import Outcome
from catalog_probe.mockserver.app import create_app
from tests.harness.command import CHECKOUT
from tests.harness.engines import PATHS, catalog
from tests.harness.serving import serving
from tests.harness.target_files import toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PARTS = 14
"""Parts of the records: with seven loads, all combinations take 98 runs."""

TEST_OF = {"endpoints": "test_endpoints.py::test_endpoint", "errors": "test_errors.py::test_error"}
OF_LIMITS = "test_rate_limits.py::test_rate_limit"

EXPECTED = frozenset({Outcome.CONFORMS, Outcome.NOT_PROBED})
LATENCY_S = (0.05, 0.3)
DEADLINE_S = 1800


@dataclass(frozen=True)
class MachineLoad:
    """The load of a run: more arguments, a niceness, a busy process beside it, a slow mock."""

    name: str
    arguments: tuple[str, ...] = ()
    nice: int = 0
    busy: bool = False
    slow: bool = False


LOADS = (
    MachineLoad("serial"),
    MachineLoad("-n 2", ("-n", "2")),
    MachineLoad("-n 4", ("-n", "4")),
    MachineLoad("random order", ("-p", "pytest_randomly")),
    MachineLoad("one CPU busy", ("-n", "2"), busy=True),
    MachineLoad("nice 19", nice=19),
    MachineLoad("50 to 300 ms", slow=True),
)


@dataclass(frozen=True)
class SteadyRunResult:
    """The records with a result, the unexpected outcomes, and the duration of a run."""

    records: frozenset[str]
    unexpected: tuple[str, ...]
    took_s: float


class SlowApp:
    """An app that delays each answer by a random time."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._random = random.Random(7)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request or one WebSocket."""
        await anyio.sleep(self._random.uniform(*LATENCY_S))
        await self._app(scope, receive, send)


def list_tests_of_part(number: int, parts: int) -> list[str]:
    """Return the tests of one part of the records; a hash spreads lanes and kinds evenly."""
    return [
        f"probes/{TEST_OF.get(record.address.kind, OF_LIMITS)}[{record.address}]"
        for record in catalog().records
        if crc32(str(record.address).encode()) % parts == number
    ]


def run_once(load: MachineLoad, folder: Path, chosen: Sequence[str], more: Sequence[str]) -> SteadyRunResult:
    """Run the chosen tests once under this load."""
    out = folder / "out"
    plugins = ("-p", "xdist", "-p", "no:cacheprovider")
    command = [sys.executable, "-m", "pytest", *plugins, "-q", *chosen, "--out", str(out)]
    environ = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    started = time.monotonic()
    with _loaded_machine(load, folder) as target:
        done = subprocess.run(
            ["nice", "-n", str(load.nice), *command, *target, *load.arguments, *more],
            cwd=CHECKOUT,
            env=environ,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
    took = time.monotonic() - started
    files = [path for path in out.glob("*/results.jsonl") if not path.parent.is_symlink()]
    results = [result for path in files for result in select_record_results(read_run(path)[1])]
    unexpected = [
        f"{result.record} {result.outcome}: {result.drifts[0].message if result.drifts else result.reason}"
        for result in results
        if result.outcome not in EXPECTED and not result.is_beyond_verifying
    ]
    if done.returncode and not unexpected:
        unexpected = [f"exit {done.returncode}: {(done.stdout + done.stderr)[-300:]}"]
    return SteadyRunResult(frozenset(result.record for result in results), tuple(unexpected), took)


@contextmanager
def _loaded_machine(load: MachineLoad, folder: Path) -> Iterator[list[str]]:
    """Put the load on the machine, and yield the arguments that name the target."""
    with ExitStack() as stack:
        if load.busy:
            burning = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(burning.kill)
        yield _slow_target(stack.enter_context(serving(SlowApp(create_app()))), folder) if load.slow else []


def _slow_target(base: str, folder: Path) -> list[str]:
    """Write the mock target at another address, without gRPC, which the slow mock does not serve."""
    data = tomllib.loads((SHIPPED.targets / "mock.toml").read_text(encoding="utf-8"))
    for name, table in data["providers"].items():
        table.update({key: f"{base}{prefix}" for key, prefix in PATHS[name].items()})
        table.pop("grpc_host", None)
    path = folder / "slow.toml"
    path.write_text(toml({**data, "name": "slow"}), encoding="utf-8")
    return ["--target", str(path)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs and print a table; return 1 if any outcome was unexpected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="number of runs, each under the next load; default: 100")
    parser.add_argument("--parts", type=int, default=PARTS, help=f"parts of the records; default: {PARTS}")
    parser.add_argument("--first", type=int, default=1, help="number of the first run, to resume; default: 1")
    options, pytest_options = parser.parse_known_args(arguments)
    results: dict[str, list[SteadyRunResult]] = {load.name: [] for load in LOADS}
    for number in range(options.first - 1, options.first - 1 + options.runs):
        load, part = LOADS[number % len(LOADS)], number // len(LOADS) % options.parts
        with tempfile.TemporaryDirectory() as folder:
            result = run_once(load, Path(folder), list_tests_of_part(part, options.parts), pytest_options)
        results[load.name].append(result)
        for outcome in result.unexpected:
            print(f"run {number + 1}, {load.name}, part {part + 1}: {outcome}", flush=True)
    print(f"{'load':14}{'runs':>6}{'records':>9}{'unexpected':>12}{'seconds':>9}")
    for name, runs in results.items():
        if runs:
            unexpected = sum(len(run.unexpected) for run in runs)
            mean_s = sum(run.took_s for run in runs) / len(runs)
            records = len(frozenset().union(*(run.records for run in runs)))
            print(f"{name:14}{len(runs):6}{records:9}{unexpected:12}{mean_s:9.1f}")
    print(f"of {len(catalog())} records; the slow network leaves out those over gRPC")
    return int(any(run.unexpected for runs in results.values() for run in runs))


if __name__ == "__main__":
    sys.exit(main())
