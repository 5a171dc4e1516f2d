"""PB's endpoint table: 1:4.2, and operations of official clients."""

from __future__ import annotations

from dataclasses import replace

from catalog_probe.mockserver.core.routing import Endpoint
from catalog_probe.mockserver.core.sections import CLIENTS, OURS
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

VERSIONS = ("v1", "v1beta")
"""Both versions have models and interactions (2:9). Newer clients use v1 alone, so they have all else as well."""

IN_BOTH_VERSIONS = (  # the first match wins: `{model}` also matches `x:generateContent`
    Endpoint("GET", "/models", models.list_models, "1:4.2"),
    Endpoint("POST", "/models/{model}:generateContent", generate.generate, "1:4.2"),
    Endpoint("POST", "/models/{model}:streamGenerateContent", generate.stream, CLIENTS),
    Endpoint("POST", "/models/{model}:batchGenerateContent", batches.create, CLIENTS),
    Endpoint("GET", "/models/{model}", models.get_model, CLIENTS),
    Endpoint("POST", "/interactions", interactions.create, "1:4.2"),
    Endpoint("GET", "/interactions/{interaction}", interactions.retrieve, CLIENTS),
    Endpoint("DELETE", "/interactions/{interaction}", interactions.delete, CLIENTS),
    Endpoint("GET", "/batches/{batch}", batches.retrieve, CLIENTS),
    Endpoint("DELETE", "/batches/{batch}", batches.delete, CLIENTS),
    Endpoint("POST", "/files", files.create, OURS),
    Endpoint("GET", "/files", files.list_files, CLIENTS),
    Endpoint("GET", "/files/{file}", files.retrieve, CLIENTS),
    Endpoint("DELETE", "/files/{file}", files.delete, CLIENTS),
    Endpoint("POST", "/fileSearchStores", stores.create, CLIENTS),
    Endpoint("GET", "/fileSearchStores", stores.list_stores, CLIENTS),
    Endpoint("DELETE", "/fileSearchStores/{store}", stores.delete, CLIENTS),
    Endpoint("POST", "/fileSearchStores/{store}/documents", stores.create_document, OURS),
)

ROUTES = (
    *(replace(row, path=f"/{version}{row.path}") for version in VERSIONS for row in IN_BOTH_VERSIONS),
    Endpoint("POST", "/upload/v1/files", files.upload, CLIENTS),
    Endpoint("POST", "/upload/v1beta/files", files.upload, CLIENTS),
    Endpoint("POST", "/v1beta/auth_tokens", auth_tokens.create, "1:4.2"),
    Endpoint("GET", "/v1beta/openai/models", compatibility.list_models, CLIENTS),
    Endpoint("POST", "/v1beta/openai/chat/completions", compatibility.create_completion, "1:4.2"),
)
