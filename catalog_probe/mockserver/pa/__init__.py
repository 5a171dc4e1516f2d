"""Provider PA: a messages-style API, with a compliance API and an admin API (1:4.1, 2:7.2, 2:7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pa import compliance
from catalog_probe.mockserver.pa.causes import SCENARIOS
from catalog_probe.mockserver.pa.endpoints import admin
from catalog_probe.mockserver.pa.gateway import Gateway
from catalog_probe.mockserver.pa.models import MODELS
from catalog_probe.mockserver.pa.names import DEFAULTS
from catalog_probe.mockserver.pa.routes import ROUTES

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import World


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
