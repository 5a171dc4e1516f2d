"""Probes each hostile server of the table with a run of its own, and prints the results.

`python -m tests.harness.hostile_run [WORDS]` runs only the cases whose line contains the words. It exits with 1 if any
case fails.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
import tempfile
import time
import tomllib
import zlib
from contextlib import suppress
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from catalog_probe.catalog.evidence.completeness import select_record_results
from catalog_probe.catalog.evidence.results_file import EvidenceError, read_run
from catalog_probe.catalog.files.provider_folders import SHIPPED
from tests.harness.command import CHECKOUT, NO_TEST_PLUGINS
from tests.harness.hostile_table import CANARY, EXIT_STATUSES, HostileCase, list_cases
from tests.harness.target_files import toml
from tests.unit.reports.packed_details import unpack_details

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tests.harness.hostile_serving import ServerAddress

LEAK_CHARACTERS = 12
"""So many characters of the key in a row are a leak."""

PIECE_CHARACTERS = 6
"""Characters of the key in each event of a stream that sends it in pieces."""

DEADLINE_S = 120.0
ITEMS = {"endpoints": "test_endpoint", "errors": "test_error"}
"""The test that probes a record of a kind."""

TERMINAL_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that control a terminal, or reverse the direction of text."""

CI_COMMANDS = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
"""Commands that a CI system obeys in a log."""

_PRINTED = ("the terminal", "summary.md", "junit.xml")


@dataclass(frozen=True)
class HostileRunResult:
    """The outcome, cost and faults of one run."""

    outcome: str
    exit: int
    seconds: float
    megabytes: int
    leaks: tuple[str, ...]
    """The outputs in which the key was found."""
    faults: tuple[str, ...]
    """A traceback, a terminal control, or a command to a CI system in the output."""


def find_failures(case: HostileCase, result: HostileRunResult) -> list[str]:
    """Return the differences from what the case expects."""
    failures = []
    if result.outcome != case.expected:
        failures.append(f"expected {case.expected}")
    if result.exit != EXIT_STATUSES[case.outcome]:
        failures.append(f"expected exit {EXIT_STATUSES[case.outcome]}")
    if result.seconds > case.seconds:
        failures.append(f"longer than {case.seconds:g} s")
    if result.megabytes > case.megabytes:
        failures.append(f"more than {case.megabytes} MB")
    return [*failures, *(f"leak in {output}" for output in result.leaks), *result.faults]


def write_target(path: Path, case: HostileCase, server: ServerAddress) -> None:
    """Write the mock target with the case's provider at its server, and the canary from the environment as its key."""
    name = case.record.partition("/")[0]
    provider = tomllib.loads((SHIPPED.targets / "mock.toml").read_text())["providers"][name]
    for key, value in provider.items():
        if value == "embedded":
            provider[key] = server.base.rpartition("/")[2] if key == "grpc_host" else f"http://{server.base}"
            if "//" in server.base and key != "grpc_host":
                provider[key] = server.base
    roles = {role: "env:CANARY" if "inference" in role else value for role, value in provider["credentials"].items()}
    settings = {"timeout_s": case.timeout_s, **({"ca_file": server.ca_file} if server.ca_file else {})}
    data = {"name": "hostile", "live": False, "reprobe_after_s": 0, "allow": ["free", "billable", "destructive"]}
    path.write_text(toml({**data, "providers": {name: {**provider, **settings, "credentials": roles}}}))


