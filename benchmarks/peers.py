"""The same requests with the same checks by us and by our peers, and how long each takes: wall, CPU, memory.

Each asks a generated provider (`generated.py`) for so many items, one request each, and checks of each answer the
status, that it is JSON of the documented shape, its type and its code. All are whole processes, one after the other,
with what they leave behind: we judge, keep all evidence and make a report; the others print. The provider counts what
each of them asked. Nothing is asserted of time.

    nox -s bench
    python benchmarks/peers.py --peers .nox/bench/peers/bin/python --requests 300 --rounds 3
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
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import httpx

from benchmarks.generated import COUNT, ENVELOPE, KEY, items, write_home, write_target

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
LATENCIES_MS = (0, 50)
AT_ONCE = 8
"""So many connections as one of our lanes has."""

PLAIN = """
import json
from pathlib import Path

import httpx
import jsonschema
import pytest

ITEMS, ADDRESS, HEADERS, SHAPE = json.loads(Path(__file__).with_name("plain.json").read_text())
CLIENT = httpx.Client(base_url=ADDRESS, headers=HEADERS, timeout=30)
SHAPED = jsonschema.Draft202012Validator(SHAPE)


@pytest.mark.parametrize(("path", "status", "type_", "code"), ITEMS, ids=[path for path, *_ in ITEMS])
def test_item(path, status, type_, code):
    answer = CLIENT.get(path)
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("application/json")
    body = answer.json()
    SHAPED.validate(body)
    assert body["error"]["type"] == type_
    assert body["error"]["code"] == code
"""


@dataclass(frozen=True, slots=True)
class Took:
    """One whole process."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    requests: int = 0


@dataclass(frozen=True, slots=True)
class Tool:
    """Somebody who asks: what they are called, and the command that has them ask."""

    name: str
    command: tuple[str, ...]


def main() -> None:
    asked = _options()
    peers = Path(asked.peers).absolute() if asked.peers else None  # a peer runs elsewhere
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_home(folder / "home", asked.requests)
        print(f"{asked.requests} requests, median of {asked.rounds} rounds, {os.cpu_count()} cores")
        for latency_ms in LATENCIES_MS:
            with provider(asked.requests, latency_ms) as address:
                tools = prepared(folder, address, asked.requests, peers)
                rounds = [(each, [counted(each, folder, address) for _ in range(asked.rounds)]) for each in tools]
                fewest = min(each.requests for _, each_s in rounds for each in each_s)
                if fewest < asked.requests:
                    sys.exit(f"somebody sent {fewest} of {asked.requests} requests, and so measures nothing")
                table(latency_ms, rounds)


def table(latency_ms: int, measured: list[tuple[Tool, list[Took]]]) -> None:
    """Print a row a tool; ours is the first."""
    ours = _median(measured[0][1])
    print(f"\n| at {latency_ms} ms | requests | wall | CPU | our wall | our CPU | memory |")
    print("|---|---|---|---|---|---|---|")
    for tool, rounds in measured:
        each = _median(rounds)
        ratios = f"x {ours.wall_s / each.wall_s:.2f} | x {ours.cpu_s / each.cpu_s:.2f}"
        spent = f"{each.wall_s:.2f} s | {each.cpu_s:.2f} s"
        print(f"| {tool.name} | {each.requests} | {spent} | {ratios} | {each.peak_mb:.0f} MB |", flush=True)
    for what, measure in (("wall", _wall_each), ("CPU", _cpu_each)):
        tool, best = min(((tool, _median(rounds)) for tool, rounds in measured[1:]), key=lambda pair: measure(pair[1]))
        of_ours, of_best = 1000 * measure(ours), 1000 * measure(best)
        told = f"{of_ours:.1f} ms of {what} a request, the best peer ({tool.name}) {of_best:.1f} ms"
        print(f"{told}: x {of_ours / of_best:.2f}", flush=True)


def prepared(folder: Path, address: str, number: int, peers: Path | None) -> list[Tool]:
    """Everybody who can ask here, with what they ask by written down."""
    target = write_target(folder / "home", address)
    (folder / "pytest.ini").write_text("[pytest]\n")  # peers go by no file of ours, wherever this folder lies
    probes = ("-m", "pytest", "probes", "-q", "-p", "no:cacheprovider", "--catalog", str(folder / "home"))
    ours = Tool("this suite", (sys.executable, *probes, "--target", str(target), "--out", str(folder / "out")))
    return [ours, _plain(folder, address, number), *(_peers(folder, address, number, peers) if peers else ())]


