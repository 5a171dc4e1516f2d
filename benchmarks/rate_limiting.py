"""Times a lane that keeps to a limit, and prints its wall time over the theoretical minimum for that budget.

The provider is a bucket of the mock that enforces a limit a minute as its sixtieth a second (2:8.2): so many requests
cannot take less than one interval each but the first. Nothing is asserted: read the ratios, and aim below 1.1.

    python benchmarks/rate_limiting.py --requests 60 --per-minute 600 6000
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from catalog.model import Exchange, Request, Response
from catalog.reading.rate_limits import EndpointGroup, RateLimits
from mockserver.buckets import TokenBucket
from probes.calls.call import Call, get
from probes.running.budget import Budget
from probes.running.lane import Lane
from probes.running.rate_limits import RateLimitPolicy
from probes.running.throttle import Throttle
from probes.target.target import Provider
from probes.wire.redact import Redactor

LATENCY_S = 0.02
PROVIDER = Provider("pa", addresses={"base_url": "https://provider.test"})


class Limited(Lane):
    """A lane whose wire is a limited provider in this process."""

    def __init__(self, per_minute: int) -> None:
        throttle = Throttle(
            RateLimitPolicy(RateLimits(groups=(EndpointGroup(("/v1",), per_minute),))), PROVIDER.max_wait_s
        )
        super().__init__(PROVIDER, "inference", Redactor({}), Budget(PROVIDER), mock=False, throttle=throttle)
        self.refused = 0
        self._bucket = TokenBucket(per_minute, 1)

    def _wire_of(self, call: Call) -> Any:
        return self

    async def exchange(self, call: Call, url: str, headers: Mapping[str, str], label: str, since: float) -> Exchange:
        admitted = self._bucket.take(1, time.monotonic())
        self.refused += not admitted
        await anyio.sleep(LATENCY_S)
        return Exchange(label=label, request=Request(call.method, url), response=Response(200 if admitted else 429))


async def timed(per_minute: int, requests: int) -> tuple[float, int]:
    """Seconds that so many requests take, and how many of them were refused."""
    lane, call = Limited(per_minute), get("/v1/things", credential=None)
    started = time.perf_counter()

    async def one() -> None:
        async with lane.places:
            await lane.send(call, "answer", "bench", started)

    async with anyio.create_task_group() as group:
        for _ in range(requests):
            group.start_soon(one)
    return time.perf_counter() - started, lane.refused


def main() -> None:
    parser = argparse.ArgumentParser(description="Wall time over the theoretical minimum for a given budget.")
    parser.add_argument("--per-minute", type=int, nargs="+", default=[300, 600, 1_200])
    parser.add_argument("--requests", type=int, default=60)
    asked = parser.parse_args()
    for per_minute in asked.per_minute:
        took, refused = anyio.run(timed, per_minute, asked.requests)
        least = (asked.requests - 1) * 60 / per_minute + LATENCY_S
        print(f"{per_minute:>6} a minute, {asked.requests} requests: {took:6.2f} s, at least {least:6.2f} s, ", end="")
        print(f"ratio {took / least:.3f}, {refused} refused")


if __name__ == "__main__":
    main()
