"""Asks the mock as fast as it goes, and prints what a request costs it: microseconds of its CPU, window by window.

The mock has a process of its own; its clients are a few keep-alive connections of this one, which send prepared bytes
and read answers by their length. CPU is what is told, for it is the same on a busy machine: 250 microseconds a request
are 4,000 requests a second of one core. What slows down with the number of requests, or grows, shows in the last
windows. `floor` is the same server with an app that reads the body as JSON and answers a message of the same size: what
is left of it after that is ours. Nothing is asserted.

    python benchmarks/mock.py --requests 20000 --windows 5
    python benchmarks/mock.py --only pc --requests 1000000 --windows 10
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

CONNECTIONS = 8
MESSAGES = [{"role": "user", "content": "Hello"}]

REQUESTS: dict[str, tuple[str, dict[str, str], Any]] = {
    "floor": ("/", {}, {"model": "mock-small", "max_tokens": 16, "messages": MESSAGES}),
    "pa": (
        "/pa/v1/messages",
        {"x-api-key": "mock-pa-inference", "pa-version": "2023-06-01"},
        {"model": "mock-small", "max_tokens": 16, "messages": MESSAGES},
    ),
    "pb": (
        "/pb/v1/models/mock-lite:generateContent",
        {"x-pb-api-key": "mock-pb-inference"},
        {"contents": [{"parts": [{"text": "Hello"}]}]},
    ),
    "pc": (
        "/pc/v1/responses",
        {"authorization": "Bearer mock-pc-inference"},
        {"model": "mock-small", "input": "Hello"},
    ),
    "pd": (
        "/pd/v1/chat/completions",
        {"authorization": "Bearer mock-pd-inference"},
        {"model": "mock-small", "messages": MESSAGES},
    ),
}

FLOOR = """
import json
from mockserver.server import MockServer
class App:
    providers = ()
    class world: addresses = {}
    def addresses(self, base): return {}
    async def __call__(self, scope, receive, send):
        body, more = b"", True
        while more:
            message = await receive()
            body += message.get("body", b"")
            more = message.get("more_body", False)
        said = json.loads(body)
        answer = json.dumps({"text": "x" * 700, "model": said["model"]}).encode()
        length = str(len(answer)).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", length)]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": answer})
MockServer(App(), "127.0.0.1", 0).run()
"""


@dataclass(frozen=True)
class Served:
    """A server's process: where it listens, and what it has used so far."""

    host: str
    port: int
    pid: int

    def cpu_s(self) -> float:
        """Seconds of CPU that its first thread used; 0 where the system does not tell of other processes."""
        try:
            told = Path(f"/proc/{self.pid}/schedstat").read_text(encoding="ascii")
        except OSError:
            return 0.0
        return int(told.split()[0]) / 1e9

    def megabytes(self) -> float:
        """What it holds in memory; 0 where the system does not tell."""
        try:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()[1])
        except OSError:
            return 0.0
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextmanager
def serving(provider: str) -> Iterator[Served]:
    """A process that serves one provider without limits, or the floor."""
    asked = ["-c", FLOOR] if provider == "floor" else ["-m", "mockserver", "--only", provider, "--limits", "off"]
    with subprocess.Popen([sys.executable, *asked], stdout=subprocess.PIPE, cwd=ROOT) as process:
        if process.stdout is None:
            raise AssertionError("it is a pipe")
        try:
            ready: Mapping[str, Any] = json.loads(process.stdout.readline())
            where = urlsplit(ready["base"])
            yield Served(str(where.hostname), where.port or 0, process.pid)
        finally:
            process.terminate()


def prepared(served: Served, path: str, headers: Mapping[str, str], body: Any) -> bytes:
    """One request as bytes."""
    content = json.dumps(body).encode()
    head = {"host": f"{served.host}:{served.port}", "content-type": "application/json", **headers}
    head["content-length"] = str(len(content))
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
    return "\r\n".join([*lines, "", ""]).encode() + content


async def ask(served: Served, request: bytes, times: int) -> int:
    """Send a request so many times on one connection; how many answers were no success."""
    reader, writer = await asyncio.open_connection(served.host, served.port)
    failed = 0
    for _ in range(times):
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        failed += not head.startswith(b"HTTP/1.1 200")
        length = head.lower().partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]
        await reader.readexactly(int(length))
    writer.close()
    return failed


async def window(served: Served, request: bytes, requests: int) -> tuple[float, float, int]:
    """Microseconds of CPU a request, requests a second as they came, and how many failed."""
    begun, used = time.perf_counter(), served.cpu_s()
    each = requests // CONNECTIONS
    failed = sum(await asyncio.gather(*(ask(served, request, each) for _ in range(CONNECTIONS))))
    asked = each * CONNECTIONS
    return (served.cpu_s() - used) * 1e6 / asked, asked / (time.perf_counter() - begun), failed


def main() -> None:
    """Print a line for each provider."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000, help="for each provider (default: %(default)s)")
    parser.add_argument("--windows", type=int, default=5, help="into which they are cut (default: %(default)s)")
    parser.add_argument("--only", choices=sorted(REQUESTS), help="ask this one alone")
    arguments = parser.parse_args()
    size = arguments.requests // arguments.windows
    for provider in [arguments.only] if arguments.only else REQUESTS:
        path, headers, body = REQUESTS[provider]
        with serving(provider) as served:
            request = prepared(served, path, headers, body)
            asyncio.run(window(served, request, 800))
            held = served.megabytes()
            found = [asyncio.run(window(served, request, size)) for _ in range(arguments.windows)]
            costs = " ".join(f"{cost:5.0f}" for cost, _, _ in found)
            rates = " ".join(f"{rate:5.0f}" for _, rate, _ in found)
            failed = sum(each for _, _, each in found)
            grown = f"{held:.0f} MB, then {served.megabytes():.0f}"
            print(f"{provider:6} {costs} us of CPU a request; {rates} a second; {grown}; {failed} failed", flush=True)


if __name__ == "__main__":
    main()
