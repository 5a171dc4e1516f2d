"""What PC declares to the server: its hosts, scenarios, settings and models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pc.auth.token_exchange import TokenHost
from catalog_probe.mockserver.pc.causes import SCENARIOS
from catalog_probe.mockserver.pc.gateway import Gateway
from catalog_probe.mockserver.pc.models import MODELS
from catalog_probe.mockserver.pc.names import DEFAULTS
from catalog_probe.mockserver.pc.routes import ROUTES
from catalog_probe.mockserver.pc.websocket.causes import SCENARIOS as WEBSOCKET_SCENARIOS
from catalog_probe.mockserver.pc.websocket.door import ResponsesDoor

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import World


def build(world: World) -> Gateway:
    """The ASGI app of PC over HTTP."""
    return Gateway(world, ROUTES)


PROVIDER = Provider(
    "pc",
    (
        Mount("pc", ("base_url",), build, ResponsesDoor, ROUTES),
        Mount("pc-auth", ("auth_url", "mtls_auth_url"), TokenHost),
    ),
    (*SCENARIOS, *WEBSOCKET_SCENARIOS),
    DEFAULTS,
    models=MODELS,
)
