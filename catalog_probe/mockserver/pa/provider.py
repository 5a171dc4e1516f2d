"""PA's declaration: its host, scenarios, settings and models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pa.causes import SCENARIOS
from catalog_probe.mockserver.pa.compliance.causes import SCENARIOS as COMPLIANCE_SCENARIOS
from catalog_probe.mockserver.pa.compliance.routes import COMPLIANCE_ROUTES
from catalog_probe.mockserver.pa.gateway import Gateway
from catalog_probe.mockserver.pa.models import MODELS
from catalog_probe.mockserver.pa.names import DEFAULTS
from catalog_probe.mockserver.pa.routes import ROUTES

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import World


_ROUTES = (*ROUTES, *COMPLIANCE_ROUTES)


def build(world: World) -> Gateway:
    """Build the ASGI app of PA."""
    return Gateway(world, _ROUTES)


PROVIDER = Provider(
    "pa",
    (Mount("pa", ("base_url",), build, routes=_ROUTES),),
    (*SCENARIOS, *COMPLIANCE_SCENARIOS),
    DEFAULTS,
    models=MODELS,
)
