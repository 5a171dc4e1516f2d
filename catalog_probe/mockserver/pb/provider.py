"""PB's declaration to the server: its host, scenarios, settings and models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pb.call import DEFAULT_NAMES
from catalog_probe.mockserver.pb.gateway import Gateway
from catalog_probe.mockserver.pb.live.app import LiveSocketApp
from catalog_probe.mockserver.pb.models import MODELS
from catalog_probe.mockserver.pb.routes import ROUTES
from catalog_probe.mockserver.pb.scenarios import SCENARIOS

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import World


def build(world: World) -> Gateway:
    """Make the ASGI app of PB."""
    return Gateway(world, ROUTES)


PROVIDER = Provider(
    "pb",
    (Mount("pb", ("base_url",), build, LiveSocketApp, ROUTES),),
    SCENARIOS,
    DEFAULT_NAMES,
    models=MODELS,
)
