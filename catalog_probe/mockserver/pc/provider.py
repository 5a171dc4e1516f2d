"""PC's declaration to the server: its hosts, scenarios, settings and models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pc import token_exchange
from catalog_probe.mockserver.pc.gateway import Gateway
from catalog_probe.mockserver.pc.models import MODELS
from catalog_probe.mockserver.pc.routes import ROUTES
from catalog_probe.mockserver.pc.scenarios import SCENARIOS
from catalog_probe.mockserver.pc.token_exchange import TokenHost
from catalog_probe.mockserver.pc.websocket.app import ResponsesSocketApp

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import World


def build(world: World) -> Gateway:
    """Make the ASGI app of PC over HTTP."""
    return Gateway(world, ROUTES)


def build_token_host(world: World) -> TokenHost:
    """Make the ASGI app of the mutual-TLS host."""
    return TokenHost(token_exchange.TOKEN_ROUTES)


PROVIDER = Provider(
    "pc",
    (
        Mount("pc", ("base_url",), build, ResponsesSocketApp, ROUTES),
        Mount("pc-auth", ("auth_url", "mtls_auth_url"), build_token_host, routes=token_exchange.TOKEN_ROUTES),
    ),
    SCENARIOS,
    {"header_prefix": "PC-"},  # the one name of PC that the documents hide behind a stand-in
    models=MODELS,
)