def _plain(folder: Path, address: str, number: int) -> Tool:
    told = [[each.path, each.status, each.type, each.code] for each in items(number)]
    (folder / "plain.json").write_text(json.dumps([told, address, _headers(), ENVELOPE]))
    (folder / "test_plain.py").write_text(PLAIN)
    quiet = ("-q", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:anyio")
    name = f"pytest {version('pytest')} + httpx {version('httpx')}"
    return Tool(name, (sys.executable, "-m", "pytest", *quiet, str(folder / "test_plain.py")))


def _peers(folder: Path, address: str, number: int, python: Path) -> Iterator[Tool]:
    document = folder / "openapi.json"
    document.write_text(json.dumps(_openapi(number)))
    checks = "status_code_conformance,content_type_conformance,response_schema_conformance"
    own = (str(python.parent / "schemathesis"), "run", str(document), "--url", address, "--phases", "fuzzing")
    one = ("--max-examples", "1", "--checks", checks, "--generation-database", "none")
    key = ("-H", f"authorization: {_headers()['authorization']}")
    named = f"Schemathesis {_version(python, 'schemathesis')}"
    yield Tool(named, (*own, *one, *key))
    yield Tool(f"{named}, {AT_ONCE} workers", (*own, *one, *key, "--workers", str(AT_ONCE)))
    (folder / "test_items.tavern.yaml").write_text("\n".join(_tavern(address, number)))
    quiet = ("-q", "-p", "no:cacheprovider")
    name = f"tavern {_version(python, 'tavern')}"
    yield Tool(name, (str(python), "-m", "pytest", *quiet, str(folder / "test_items.tavern.yaml")))


def _openapi(number: int) -> dict[str, Any]:
    """What the records say, as OpenAPI."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "generated", "version": "1"},
        "paths": {
            each.path: {
                "get": {
                    "responses": {
                        str(each.status): {
                            "description": each.code,
                            "content": {"application/json": {"schema": _shape(each.type, each.code)}},
                        }
                    }
                }
            }
            for each in items(number)
        },
    }


def _shape(type_: str, code: str) -> dict[str, Any]:
    shape = json.loads(json.dumps({name: ENVELOPE[name] for name in ("type", "properties", "required")}))
    shape["properties"]["error"]["properties"] |= {"type": {"const": type_}, "code": {"const": code}}
    return dict(shape)


def _tavern(address: str, number: int) -> Iterator[str]:
    for each in items(number):
        request = {"url": f"{address}{each.path}", "method": "GET", "headers": _headers()}
        response = {"status_code": each.status, "headers": {"content-type": "application/json"}, "json": each.body}
        stage = {"name": "asked", "request": request, "response": response}
        yield f"---\n{json.dumps({'test_name': each.slug, 'stages': [stage]})}"  # JSON is YAML


def _headers() -> dict[str, str]:
    return {"authorization": f"Bearer {KEY}"}


def counted(tool: Tool, folder: Path, address: str) -> Took:
    """One whole process of a tool, and how many requests of it came to the provider."""
    before = asked_so_far(address)
    return replace(took(tool, folder), requests=asked_so_far(address) - before)


def took(tool: Tool, folder: Path) -> Took:
    """One whole process of a tool.

    Raises:
        SystemExit: it did not find everything as it should be, and so measures nothing.
    """
    log = folder / "log.txt"
    environ = {**os.environ, "PX_KEY": KEY, "PYTHONPATH": str(ROOT)}
    ours = tool.command[0] == sys.executable
    if not ours:  # somebody who does not know of this project
        del environ["PYTHONPATH"]
    started = time.perf_counter()
    with log.open("wb") as told:
        process = subprocess.Popen(tool.command, cwd=ROOT if ours else folder, stdout=told, stderr=told, env=environ)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{tool.name} ended with {process.returncode}:\n{log.read_text()[-2000:]}")
    return Took(time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def asked_so_far(address: str) -> int:
    """How many requests came to the provider."""
    return int(httpx.get(address + COUNT, timeout=30).text)


@contextmanager
def provider(number: int, latency_ms: int) -> Iterator[str]:
    """The address of the generated provider, served by a process of its own."""
    command = [sys.executable, "benchmarks/generated.py", str(number), "--serve", "--latency-ms", str(latency_ms)]
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())["base_url"]
    finally:
        process.stdin.close()
        process.wait()


def _median(rounds: list[Took]) -> Took:
    return Took(
        statistics.median(each.wall_s for each in rounds),
        statistics.median(each.cpu_s for each in rounds),
        max(each.peak_mb for each in rounds),
        max(each.requests for each in rounds),
    )


def _wall_each(took: Took) -> float:
    return took.wall_s / took.requests


def _cpu_each(took: Took) -> float:
    return took.cpu_s / took.requests


def _version(python: Path, name: str) -> str:
    asked = f"from importlib.metadata import version; print(version('{name}'))"
    return subprocess.run([python, "-c", asked], capture_output=True, text=True, check=True).stdout.strip()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", metavar="PYTHON", help="the interpreter that has Schemathesis and tavern")
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


if __name__ == "__main__":
    main()
