"""Provider PC: a responses and chat-completions API with typed error codes, and its mutual-TLS host (1:4.3, 2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mockserver.pc import websocket
from mockserver.pc.catalogue import MODELS
from mockserver.pc.causes import SCENARIOS
from mockserver.pc.gateway import Gateway
from mockserver.pc.names import DEFAULTS
from mockserver.pc.routes import ROUTES
from mockserver.pc.token_exchange import TokenHost
from mockserver.providers import Mount, Provider

if TYPE_CHECKING:
    from mockserver.world import World


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
