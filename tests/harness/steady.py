"""Clean runs, again and again, as machines are. An outcome that is not expected of a mock fails it.

Each run probes records on a mock that does nothing wrong. What differs is the machine: one process or several,
another order, a busy processor, a low priority, a slow network. What is red once in fifty here has a cause.

A run takes one part of the records in one way; after as many runs as there are parts and ways each record was probed in
each way. `--parts 1` takes all of them each time.
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
"""Into how many parts the records fall: with seven ways, all have come round after 98 runs."""

TEST_OF = {"endpoints": "test_endpoints.py::test_endpoint", "errors": "test_errors.py::test_error"}
OF_LIMITS = "test_rate_limits.py::test_rate_limit"

EXPECTED = frozenset({Outcome.CONFORMS, Outcome.NOT_PROBED})
LATENCY_S = (0.05, 0.3)
DEADLINE_S = 1800


@dataclass(frozen=True)
class MachineLoad:
    """How a run is made: more arguments, a niceness, a process that keeps a CPU busy beside it, a slow mock."""

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
    """What a run ended with: the records that had a result, what was not expected, and how many seconds it took."""

    records: frozenset[str]
    unexpected: tuple[str, ...]
    took_s: float


class SlowApp:
    """An app that answers late, each request by another delay."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self._lots = random.Random(7)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one request or one WebSocket."""
        await anyio.sleep(self._lots.uniform(*LATENCY_S))
        await self._app(scope, receive, send)


def list_tests_of_part(number: int, parts: int) -> list[str]:
    """The tests of one part of the records: of those of each lane and kind about as many in each part."""
    return [
        f"probes/{TEST_OF.get(record.address.kind, OF_LIMITS)}[{record.address}]"
        for record in catalog().records
        if crc32(str(record.address).encode()) % parts == number
    ]


def run_once(way: MachineLoad, folder: Path, chosen: Sequence[str], more: Sequence[str]) -> SteadyRunResult:
    """Make one run in this way, of the tests that are chosen."""
    out = folder / "out"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "xdist",
        "-p",
        "no:cacheprovider",
        "-q",
        *chosen,
        "--out",
        str(out),
    ]
    environ = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST_")}
    environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    started = time.monotonic()
    with _loaded_machine(way, folder) as target:
        done = subprocess.run(
            ["nice", "-n", str(way.nice), *command, *target, *way.arguments, *more],
            cwd=CHECKOUT,
            env=environ,
            capture_output=True,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )
    took = time.monotonic() - started
    files = [path for path in out.glob("*/results.jsonl") if not path.parent.is_symlink()]
    results = [each for path in files for each in select_record_results(read_run(path)[1])]
    unexpected = [
        f"{each.record} {each.outcome}: {each.drifts[0].message if each.drifts else each.reason}"
        for each in results
        if each.outcome not in EXPECTED and not each.is_beyond_verifying
    ]
    if done.returncode and not unexpected:
        unexpected = [f"exit {done.returncode}: {(done.stdout + done.stderr)[-300:]}"]
    return SteadyRunResult(frozenset(each.record for each in results), tuple(unexpected), took)


@contextmanager
def _loaded_machine(way: MachineLoad, folder: Path) -> Iterator[list[str]]:
    """The machine as this way has it, until the run is over; the arguments that name its target."""
    with ExitStack() as stack:
        if way.busy:
            burning = stack.enter_context(subprocess.Popen([sys.executable, "-c", "while True: pass"]))
            stack.callback(burning.kill)
        yield _slow_target(stack.enter_context(serving(SlowApp(create_app()))), folder) if way.slow else []


def _slow_target(base: str, folder: Path) -> list[str]:
    """The mock target at another address; gRPC, which is served elsewhere, is left out."""
    data = tomllib.loads((SHIPPED.targets / "mock.toml").read_text(encoding="utf-8"))
    for name, table in data["providers"].items():
        table.update({key: f"{base}{prefix}" for key, prefix in PATHS[name].items()})
        table.pop("grpc_host", None)
    path = folder / "slow.toml"
    path.write_text(toml({**data, "name": "slow"}), encoding="utf-8")
    return ["--target", str(path)]


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the runs, print a table, and say with the exit status whether all was as expected."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="runs in all, the ways in turn; default: 100")
    parser.add_argument("--parts", type=int, default=PARTS, help=f"parts of the records, in turn; default: {PARTS}")
    parser.add_argument("--first", type=int, default=1, help="the number of the first run, to go on; default: 1")
    chosen, more = parser.parse_known_args(arguments)
    seen: dict[str, list[SteadyRunResult]] = {way.name: [] for way in LOADS}
    for number in range(chosen.first - 1, chosen.first - 1 + chosen.runs):
        way, its_part = LOADS[number % len(LOADS)], number // len(LOADS) % chosen.parts
        with tempfile.TemporaryDirectory() as folder:
            found = run_once(way, Path(folder), list_tests_of_part(its_part, chosen.parts), more)
        seen[way.name].append(found)
        for each in found.unexpected:
            print(f"run {number + 1}, {way.name}, part {its_part + 1}: {each}", flush=True)
    print(f"{'way':14}{'runs':>6}{'records':>9}{'unexpected':>12}{'seconds':>9}")
    for name, runs in seen.items():
        if runs:
            wrong, took = sum(len(each.unexpected) for each in runs), sum(each.took_s for each in runs) / len(runs)
            covered = len(frozenset().union(*(each.records for each in runs)))
            print(f"{name:14}{len(runs):6}{covered:9}{wrong:12}{took:9.1f}")
    print(f"of {len(catalog())} records; on the slow network those over gRPC are left out")
    return int(any(each.unexpected for runs in seen.values() for each in runs))


if __name__ == "__main__":
    sys.exit(main())
