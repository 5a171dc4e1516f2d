"""Runs the table of hostile servers, each against a whole run of its own, and prints what came of it.

`python -m tests.harness.hostile_run [WORDS]`: only cases in whose line the words stand. Exit 1 where one is not as it
should be.
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

from catalog_probe.catalog.evidence.harness_results import select_record_results
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
"""Characters of the key that may be found nowhere."""

PIECE_CHARACTERS = 6
"""Characters of the key in each event of a stream that sends it in pieces."""

DEADLINE_S = 120.0
ITEMS = {"endpoints": "test_endpoint", "errors": "test_error"}
"""The test that probes a record of a kind."""

TERMINAL_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x9f\u202a-\u202e\u2066-\u2069]")
"""What steers a terminal, or turns text around."""


CI_COMMANDS = re.compile(r"^\s*::|##\w*\[", re.MULTILINE)
"""What a CI system obeys that reads it in a log."""

_PRINTED = ("the terminal", "summary.md", "junit.xml")


@dataclass(frozen=True)
class HostileRunResult:
    """What came of one run."""

    outcome: str
    exit: int
    seconds: float
    megabytes: int
    leaks: tuple[str, ...]
    """The places in which enough of the key was found."""
    faults: tuple[str, ...]
    """A traceback, a character that steers a terminal, or a command to a CI system, where there was one."""


def find_failures(case: HostileCase, came: HostileRunResult) -> list[str]:
    """What is not as it should be."""
    found = []
    if came.outcome != case.expected:
        found.append(f"expected {case.expected}")
    if came.exit != EXIT_STATUSES[case.outcome]:
        found.append(f"expected exit {EXIT_STATUSES[case.outcome]}")
    if came.seconds > case.seconds:
        found.append(f"longer than {case.seconds:g} s")
    if came.megabytes > case.megabytes:
        found.append(f"more than {case.megabytes} MB")
    return [*found, *(f"leak in {place}" for place in came.leaks), *came.faults]


def write_target(path: Path, case: HostileCase, where: ServerAddress) -> None:
    """The mock target with the case's provider where its server is; its key is the canary, from the environment."""
    name = case.record.partition("/")[0]
    provider = tomllib.loads((SHIPPED.targets / "mock.toml").read_text())["providers"][name]
    for key, value in provider.items():
        if value == "embedded":
            provider[key] = where.base.rpartition("/")[2] if key == "grpc_host" else f"http://{where.base}"
            if "//" in where.base and key != "grpc_host":
                provider[key] = where.base
    roles = {role: "env:CANARY" if "inference" in role else value for role, value in provider["credentials"].items()}
    settings = {"timeout_s": case.timeout_s, **({"ca_file": where.ca_file} if where.ca_file else {})}
    data = {"name": "hostile", "live": False, "reprobe_after_s": 0, "allow": ["free", "billable", "destructive"]}
    path.write_text(toml({**data, "providers": {name: {**provider, **settings, "credentials": roles}}}))


def run_case(case: HostileCase, folder: Path) -> HostileRunResult:
    """Probe the case's record on its server, as `pytest probes` does."""
    out = folder / "out"
    with case.serve(folder) as where:
        said = folder / "said"
        with said.open("wb") as output:
            started = time.monotonic()
            process = subprocess.Popen(
                [sys.executable, "-m", *_command(case, where, folder)],
                cwd=CHECKOUT,
                env={**_child_environ(), **NO_TEST_PLUGINS, "CANARY": CANARY, "COLUMNS": "60"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )
            status, megabytes = _wait_for_end(process, started)
        seconds = time.monotonic() - started
    sinks = dict(_sinks(out, said))
    leaks = tuple(name for name, text in sinks.items() if is_leaked(text))
    return HostileRunResult(
        _outcome(out, case, sinks["the terminal"]),
        status,
        seconds,
        megabytes,
        leaks,
        tuple(_faults(sinks)),
    )


def _command(case: HostileCase, where: ServerAddress, folder: Path) -> list[str]:
    if case.over == "grpc stream":  # no record streams over gRPC yet: the wire alone is asked
        return ["tests.harness.grpc_stream", where.base]
    write_target(folder / "hostile.toml", case, where)
    kind = case.record.split("/")[1]
    item = f"probes/test_{kind}.py::{ITEMS[kind]}[{case.record}]"
    options = ["--target", str(folder / "hostile.toml"), "--out", str(folder / "out"), "--depth", "quick"]
    return ["pytest", *options, "-rA", "-vv", "-p", "no:cacheprovider", item]


def _wait_for_end(process: subprocess.Popen[bytes], started: float) -> tuple[int, int]:
    """Its exit status and its peak memory in MB; what takes for ever is killed."""
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return process.returncode, usage.ru_maxrss // 1024
        if time.monotonic() - started > DEADLINE_S:
            process.kill()
        time.sleep(0.02)


def _child_environ() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}


