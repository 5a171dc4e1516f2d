"""Provider PD: a chat and responses API, its regional twin, its management API, and gRPC (1:4.4, 2:7.6)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from mockserver.pd.catalogue import EVERYWHERE, REGIONAL
from mockserver.pd.causes import SCENARIOS
from mockserver.pd.gateway import Gateway
from mockserver.pd.listening import listen
from mockserver.pd.management import ROUTES as MANAGEMENT_ROUTES
from mockserver.pd.management import Management
from mockserver.pd.names import DEFAULTS
from mockserver.pd.routes import ROUTES
from mockserver.providers import Mount, Provider

if TYPE_CHECKING:
    from mockserver.pd.catalogue import Host
    from mockserver.world import World


def build(host: Host, world: World) -> Gateway:
    """The ASGI app of the inference API on one of its hosts."""
    return Gateway(host, ROUTES)


def build_management(world: World) -> Management:
    """The ASGI app of the management API, which has a host of its own (2:9)."""
    return Management()


PROVIDER = Provider(
    "pd",
    (
        Mount("pd", ("base_url",), partial(build, EVERYWHERE), routes=ROUTES),
        Mount("pd-regional", ("regional_base_url",), partial(build, REGIONAL), routes=ROUTES),
        Mount("pd-management", ("management_url",), build_management, routes=MANAGEMENT_ROUTES),
    ),
    SCENARIOS,
    DEFAULTS,
    listen,
    EVERYWHERE.models,
)
