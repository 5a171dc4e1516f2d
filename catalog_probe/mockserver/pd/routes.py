"""PD's route table (1:4.4, and batches, whose path is assumed); every other path is 404, every other method 405."""

from __future__ import annotations

from catalog_probe.mockserver.core.routing import Route
from catalog_probe.mockserver.pd.endpoints import api_key, batches, chat, models, responses
from catalog_probe.mockserver.pd.gateway import Endpoint

ROUTES = (
    Route("GET", "/v1/models", Endpoint(models.list_models, "models")),
    Route("GET", "/v1/models/{model_id}", Endpoint(models.get_model, "models")),
    Route("GET", "/v1/embedding-models/{model_id}", Endpoint(models.get_embedding_model, "models")),
    Route("POST", "/v1/chat/completions", Endpoint(chat.create, "chat")),
    Route("GET", "/v1/chat/deferred-completion/{request_id}", Endpoint(chat.fetch_deferred, "chat")),
    Route("POST", "/v1/responses", Endpoint(responses.create, "responses")),
    Route("POST", "/v1/tokenize-text", Endpoint(models.tokenize_text, "tokenize")),
    Route("GET", "/v1/api-key", Endpoint(api_key.show, None)),
    Route("POST", "/v1/batches", Endpoint(batches.create, "batches")),
    Route("GET", "/v1/batches/{batch_id}", Endpoint(batches.fetch, "batches")),
)
