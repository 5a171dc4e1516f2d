"""PA's declaration: endpoint table (1:4.1), host, scenarios, settings, models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.errors import CLIENTS
from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pa import agents, batches, files, limits, messages, models
from catalog_probe.mockserver.pa.compliance.endpoints import COMPLIANCE_ROUTES
from catalog_probe.mockserver.pa.compliance.errors import SCENARIOS as COMPLIANCE_SCENARIOS
from catalog_probe.mockserver.pa.faults import ARMABLE_ERRORS
from catalog_probe.mockserver.pa.gateway import Endpoint, Gateway, admit_admins, get_me
from catalog_probe.mockserver.pa.keys import DEFAULTS
from catalog_probe.mockserver.pa.models import MODELS
from catalog_probe.mockserver.pa.scenarios import SCENARIOS

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import World


ROUTES = (
    Endpoint("POST", "/v1/messages", messages.create_message, "1:4.1", "messages"),
    Endpoint("POST", "/v1/messages/count_tokens", messages.count_tokens, "1:4.1", "count_tokens"),
    Endpoint("GET", "/v1/models", models.list_models, "1:4.1", "models", legacy_versions=True),
    Endpoint("GET", "/v1/models/{model_id}", models.get_model, "1:4.1", "models", legacy_versions=True),
    Endpoint("POST", "/v1/complete", messages.refuse_completion, "1:4.1", open=True),
    # "batches endpoints, files endpoints, managed-agent create and read endpoints | paths: not shown"
    Endpoint("POST", "/v1/messages/batches", batches.create_batch, CLIENTS, "batches"),
    Endpoint("GET", "/v1/messages/batches", batches.BATCHES.list_all, CLIENTS, "batches"),
    Endpoint("GET", "/v1/messages/batches/{batch_id}", batches.BATCHES.retrieve, CLIENTS, "batches"),
    Endpoint("POST", "/v1/messages/batches/{batch_id}/cancel", batches.cancel, CLIENTS, "batches"),
    Endpoint("GET", "/v1/messages/batches/{batch_id}/results", batches.results, CLIENTS, "batches"),
    Endpoint("POST", "/v1/files", files.upload, CLIENTS, "files"),
    Endpoint("GET", "/v1/files", files.FILES.list_all, CLIENTS, "files"),
    Endpoint("GET", "/v1/files/{file_id}", files.FILES.retrieve, CLIENTS, "files"),
    Endpoint("DELETE", "/v1/files/{file_id}", files.FILES.delete, CLIENTS, "files"),
    Endpoint("GET", "/v1/files/{file_id}/content", files.download, CLIENTS, "files"),
    Endpoint("POST", "/v1/agents", agents.create_agent, CLIENTS, "agents_create"),
    Endpoint("GET", "/v1/agents", agents.AGENTS.list_all, CLIENTS, "agents_read"),
    Endpoint("GET", "/v1/agents/{agent_id}", agents.AGENTS.retrieve, CLIENTS, "agents_read"),
    Endpoint("POST", "/v1/agents/{agent_id}", agents.update, CLIENTS, "agents_create"),
    Endpoint("POST", "/v1/agents/{agent_id}/archive", agents.archive, CLIENTS, "agents_create"),
    # "GET {base_url}/v1/organizations/me | admin credential"; paths of "admin rate-limit list endpoints" are not shown
    Endpoint("GET", "/v1/organizations/me", get_me, "1:4.1", admit=admit_admins),
    Endpoint(
        "GET",
        "/v1/organizations/rate_limits",
        limits.list_organization_limits,
        CLIENTS,
        admit=admit_admins,
    ),
    Endpoint(
        "GET",
        "/v1/organizations/workspaces/{workspace_id}/rate_limits",
        limits.list_workspace_limits,
        CLIENTS,
        admit=admit_admins,
    ),
)


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
    faults=ARMABLE_ERRORS,
)
