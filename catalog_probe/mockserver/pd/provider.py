"""PD's declaration to the server: its hosts, scenarios, settings and models."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pd.endpoints.management import Management
from catalog_probe.mockserver.pd.gateway import Gateway
from catalog_probe.mockserver.pd.models import EVERYWHERE, REGIONAL
from catalog_probe.mockserver.pd.routes import MANAGEMENT_ROUTES, ROUTES
from catalog_probe.mockserver.pd.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.world import World
    from catalog_probe.mockserver.pd.models import Host


def build(host: Host, world: World) -> Gateway:
    """Make the ASGI app of the inference API on one of its hosts."""
    return Gateway(host, ROUTES)


def build_management(world: World) -> Management:
    """Make the ASGI app of the management API, which has a host of its own (2:9)."""
    return Management(MANAGEMENT_ROUTES)


async def listen(world: World, host: str) -> Mapping[str, str]:
    """Start the gRPC server; return its address as `host:port`."""
    from catalog_probe.mockserver.pd.grpc import rpc  # gRPC takes long to import, and HTTP alone needs none

    return {"grpc_host": f"{host}:{await rpc.start(world, world.settings['pd']['grpc_package'], host)}"}


PROVIDER = Provider(
    "pd",
    (
        Mount("pd", ("base_url",), partial(build, EVERYWHERE), routes=ROUTES),
        Mount("pd-regional", ("regional_base_url",), partial(build, REGIONAL), routes=ROUTES),
        Mount("pd-management", ("management_url",), build_management, routes=MANAGEMENT_ROUTES),
    ),
    SCENARIOS,
    {"grpc_package": "pd_api"},  # the one name of PD that the documents hide behind a stand-in
    listen,
    EVERYWHERE.models,
)