def _outcome(out: Path, case: HostileCase, said: str) -> str:
    if case.over == "grpc stream":
        return said.strip().rpartition("\n")[2]
    files = [path for path in out.glob("*/results.jsonl") if not path.parent.is_symlink()]
    if not files:
        return "no results"
    try:
        _, results = read_run(files[0])
    except EvidenceError as error:
        return f"unreadable: {error}"
    (result,) = (each for each in select_record_results(results) if each.record == case.record)
    outcome = str(result.outcome)
    return f"{outcome} {result.reason.code}" if result.reason and outcome == "inconclusive" else outcome


def _sinks(out: Path, said: Path) -> Iterator[tuple[str, str]]:
    """Everything that a run prints and leaves, by name."""
    yield "the terminal", said.read_bytes().decode("utf-8", "backslashreplace")
    for path in sorted(out.rglob("*")):
        if path.is_file() and not any(each.is_symlink() for each in path.parents):
            text = path.read_bytes().decode("utf-8", "backslashreplace")
            yield str(path.relative_to(out)), text
            if path.name == "report.html":
                yield f"{path.name}, unpacked", "\n".join(unpack_details(text).values())


def is_leaked(text: str) -> bool:
    """Whether enough of the key is in a text: in any case, percent-encoded, in HTML, hexadecimal, gzip or pieces."""
    low = text.lower()
    texts = {low, unquote(low), unescape(low), unescape(unescape(low)), low.replace("\\", "")}
    texts |= {"".join(each.split()) for each in texts} | set(_inflate_hex(low))
    parts = [CANARY[at : at + LEAK_CHARACTERS].lower() for at in range(len(CANARY) - LEAK_CHARACTERS + 1)]
    coded = [part.encode().hex() for part in parts] + [
        CANARY[at : at + LEAK_CHARACTERS].encode().hex() for at in range(len(parts))
    ]
    pieces = [
        CANARY[at : at + PIECE_CHARACTERS].lower()
        for at in range(0, len(CANARY) - PIECE_CHARACTERS + 1, PIECE_CHARACTERS)
    ]
    return any(
        all(piece in each for piece in pieces) or any(part in each for part in [*parts, *coded]) for each in texts
    )


def _inflate_hex(text: str) -> Iterator[str]:
    """What each stretch of hexadecimal that begins as gzip does was compressed from."""
    for stretch in re.findall(r"1f8b08(?:[0-9a-f]{2})+", text):
        with suppress(zlib.error):
            raw = zlib.decompressobj(zlib.MAX_WBITS | 16).decompress(bytes.fromhex(stretch), 65_536)
            yield raw.decode("utf-8", "replace").lower()


def _faults(sinks: Mapping[str, str]) -> Iterator[str]:
    said = sinks["the terminal"]
    if "Traceback (most recent call last)" in said or "INTERNALERROR" in said:
        yield "a traceback"
    if TERMINAL_CONTROLS.search(said):
        yield "steers the terminal"
    for name, text in sinks.items():
        if name.endswith(_PRINTED) and CI_COMMANDS.search(text):
            yield f"{name} commands the CI"


def main(words: str) -> int:
    """Print the table."""
    chosen = [case for case in list_cases() if words in f"{case.over} {case.name}"]
    if not chosen:
        _print_line(f"no case has {words!r} in its line; none named runs them all")
        return 4
    widths = (max(len(f"{each.over}: {each.name}") for each in chosen), max(len(each.expected) for each in chosen) + 8)
    _print_line(f"{'case':{widths[0]}}  {'outcome':{widths[1]}}  exit  seconds  peak MB  leak")
    bad = 0
    for case in chosen:
        with tempfile.TemporaryDirectory() as folder:
            came = run_case(case, Path(folder))
        told = find_failures(case, came)
        bad += bool(told)
        line = f"{f'{case.over}: {case.name}':{widths[0]}}  {came.outcome:{widths[1]}}  {came.exit:4}"
        leak = "LEAK" if came.leaks else "none"
        _print_line(f"{line}  {came.seconds:7.1f}  {came.megabytes:7}  {leak}  {'; '.join(told)}".rstrip())
    _print_line(f"{len(chosen)} cases, {bad} not as they should be")
    return 1 if bad else 0


def _print_line(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main(" ".join(itertools.chain(sys.argv[1:]))))
