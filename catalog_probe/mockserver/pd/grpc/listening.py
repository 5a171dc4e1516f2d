"""Where PD listens besides HTTP: the gRPC port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.pd.grpc.breakable_port import BreakablePort

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.world import World


async def listen(world: World, host: str) -> Mapping[str, str]:
    """Start the gRPC server; `host:port`, as gRPC clients write it."""
    from catalog_probe.mockserver.pd.grpc import (
        rpc,  # gRPC takes long to import, and an app that serves HTTP alone needs none
    )

    outside = BreakablePort()
    port = await rpc.start(world, world.settings["pd"]["grpc_package"], outside.break_off)
    world.at_the_end.append(outside.close)
    return {"grpc_host": f"{host}:{await outside.open(host, port)}"}
