"""PA's route table: the general API of 1:4.1, with the paths it leaves out as real clients use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from catalog_probe.mockserver.core.routing import Route
from catalog_probe.mockserver.pa.endpoints import agents, batches, files, messages, models
from catalog_probe.mockserver.pa.errors import invalid
from catalog_probe.mockserver.pa.gateway import Endpoint

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.call import Call


async def removed(call: Call) -> NoReturn:
    """POST /v1/complete: removed, always 400 pointing to the messages path (1:4.1)."""
    raise invalid("/v1/complete has been removed. Use /v1/messages instead.")


ROUTES = (
    Route("POST", "/v1/messages", Endpoint(messages.create, "messages")),
    Route("POST", "/v1/messages/count_tokens", Endpoint(messages.count_tokens, "count_tokens")),
    Route("GET", "/v1/models", Endpoint(models.list_models, "models", legacy_versions=True)),
    Route("GET", "/v1/models/{model_id}", Endpoint(models.get_model, "models", legacy_versions=True)),
    Route("POST", "/v1/messages/batches", Endpoint(batches.create, "batches")),
    Route("GET", "/v1/messages/batches", Endpoint(batches.list_batches, "batches")),
    Route("GET", "/v1/messages/batches/{batch_id}", Endpoint(batches.retrieve, "batches")),
    Route("DELETE", "/v1/messages/batches/{batch_id}", Endpoint(batches.delete, "batches")),
    Route("POST", "/v1/messages/batches/{batch_id}/cancel", Endpoint(batches.cancel, "batches")),
    Route("GET", "/v1/messages/batches/{batch_id}/results", Endpoint(batches.results, "batches")),
    Route("POST", "/v1/files", Endpoint(files.upload, "files")),
    Route("GET", "/v1/files", Endpoint(files.list_files, "files")),
    Route("GET", "/v1/files/{file_id}", Endpoint(files.retrieve, "files")),
    Route("DELETE", "/v1/files/{file_id}", Endpoint(files.delete, "files")),
    Route("GET", "/v1/files/{file_id}/content", Endpoint(files.download, "files")),
    Route("POST", "/v1/agents", Endpoint(agents.create, "agents_create")),
    Route("GET", "/v1/agents", Endpoint(agents.list_agents, "agents_read")),
    Route("GET", "/v1/agents/{agent_id}", Endpoint(agents.retrieve, "agents_read")),
    Route("POST", "/v1/agents/{agent_id}", Endpoint(agents.update, "agents_create")),
    Route("POST", "/v1/agents/{agent_id}/archive", Endpoint(agents.archive, "agents_create")),
    Route("POST", "/v1/complete", Endpoint(removed, "messages", open=True)),
)
