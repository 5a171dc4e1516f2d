"""Times the suite against a plain serial pytest + httpx loop of the same requests, and prints ratios.

Both run as whole processes against one mock, at no latency and at 50 ms. Nothing is asserted: read the ratios.

    nox -s bench
    python benchmarks/suite.py --provider pa --rounds 5
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
MOCK_TARGET = ROOT / "probes" / "target" / "shipped" / "mock.toml"

Addresses = Mapping[str, Mapping[str, str]]
"""Where the mock serves each provider, as its ready line says."""

SERIAL = """
import json
from pathlib import Path

import httpx
import pytest

REQUESTS = json.loads(Path(__file__).with_name("requests.json").read_text())
CLIENT = httpx.Client(timeout=30)


@pytest.mark.parametrize("request_", REQUESTS, ids=[str(number) for number in range(len(REQUESTS))])
def test_request(request_):
    answer = CLIENT.request(**request_)
    assert answer.status_code
"""


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        for latency_ms in (0, 50):
            with mock(latency_ms, options.provider) as addresses:
                work = Path(folder, str(latency_ms))
                work.mkdir()
                compare(work, addresses, options, latency_ms)


def compare(work: Path, addresses: Addresses, options: argparse.Namespace, latency_ms: int) -> None:
    """One line: both medians, their ratio, and the suite's peak memory."""
    target = write_target(work, addresses)
    suite = [sys.executable, "-m", "pytest", "probes", "-q", "--target", str(target), "--out", str(work / "out")]
    suite += ["-p", "no:cacheprovider", *(f"--provider={name}" for name in options.provider)]
    timed(suite)
    count = write_serial(work, target)
    (work / "pytest.ini").write_text("[pytest]\n")  # nothing of ours, wherever this folder lies
    serial = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"]
    serial += [str(work / "test_serial.py")]
    ours, plain, memory = [], [], []
    for _ in range(options.rounds):
        seconds, peak = timed(suite)
        ours.append(seconds)
        memory.append(peak)
        plain.append(timed(serial)[0])
    ratios = [slow / fast for slow, fast in zip(plain, ours, strict=True)]
    print(
        f"{latency_ms:>3} ms: {count} requests; suite {statistics.median(ours):.2f} s, "
        f"serial loop {statistics.median(plain):.2f} s; serial/suite {statistics.median(ratios):.2f} "
        f"(min {min(ratios):.2f}, max {max(ratios):.2f}); suite peak memory {max(memory):.0f} MB",
        flush=True,
    )


@contextmanager
def mock(latency_ms: int, providers: list[str]) -> Iterator[Addresses]:
    """A mock that adds this much to every answer."""
    only = ["--only", ",".join(providers)] if providers else []
    command = [sys.executable, "-m", "mockserver", "--stdin-lifeline", "--latency-ms", str(latency_ms), *only]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["providers"]
    finally:
        process.terminate()
        process.wait()


def write_target(work: Path, addresses: Addresses) -> Path:
    """The mock target, at the addresses of the mock that is already running."""
    lines, provider = [], ""
    for line in MOCK_TARGET.read_text().splitlines():
        if line.startswith("[providers."):
            provider = line.removeprefix("[providers.").rstrip("]").split(".")[0]
        key = line.split(" = ")[0]
        if line.endswith('"embedded"') and key in addresses.get(provider, {}):
            line = f'{key} = "{addresses[provider][key]}"'
        elif line.endswith('"embedded"'):
            line = f'{key} = "http://127.0.0.1:9"'
        lines.append(line)
    path = work / "target.toml"
    path.write_text("\n".join(lines))
    return path


def write_serial(work: Path, target: Path) -> int:
    """The plain loop: a test for every request that the suite sent."""
    run = work / "out" / "latest" / "results.jsonl"
    results = [json.loads(line) for line in run.read_text().splitlines()[1:]]
    keys = dict(_markers(tomllib.loads(target.read_text())))
    requests = [
        _plain(exchange["request"], keys)
        for result in results
        for attempt in result.get("attempts", ())
        for exchange in attempt["exchanges"]
        if exchange["request"]["url"].startswith("http:") and exchange.get("response")
    ]
    (work / "requests.json").write_text(json.dumps([each for each in requests if each]))
    (work / "test_serial.py").write_text(SERIAL)
    return len(requests)


def _plain(request: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any] | None:
    headers = {name: _unmasked(value, keys) for name, value in request["headers"].items() if name != "content-length"}
    plain = {"method": request["method"], "url": request["url"], "headers": headers}
    body = request.get("body")
    if isinstance(body, str):
        return plain if body.startswith("[") else {**plain, "content": body}
    return plain if body is None else {**plain, "json": body}


def _markers(target: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, provider in target["providers"].items():
        for role, value in provider.get("credentials", {}).items():
            yield f"${{{f'{name}_{role}_key'.upper()}}}", str(value)


def _unmasked(value: str, keys: Mapping[str, str]) -> str:
    for marker, key in keys.items():
        value = value.replace(marker, key)
    return value


def timed(command: list[str]) -> tuple[float, float]:
    """Wall seconds and peak memory in MB of one whole process."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    return time.perf_counter() - started, usage.ru_maxrss / 1024


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--provider", action="append", default=[], help="only this provider; may be given again")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="counted rounds of each (default: 3)")
    return parser.parse_args()


if __name__ == "__main__":
    main()
