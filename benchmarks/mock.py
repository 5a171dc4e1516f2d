"""Asks the mock as fast as one core goes, and prints requests a second for each provider, window by window.

The mock has a process of its own; its clients are a few keep-alive connections of this one, which send prepared bytes
and read answers by their length. Rates should be flat: what slows down with the number of requests shows in the last
windows. Nothing is asserted.

    python benchmarks/mock.py --requests 20000 --windows 5
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parent.parent))

from mockserver.testing import mock_providers

CONNECTIONS = 8
MESSAGES = [{"role": "user", "content": "Hello"}]

REQUESTS: dict[str, tuple[str, dict[str, str], Any]] = {
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


def prepared(host: str, path: str, headers: dict[str, str], body: Any) -> bytes:
    """One request as bytes."""
    content = json.dumps(body).encode()
    head = {"host": host, "content-type": "application/json", "content-length": str(len(content)), **headers}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items())]
    return "\r\n".join([*lines, "", ""]).encode() + content


async def ask(host: str, port: int, request: bytes, times: int) -> int:
    """Send a request so many times on one connection; how many answers were no success."""
    reader, writer = await asyncio.open_connection(host, port)
    failed = 0
    for _ in range(times):
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        failed += not head.startswith(b"HTTP/1.1 200")
        length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(int(length.partition(b":")[2]))
    writer.close()
    return failed


async def window(host: str, port: int, request: bytes, requests: int) -> tuple[float, int]:
    """Requests a second, and how many failed."""
    begun = time.perf_counter()
    each = requests // CONNECTIONS
    failed = sum(await asyncio.gather(*(ask(host, port, request, each) for _ in range(CONNECTIONS))))
    return each * CONNECTIONS / (time.perf_counter() - begun), failed


def main() -> None:
    """Print a line for each provider."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--requests", type=int, default=20_000, help="for each provider (default: %(default)s)")
    parser.add_argument("--windows", type=int, default=5, help="into which they are cut (default: %(default)s)")
    arguments = parser.parse_args()
    with mock_providers(process=True, clients=False, limits="off") as mock:
        where = urlsplit(mock.base)
        for provider, (path, headers, body) in REQUESTS.items():
            request = prepared(where.netloc, path, headers, body)
            size = arguments.requests // arguments.windows
            asked = (window(str(where.hostname), where.port or 0, request, size) for _ in range(arguments.windows))
            found = [asyncio.run(each) for each in asked]
            rates = " ".join(f"{rate:7.0f}" for rate, _ in found)
            print(f"{provider}  {rates}  requests a second; {sum(failed for _, failed in found)} failed")


if __name__ == "__main__":
    main()