def run_case(case: HostileCase, folder: Path) -> HostileRunResult:
    """Probe the case's record on its server with `pytest probes`."""
    out = folder / "out"
    with case.serve(folder) as server:
        output_file = folder / "output"
        with output_file.open("wb") as output:
            started = time.monotonic()
            process = subprocess.Popen(
                [sys.executable, "-m", *_command(case, server, folder)],
                cwd=CHECKOUT,
                env={**_child_environ(), **NO_TEST_PLUGINS, "CANARY": CANARY, "COLUMNS": "60"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            status, megabytes = _wait_for_end(process, started)
        seconds = time.monotonic() - started
    outputs = dict(_read_outputs(out, output_file))
    leaks = tuple(name for name, text in outputs.items() if is_leaked(text))
    return HostileRunResult(
        _outcome(out, case, outputs["the terminal"]),
        status,
        seconds,
        megabytes,
        leaks,
        tuple(_faults(outputs)),
    )


def _command(case: HostileCase, server: ServerAddress, folder: Path) -> list[str]:
    if case.over == "grpc stream":  # no record streams over gRPC yet, so only the wire is tested
        return ["tests.harness.grpc_stream", server.base]
    write_target(folder / "hostile.toml", case, server)
    kind = case.record.split("/")[1]
    item = f"probes/test_{kind}.py::{ITEMS[kind]}[{case.record}]"
    options = ["--target", str(folder / "hostile.toml"), "--out", str(folder / "out"), "--depth", "quick"]
    return ["pytest", *options, "-rA", "-vv", "-p", "no:cacheprovider", item]


def _wait_for_end(process: subprocess.Popen[bytes], started: float) -> tuple[int, int]:
    """Return the exit status and the peak memory in MB; kill the process at the deadline."""
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_maxrss // 1024
        if time.monotonic() - started > DEADLINE_S:
            process.kill()
        time.sleep(0.02)


def _child_environ() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}


def _outcome(out: Path, case: HostileCase, terminal: str) -> str:
    if case.over == "grpc stream":
        return terminal.strip().rpartition("\n")[2]
    files = [path for path in out.glob("*/results.jsonl") if not path.parent.is_symlink()]
    if not files:
        return "no results"
    try:
        _, results = read_run(files[0])
    except EvidenceError as error:
        return f"unreadable: {error}"
    (result,) = (result for result in select_record_results(results) if result.record == case.record)
    outcome = str(result.outcome)
    return f"{outcome} {result.reason.code}" if result.reason and outcome == "inconclusive" else outcome


def _read_outputs(out: Path, output_file: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and text of everything that a run prints and writes."""
    yield "the terminal", output_file.read_bytes().decode("utf-8", "backslashreplace")
    for path in sorted(out.rglob("*")):
        if path.is_file() and not any(parent.is_symlink() for parent in path.parents):
            text = path.read_bytes().decode("utf-8", "backslashreplace")
            yield str(path.relative_to(out)), text
            if path.name == "report.html":
                yield f"{path.name}, unpacked", "\n".join(unpack_details(text).values())


def is_leaked(text: str) -> bool:
    """Whether a text contains the key: in any case, percent-encoded, in HTML, hexadecimal, gzip or in pieces."""
    low = text.lower()
    texts = {low, unquote(low), unescape(low), unescape(unescape(low)), low.replace("\\", "")}
    texts |= {"".join(variant.split()) for variant in texts} | set(_inflate_hex(low))
    runs = [CANARY[start : start + LEAK_CHARACTERS] for start in range(len(CANARY) - LEAK_CHARACTERS + 1)]
    needles = [run.lower() for run in runs]
    needles += [encoded for run in runs for encoded in (run.encode().hex(), run.lower().encode().hex())]
    pieces = [
        CANARY[start : start + PIECE_CHARACTERS].lower()
        for start in range(0, len(CANARY) - PIECE_CHARACTERS + 1, PIECE_CHARACTERS)
    ]
    return any(
        all(piece in variant for piece in pieces) or any(needle in variant for needle in needles) for variant in texts
    )


def _inflate_hex(text: str) -> Iterator[str]:
    """Yield the decompressed text of each hexadecimal stretch that begins like gzip."""
    for stretch in re.findall(r"1f8b08(?:[0-9a-f]{2})+", text):
        with suppress(zlib.error):
            raw = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(bytes.fromhex(stretch), 65_536)
            yield raw.decode("utf-8", "replace").lower()


def _faults(outputs: Mapping[str, str]) -> Iterator[str]:
    terminal = outputs["the terminal"]
    if "Traceback (most recent call last)" in terminal or "INTERNALERROR" in terminal:
        yield "a traceback"
    if TERMINAL_CONTROLS.search(terminal):
        yield "controls the terminal"
    for name, text in outputs.items():
        if name.endswith(_PRINTED) and CI_COMMANDS.search(text):
            yield f"{name} commands the CI"


def main(words: str) -> int:
    """Run the chosen cases and print a line for each."""
    chosen = [case for case in list_cases() if words in f"{case.over} {case.name}"]
    if not chosen:
        _print_line(f"no case has {words!r} in its line; without words all cases run")
        return 4
    case_width = max(len(f"{case.over}: {case.name}") for case in chosen)
    outcome_width = max(len(case.expected) for case in chosen) + 8
    _print_line(f"{'case':{case_width}}  {'outcome':{outcome_width}}  exit  seconds  peak MB  leak")
    failed_count = 0
    for case in chosen:
        with tempfile.TemporaryDirectory() as folder:
            result = run_case(case, Path(folder))
        failures = find_failures(case, result)
        failed_count += bool(failures)
        line = f"{f'{case.over}: {case.name}':{case_width}}  {result.outcome:{outcome_width}}  {result.exit:4}"
        leak = "LEAK" if result.leaks else "none"
        details = "; ".join(failures)
        _print_line(f"{line}  {result.seconds:7.1f}  {result.megabytes:7}  {leak}  {details}".rstrip())
    _print_line(f"{len(chosen)} cases, {failed_count} failed")
    return 1 if failed_count else 0


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(" ".join(itertools.chain(sys.argv[1:]))))
