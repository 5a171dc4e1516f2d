"""PC's declaration: endpoint table (1:4.3), hosts, scenarios, settings, models.

Of the latter it has those that a probe or a test of an official client calls, under the clients' paths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pc import chat, errors, files, models, responses, small_endpoints, token_exchange
from catalog_probe.mockserver.pc.call import Endpoint
from catalog_probe.mockserver.pc.faults import ARMABLE_ERRORS
from catalog_probe.mockserver.pc.gateway import Gateway
from catalog_probe.mockserver.pc.keys import EXTERNAL_STORAGE
from catalog_probe.mockserver.pc.models import MODELS
from catalog_probe.mockserver.pc.responses import create_conversation, delete_conversation, retrieve_conversation
from catalog_probe.mockserver.pc.scenarios import SCENARIOS
from catalog_probe.mockserver.pc.small_endpoints import make_absent_handler
from catalog_probe.mockserver.pc.token_exchange import TokenHost
from catalog_probe.mockserver.pc.websocket import PATH as SOCKET_PATH
from catalog_probe.mockserver.pc.websocket import ResponsesSocketApp

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import World


AGENTS = "agents=v1"
RESPONSE_PATH = "/v1/responses/{response_id}"
STORE_PATH = "/v1/vector_stores/{vector_store_id}"
LIVE = "/v1/live/sessions"
CONVERSATION_PATH = "/v1/conversations/{conversation_id}"
FILE_PATH = "/v1/files/{file_id}"

DOCUMENTED = (
    Endpoint("POST", "/v1/responses", responses.create_response, "1:4.3"),
    Endpoint("GET", RESPONSE_PATH, responses.retrieve_response, "1:4.3"),
    Endpoint("POST", "/v1/chat/completions", chat.create_chat_completion, "1:4.3"),
    Endpoint("GET", "/v1/models", models.list_models, "1:4.3"),
    Endpoint("GET", "/v1/agents", small_endpoints.list_agents, "1:4.3", beta=AGENTS),
    Endpoint(
        "GET",
        "/v1/organization/external_storage",
        small_endpoints.list_external_storage,
        "1:4.3",
        scope=EXTERNAL_STORAGE,
    ),
    Endpoint("POST", "/v1/organization/spend_limit", small_endpoints.set_spend_limit, "1:4.3", admin=True),
    Endpoint("GET", "/v1/fine_tuning/model_limits", models.list_model_limits, "1:4.3"),
    Endpoint("GET", f"{STORE_PATH}/files", files.list_attached, "1:4.3"),
    Endpoint("POST", f"{STORE_PATH}/files", files.attach, "1:4.3"),
    Endpoint("POST", f"{STORE_PATH}/file_batches", files.attach_batch, "1:4.3"),
    Endpoint("GET", LIVE, small_endpoints.list_live_sessions, "1:4.3"),
    Endpoint("POST", LIVE, small_endpoints.open_live_session, "1:4.3"),
)

ASSUMED = (
    # 1:1 "list and fetch models; administer files, batches, vector stores, fine-tuning jobs"
    Endpoint("GET", "/v1/models/{model}", models.get_model, "1:1"),
    Endpoint("POST", "/v1/files", files.upload, "1:1"),
    Endpoint("GET", FILE_PATH, files.retrieve_file, "1:1"),
    Endpoint("DELETE", FILE_PATH, files.delete_file, "1:1"),
    Endpoint("POST", "/v1/batches", files.create_batch, "1:1"),
    Endpoint("POST", "/v1/vector_stores", files.create_store, "1:1"),
    Endpoint("DELETE", STORE_PATH, files.delete_store, "1:1"),
    Endpoint("POST", "/v1/fine_tuning/jobs", files.create_fine_tuning_job, "1:1"),
    # 1:4.3 "Embeddings: a `dimensions` parameter …"
    Endpoint("POST", "/v1/embeddings", small_endpoints.create_embeddings, "1:4.3"),
    # 2:7.5 images, 2:8.4 image and speech models
    Endpoint("POST", "/v1/images/generations", small_endpoints.generate_images, "2:7.5"),
    Endpoint("POST", "/v1/audio/speech", small_endpoints.generate_speech, "2:8.4"),
    # 2:7.5 "previous_response_id unresolvable (deleted, …)"
    Endpoint("DELETE", RESPONSE_PATH, responses.delete_response, "2:7.5"),
    # 1:4.3 the field `conversation`, 2:7.5 rows 404 and 409
    Endpoint("POST", "/v1/conversations", create_conversation, "1:4.3"),
    Endpoint("GET", CONVERSATION_PATH, retrieve_conversation, "2:7.5"),
    Endpoint("DELETE", CONVERSATION_PATH, delete_conversation, "2:7.5"),
    # 2:7.5 rows 404: each resource, and the code that it has
    Endpoint("GET", "/v1/evals/{eval_id}", make_absent_handler(errors.NO_EVAL), "2:7.5"),
    Endpoint("GET", "/v1/fine_tuning/jobs/{job_id}", make_absent_handler(errors.NO_FINE_TUNING_JOB), "2:7.5"),
    Endpoint("GET", "/v1/fine_tuning/jobs/{job_id}/events", make_absent_handler(errors.NO_FINE_TUNE), "2:7.5"),
    Endpoint("GET", "/v1/safety/alerts/{alert_id}", make_absent_handler(errors.NO_SAFETY_ALERT), "2:7.5"),
    Endpoint("POST", "/v1/realtime/calls/{call_id}/hangup", make_absent_handler(errors.NO_CALL), "2:7.5"),
    Endpoint("GET", "/v1/containers/{container_id}", make_absent_handler(errors.NO_CONTAINER), "2:7.5"),
    Endpoint("GET", "/v1/vaults/{vault_id}", make_absent_handler(errors.NO_VAULT), "2:7.5"),
    Endpoint("GET", "/v1/skills/{skill_id}", make_absent_handler(errors.NO_SKILL), "2:7.5"),
    Endpoint("GET", "/v1/chatkit/threads/{widget_id}", make_absent_handler(errors.NO_CHAT_WIDGET), "2:7.5"),
    Endpoint(
        "GET", "/v1/agents/sessions/{session_id}", make_absent_handler(errors.NO_AGENT_SESSION), "2:7.5", beta=AGENTS
    ),
    Endpoint("GET", "/v1/videos/{video_id}", make_absent_handler(errors.NO_VIDEO), "2:7.5"),
)
"""The section names the operation or the resource; the path is the clients'."""

ROUTES = (*DOCUMENTED, *ASSUMED)


def build(world: World) -> Gateway:
    """Make the ASGI app of PC over HTTP."""
    return Gateway(world, ROUTES)


def build_token_host(world: World) -> TokenHost:
    """Make the ASGI app of the mutual-TLS host."""
    return TokenHost(token_exchange.TOKEN_ROUTES)


PROVIDER = Provider(
    "pc",
    (
        Mount("pc", ("base_url",), build, ResponsesSocketApp, ROUTES),
        Mount("pc-auth", ("auth_url", "mtls_auth_url"), build_token_host, routes=token_exchange.TOKEN_ROUTES),
    ),
    SCENARIOS,
    {"header_prefix": "PC-"},  # the one name of PC that the documents hide behind a stand-in
    models=MODELS,
    faults=ARMABLE_ERRORS,
    beside_http=(f"WS /pc{SOCKET_PATH}",),
)
