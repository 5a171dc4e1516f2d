"""Provider PC: a responses and chat-completions API with typed error codes, and its mutual-TLS host (1:4.3, 2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pc import websocket
from catalog_probe.mockserver.pc.auth.token_exchange import TokenHost
from catalog_probe.mockserver.pc.causes import SCENARIOS
from catalog_probe.mockserver.pc.gateway import Gateway
from catalog_probe.mockserver.pc.models import MODELS
from catalog_probe.mockserver.pc.names import DEFAULTS
from catalog_probe.mockserver.pc.routes import ROUTES

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import World


def build(world: World) -> Gateway:
    """The ASGI app of PC over HTTP."""
    return Gateway(world, ROUTES)


PROVIDER = Provider(
    "pc",
    (
        Mount("pc", ("base_url",), build, websocket.ResponsesDoor, ROUTES),
        Mount("pc-auth", ("auth_url", "mtls_auth_url"), TokenHost),
    ),
    (*SCENARIOS, *websocket.SCENARIOS),
    DEFAULTS,
    models=MODELS,
)
