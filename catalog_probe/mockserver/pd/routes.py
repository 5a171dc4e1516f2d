"""PD's endpoint tables (1:4.4). Any other path is 404, any other method 405."""

from __future__ import annotations

from catalog_probe.mockserver.core import routing
from catalog_probe.mockserver.core.sections import OURS
from catalog_probe.mockserver.pd.endpoints import chat, lookups, management, responses
from catalog_probe.mockserver.pd.gateway import Endpoint

ROUTES = (
    Endpoint("GET", "/v1/models", lookups.list_models, "1:4.4", "models"),
    Endpoint("GET", "/v1/models/{model_id}", lookups.get_model, "1:4.4", "models"),
    Endpoint("GET", "/v1/embedding-models/{model_id}", lookups.get_embedding_model, "1:4.4", "models"),
    Endpoint("POST", "/v1/chat/completions", chat.create_chat_completion, "1:4.4", "chat"),
    Endpoint("GET", "/v1/chat/deferred-completion/{request_id}", chat.fetch_deferred, "1:4.4", "chat"),
    Endpoint("POST", "/v1/responses", responses.create_response, "1:4.4", "responses"),
    Endpoint("POST", "/v1/tokenize-text", lookups.tokenize_text, "1:4.4", "tokenize"),
    Endpoint("GET", "/v1/api-key", lookups.show_key, "1:4.4", None),
    Endpoint("POST", "/v1/batches", lookups.create_batch, OURS, "batches"),
)
"""The names in ACLs are the mock's choice: the documents show only their pattern (1:5.4)."""

MANAGEMENT_ROUTES = (routing.Endpoint("GET", "/auth/management-keys/validation", management.validate, "1:4.4"),)
