"""Start of PD's gRPC server, kept apart so that HTTP alone never imports gRPC."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.world import World


async def listen(world: World, host: str) -> Mapping[str, str]:
    """Start the gRPC server; return its address as `host:port`."""
    from catalog_probe.mockserver.pd.grpc import rpc  # gRPC takes long to import

    return {"grpc_host": f"{host}:{await rpc.start(world, world.settings['pd']['grpc_package'], host)}"}
