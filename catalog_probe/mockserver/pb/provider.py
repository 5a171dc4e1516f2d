"""What PB declares to the server: its hosts, scenarios, settings and models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pb.causes import SCENARIOS
from catalog_probe.mockserver.pb.gateway import Gateway
from catalog_probe.mockserver.pb.live.door import LiveDoor
from catalog_probe.mockserver.pb.models import MODELS
from catalog_probe.mockserver.pb.names import DEFAULTS
from catalog_probe.mockserver.pb.routes import ROUTES

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import World


def build(world: World) -> Gateway:
    """The ASGI app of PB."""
    return Gateway(world, ROUTES)


PROVIDER = Provider(
    "pb",
    (Mount("pb", ("base_url",), build, LiveDoor, ROUTES),),
    SCENARIOS,
    DEFAULTS,
    models=MODELS,
)
