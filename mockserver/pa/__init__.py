"""Provider PA: a messages-style API, with a compliance API and an admin API (1:4.1, 2:7.2, 2:7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mockserver.pa import admin, compliance
from mockserver.pa.catalogue import MODELS
from mockserver.pa.causes import SCENARIOS
from mockserver.pa.gateway import Gateway
from mockserver.pa.names import DEFAULTS
from mockserver.pa.routes import ROUTES
from mockserver.providers import Mount, Provider

if TYPE_CHECKING:
    from mockserver.world import World


_ROUTES = (*ROUTES, *admin.ROUTES, *compliance.ROUTES)


def build(world: World) -> Gateway:
    """The ASGI app of PA."""
    return Gateway(world, _ROUTES)


PROVIDER = Provider(
    "pa",
    (Mount("pa", ("base_url",), build, routes=_ROUTES),),
    (*SCENARIOS, *compliance.SCENARIOS),
    DEFAULTS,
    models=MODELS,
)
