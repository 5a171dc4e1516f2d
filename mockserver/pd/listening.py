"""Where PD listens besides HTTP: the gRPC port, whose server is built when the first client comes."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING

from mockserver.pd.lazy_port import LazyPort

if TYPE_CHECKING:
    from mockserver.world import World


async def listen(world: World, host: str) -> Mapping[str, str]:
    """Open the port; `host:port`, as gRPC clients write it."""

    async def start() -> int:
        rpc = await asyncio.to_thread(import_module, "mockserver.pd.rpc")
        port: int = await rpc.start(world, world.settings["pd"]["grpc_package"], outside.break_off)
        return port

    outside = LazyPort(start)
    world.at_the_end.append(outside.close)
    return {"grpc_host": f"{host}:{await outside.open(host)}"}
