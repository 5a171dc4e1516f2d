"""Provider PB: a content-generation API with RPC-style errors (1:4.2, 2:7.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mockserver.pb import live
from mockserver.pb.catalogue import MODELS
from mockserver.pb.causes import SCENARIOS
from mockserver.pb.gateway import Gateway
from mockserver.pb.names import DEFAULTS
from mockserver.pb.routes import ROUTES
from mockserver.providers import Mount, Provider

if TYPE_CHECKING:
    from mockserver.world import World


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
