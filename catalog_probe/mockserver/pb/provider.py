"""PB's declaration: endpoint table (1:4.2), host, scenarios, settings, models."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.errors import CLIENTS, OURS
from catalog_probe.mockserver.core.gateway import Endpoint
from catalog_probe.mockserver.core.providers import Mount, Provider
from catalog_probe.mockserver.pb import access, batches, compatibility, files, generate, interactions, models
from catalog_probe.mockserver.pb.call import DEFAULT_NAMES
from catalog_probe.mockserver.pb.faults import ARMABLE_ERRORS
from catalog_probe.mockserver.pb.gateway import Gateway
from catalog_probe.mockserver.pb.live import PATH as LIVE_PATH
from catalog_probe.mockserver.pb.live import LiveSocketApp
from catalog_probe.mockserver.pb.models import MODELS
from catalog_probe.mockserver.pb.scenarios import SCENARIOS

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import World


VERSIONS = ("v1", "v1beta")
"""Both versions have models and interactions (2:9). Newer clients use v1 alone, so they have all else as well."""

IN_BOTH_VERSIONS = (  # the first match wins: `{model}` also matches `x:generateContent`
    Endpoint("GET", "/models", models.list_models, "1:4.2"),
    Endpoint("POST", "/models/{model}:generateContent", generate.generate, "1:4.2"),
    Endpoint("POST", "/models/{model}:streamGenerateContent", generate.stream, CLIENTS),
    Endpoint("POST", "/models/{model}:batchGenerateContent", batches.create_batch, CLIENTS),
    Endpoint("GET", "/models/{model}", models.get_model, CLIENTS),
    Endpoint("POST", "/interactions", interactions.create_interaction, "1:4.2"),
    Endpoint("GET", "/interactions/{interaction}", interactions.retrieve_interaction, CLIENTS),
    Endpoint("DELETE", "/interactions/{interaction}", interactions.delete_interaction, CLIENTS),
    Endpoint("GET", "/batches/{batch}", batches.JOBS.retrieve, CLIENTS),
    Endpoint("DELETE", "/batches/{batch}", batches.JOBS.delete, CLIENTS),
    Endpoint("POST", "/files", files.create_file, OURS),
    Endpoint("GET", "/files", files.FILES.list_all, CLIENTS),
    Endpoint("GET", "/files/{file}", files.FILES.retrieve, CLIENTS),
    Endpoint("DELETE", "/files/{file}", files.FILES.delete, CLIENTS),
    Endpoint("POST", "/fileSearchStores", files.create_store, CLIENTS),
    Endpoint("GET", "/fileSearchStores", files.STORES.list_all, CLIENTS),
    Endpoint("DELETE", "/fileSearchStores/{store}", files.STORES.delete, CLIENTS),
    Endpoint("POST", "/fileSearchStores/{store}/documents", files.create_document, OURS),
)

ROUTES = (
    *(replace(row, path=f"/{version}{row.path}") for version in VERSIONS for row in IN_BOTH_VERSIONS),
    Endpoint("POST", "/upload/v1/files", files.upload, CLIENTS),
    Endpoint("POST", "/upload/v1beta/files", files.upload, CLIENTS),
    Endpoint("POST", "/v1beta/auth_tokens", access.create_auth_token, "1:4.2"),
    Endpoint("GET", "/v1beta/openai/models", compatibility.list_models_for_clients, CLIENTS),
    Endpoint("POST", "/v1beta/openai/chat/completions", compatibility.create_completion, "1:4.2"),
)


def build(world: World) -> Gateway:
    """Make the ASGI app of PB."""
    return Gateway(world, ROUTES)


PROVIDER = Provider(
    "pb",
    (Mount("pb", ("base_url",), build, LiveSocketApp, ROUTES),),
    SCENARIOS,
    DEFAULT_NAMES,
    models=MODELS,
    faults=ARMABLE_ERRORS,
    beside_http=(f"WS /pb{LIVE_PATH.pattern}",),
)
