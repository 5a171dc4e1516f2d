"""PC's route table: 1:4.3, and the paths that the documents leave out as real clients use them (marked assumed)."""

from __future__ import annotations

from catalog_probe.mockserver.core.routing import Route
from catalog_probe.mockserver.pc.auth.keys import EXTERNAL_STORAGE
from catalog_probe.mockserver.pc.endpoints import (
    agents,
    chat,
    conversations,
    files,
    jobs,
    lookups,
    organization,
    other_models,
    responses,
)
from catalog_probe.mockserver.pc.endpoints import vector_stores as stores
from catalog_probe.mockserver.pc.gateway import Endpoint

STORE = "/v1/vector_stores/{vector_store_id}"
LIVE = "/v1/live/sessions"

DOCUMENTED = (
    Route("POST", "/v1/responses", Endpoint(responses.create)),
    Route("GET", "/v1/responses/{response_id}", Endpoint(responses.retrieve)),
    Route("POST", "/v1/chat/completions", Endpoint(chat.create)),
    Route("GET", "/v1/models", Endpoint(other_models.list_models)),
    Route("GET", "/v1/agents", Endpoint(agents.list_agents, beta=agents.BETA)),
    Route("GET", "/v1/organization/external_storage", Endpoint(organization.external_storage, scope=EXTERNAL_STORAGE)),
    Route("POST", "/v1/organization/spend_limit", Endpoint(organization.set_spend_limit, admin=True)),
    Route("GET", "/v1/fine_tuning/model_limits", Endpoint(organization.model_limits)),
    Route("GET", f"{STORE}/files", Endpoint(stores.list_files)),
    Route("POST", f"{STORE}/files", Endpoint(stores.attach)),
    Route("POST", f"{STORE}/file_batches", Endpoint(stores.attach_batch)),
    Route("GET", LIVE, Endpoint(agents.list_live_sessions)),
    Route("POST", LIVE, Endpoint(agents.open_live_session)),
)

ASSUMED = (
    Route("DELETE", "/v1/responses/{response_id}", Endpoint(responses.delete)),
    Route("POST", "/v1/responses/{response_id}/cancel", Endpoint(responses.cancel)),
    Route("GET", "/v1/responses/{response_id}/input_items", Endpoint(responses.list_input_items)),
    Route("GET", "/v1/models/{model}", Endpoint(other_models.get_model)),
    Route("POST", "/v1/embeddings", Endpoint(other_models.embed)),
    Route("POST", "/v1/images/generations", Endpoint(other_models.draw)),
    Route("POST", "/v1/audio/speech", Endpoint(other_models.speak)),
    Route("POST", "/v1/conversations", Endpoint(conversations.create)),
    Route("GET", "/v1/conversations/{conversation_id}", Endpoint(conversations.retrieve)),
    Route("POST", "/v1/conversations/{conversation_id}", Endpoint(conversations.update)),
    Route("DELETE", "/v1/conversations/{conversation_id}", Endpoint(conversations.delete)),
    Route("GET", "/v1/conversations/{conversation_id}/items", Endpoint(conversations.list_items)),
    Route("POST", "/v1/conversations/{conversation_id}/items", Endpoint(conversations.add_items)),
    Route("GET", "/v1/conversations/{conversation_id}/items/{item_id}", Endpoint(conversations.retrieve_item)),
    Route("DELETE", "/v1/conversations/{conversation_id}/items/{item_id}", Endpoint(conversations.delete_item)),
    Route("POST", "/v1/files", Endpoint(files.upload)),
    Route("GET", "/v1/files", Endpoint(files.list_files)),
    Route("GET", "/v1/files/{file_id}", Endpoint(files.retrieve)),
    Route("DELETE", "/v1/files/{file_id}", Endpoint(files.delete)),
    Route("GET", "/v1/files/{file_id}/content", Endpoint(files.download)),
    Route("POST", "/v1/batches", Endpoint(jobs.create_batch)),
    Route("GET", "/v1/batches", Endpoint(jobs.list_batches)),
    Route("GET", "/v1/batches/{batch_id}", Endpoint(jobs.retrieve_batch)),
    Route("POST", "/v1/batches/{batch_id}/cancel", Endpoint(jobs.cancel_batch)),
    Route("POST", "/v1/fine_tuning/jobs", Endpoint(jobs.create_fine_tuning_job)),
    Route("POST", "/v1/vector_stores", Endpoint(stores.create)),
    Route("GET", "/v1/vector_stores", Endpoint(stores.list_stores)),
    Route("GET", STORE, Endpoint(stores.retrieve)),
    Route("POST", STORE, Endpoint(stores.update)),
    Route("GET", f"{STORE}/files/{{file_id}}", Endpoint(stores.retrieve_file)),
    Route("DELETE", f"{STORE}/files/{{file_id}}", Endpoint(stores.detach)),
    Route("GET", f"{STORE}/file_batches/{{batch_id}}", Endpoint(stores.retrieve_batch)),
    Route("DELETE", STORE, Endpoint(stores.delete)),
    Route("GET", "/v1/evals/{eval_id}", Endpoint(lookups.eval_)),
    Route("GET", "/v1/fine_tuning/jobs/{job_id}", Endpoint(lookups.fine_tuning_job)),
    Route("GET", "/v1/fine_tuning/jobs/{job_id}/events", Endpoint(lookups.fine_tune)),
    Route("GET", "/v1/safety/alerts/{alert_id}", Endpoint(lookups.safety_alert)),
    Route("POST", "/v1/realtime/calls/{call_id}/hangup", Endpoint(lookups.call_)),
    Route("GET", "/v1/containers/{container_id}", Endpoint(lookups.container)),
    Route("GET", "/v1/vaults/{vault_id}", Endpoint(lookups.vault)),
    Route("GET", "/v1/skills/{skill_id}", Endpoint(lookups.skill)),
    Route("GET", "/v1/chatkit/threads/{widget_id}", Endpoint(lookups.chat_widget)),
    Route("GET", "/v1/agents/sessions/{session_id}", Endpoint(lookups.agent_session, beta=agents.BETA)),
    Route("GET", "/v1/videos/{video_id}", Endpoint(lookups.video)),
)

ROUTES = (*DOCUMENTED, *ASSUMED)
