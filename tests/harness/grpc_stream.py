"""Makes one call that streams, on a host: `python -m tests.harness.grpc_stream HOST` says how the stream ended."""

from __future__ import annotations

import asyncio
import sys

from catalog_probe.probes.calls import invoke
from catalog_probe.probes.wire.grpc import GrpcWire
from catalog_probe.probes.wire.http import Limits


async def ended(host: str) -> str:
    """How the stream ended, or why there was none."""
    wire = GrpcWire("", Limits(4.0, 4_000_000))
    call = invoke("/pd_api.Chat/GetCompletionChunk", {"model": "mock-small"})
    exchange = await wire.exchange(call, host + call.path, {}, "answer", 0.0)
    return exchange.response.ended if exchange.response else str(exchange.failure)


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(ended(sys.argv[1])) + "\n")
