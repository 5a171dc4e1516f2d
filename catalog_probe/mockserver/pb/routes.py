"""PB's route table: 1:4.2, with the paths it leaves out as such APIs have them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.routing import Route
from catalog_probe.mockserver.pb.endpoints import (
    auth_tokens,
    batches,
    compatibility,
    files,
    generate,
    interactions,
    models,
    stores,
)

if TYPE_CHECKING:
    from catalog_probe.mockserver.pb.gateway import Handler

VERSIONS = ("v1", "v1beta")
"""Both share model paths and interactions (2:9), and as newer clients ask v1 alone, what is kept beside them."""

_SHARED: tuple[Route[Handler], ...] = (
    Route("GET", "/models", models.list_models),
    Route("POST", "/models/{model}:generateContent", generate.generate),
    Route("POST", "/models/{model}:streamGenerateContent", generate.stream),
    Route("POST", "/models/{model}:batchGenerateContent", batches.create),
    Route("GET", "/models/{model}", models.get_model),
    Route("POST", "/interactions", interactions.create),
    Route("POST", "/interactions/{interaction}/cancel", interactions.cancel),
    Route("GET", "/interactions/{interaction}", interactions.retrieve),
    Route("DELETE", "/interactions/{interaction}", interactions.delete),
    Route("GET", "/batches", batches.list_jobs),
    Route("POST", "/batches/{batch}:cancel", batches.cancel),
    Route("GET", "/batches/{batch}", batches.retrieve),
    Route("DELETE", "/batches/{batch}", batches.delete),
    Route("POST", "/files", files.create),
    Route("GET", "/files", files.list_files),
    Route("GET", "/files/{file}:download", files.download),
    Route("GET", "/files/{file}", files.retrieve),
    Route("DELETE", "/files/{file}", files.delete),
    Route("POST", "/fileSearchStores", stores.create),
    Route("GET", "/fileSearchStores", stores.list_stores),
    Route("GET", "/fileSearchStores/{store}", stores.retrieve),
    Route("DELETE", "/fileSearchStores/{store}", stores.delete),
    Route("POST", "/fileSearchStores/{store}/documents", stores.create_document),
)

ROUTES: tuple[Route[Handler], ...] = (
    *(Route(method, f"/{version}{path}", handler) for version in VERSIONS for method, path, handler in _SHARED),
    Route("POST", "/upload/v1/files", files.upload),
    Route("POST", "/upload/v1beta/files", files.upload),
    Route("POST", "/v1beta/auth_tokens", auth_tokens.create),
    Route("GET", "/v1beta/openai/models", compatibility.list_models),
    Route("POST", "/v1beta/openai/chat/completions", compatibility.chat_completions),
)
