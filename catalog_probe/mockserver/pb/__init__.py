"""Provider PB: a content-generation API with RPC-style errors (1:4.2, 2:7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pb import live
from catalog_probe.mockserver.pb.causes import SCENARIOS
from catalog_probe.mockserver.pb.gateway import Gateway
from catalog_probe.mockserver.pb.models import MODELS
from catalog_probe.mockserver.pb.names import DEFAULTS
from catalog_probe.mockserver.pb.routes import ROUTES

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import World


def build(world: World) -> Gateway:
    """The ASGI app of PB."""
    return Gateway(world, ROUTES)


_SCENARIOS = (*SCENARIOS, *live.SCENARIOS)

PROVIDER = Provider(
    "pb",
    (Mount("pb", ("base_url",), build, live.LiveDoor, ROUTES),),
    _SCENARIOS,
    DEFAULTS,
    models=MODELS,
)
