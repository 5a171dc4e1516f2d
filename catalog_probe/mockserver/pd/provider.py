"""PD's declaration: endpoint tables (1:4.4), hosts, scenarios, settings, models."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import gateway
from catalog_probe.mockserver.core.errors import OURS
from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pd import completions, lookups
from catalog_probe.mockserver.pd.faults import ARMABLE_ERRORS
from catalog_probe.mockserver.pd.gateway import Endpoint, Gateway, Management, validate
from catalog_probe.mockserver.pd.models import EVERYWHERE, REGIONAL
from catalog_probe.mockserver.pd.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.world import World
    from catalog_probe.mockserver.pd.models import Host


ROUTES = (
    Endpoint("GET", "/v1/models", lookups.list_models, "1:4.4", "models"),
    Endpoint("GET", "/v1/models/{model_id}", lookups.get_model, "1:4.4", "models"),
    Endpoint("GET", "/v1/embedding-models/{model_id}", lookups.get_embedding_model, "1:4.4", "models"),
    Endpoint("POST", "/v1/chat/completions", completions.create_chat_completion, "1:4.4", "chat"),
    Endpoint("GET", "/v1/chat/deferred-completion/{request_id}", completions.fetch_deferred, "1:4.4", "chat"),
    Endpoint("POST", "/v1/responses", completions.create_response, "1:4.4", "responses"),
    Endpoint("POST", "/v1/tokenize-text", lookups.tokenize_text, "1:4.4", "tokenize"),
    Endpoint("GET", "/v1/api-key", lookups.show_key, "1:4.4", None),
    Endpoint("POST", "/v1/batches", lookups.create_batch, OURS, "batches"),
)
"""The names in ACLs are the mock's choice: the documents show only their pattern (1:5.4)."""

MANAGEMENT_ROUTES = (gateway.Endpoint("GET", "/auth/management-keys/validation", validate, "1:4.4"),)


def build(host: Host, world: World) -> Gateway:
    """Make the ASGI app of the inference API on one of its hosts."""
    return Gateway(host, ROUTES)


def build_management(world: World) -> Management:
    """Make the ASGI app of the management API, which has a host of its own (2:9)."""
    return Management(MANAGEMENT_ROUTES)


async def listen(world: World, host: str) -> Mapping[str, str]:
    """Start the gRPC server; return its address as `host:port`."""
    from catalog_probe.mockserver.pd import grpc_server  # gRPC takes long to import, and HTTP alone needs none

    return {"grpc_host": f"{host}:{await grpc_server.start(world, world.settings['pd']['grpc_package'], host)}"}


PROVIDER = Provider(
    "pd",
    (
        Mount("pd", ("base_url",), partial(build, EVERYWHERE), routes=ROUTES),
        Mount("pd-regional", ("regional_base_url",), partial(build, REGIONAL), routes=ROUTES),
        Mount("pd-management", ("management_url",), build_management, routes=MANAGEMENT_ROUTES),
    ),
    SCENARIOS,
    {"grpc_package": "pd_api"},  # the one name of PD that the documents hide behind a stand-in
    listen,
    EVERYWHERE.models,
    ARMABLE_ERRORS,
    (r"GRPC /\w+/\w+",),  # a method that is not served is counted with its package: `GRPC /pd_api.Image/GenerateImage`
)
