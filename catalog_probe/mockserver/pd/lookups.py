"""PD's endpoints that generate nothing (1:2.6, 1:4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.generation import BYTES_PER_TOKEN, split_text
from catalog_probe.mockserver.pd.bodies import read_object
from catalog_probe.mockserver.pd.fields import BATCH, TOKENIZE
from catalog_probe.mockserver.pd.gateway import admit_to_model

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pd.gateway import Call
    from catalog_probe.mockserver.pd.keys import Key
    from catalog_probe.mockserver.pd.models import Model


async def list_models(call: Call) -> Response:
    """List the models that this host serves to the team."""
    models = call.host.list_models(call.key.team)
    return JSONResponse({"object": "list", "data": [_describe(model) for model in models if not model.embedding]})


async def get_model(call: Call) -> Response:
    """Get a model; one that is missing, restricted or not served here is 404."""
    return JSONResponse(_describe(call.host.find(call.params["model_id"], call.key.team)))


async def get_embedding_model(call: Call) -> Response:
    """Get an embedding model; other models are not found here."""
    return JSONResponse(_describe(call.host.find(call.params["model_id"], call.key.team, embedding=True)))


async def tokenize_text(call: Call) -> Response:
    """Tokenize a text; the model may be left out."""
    body = await read_object(call, TOKENIZE)
    return JSONResponse({"token_ids": tokenize(call, body["text"], body.get("model"))})


def tokenize(call: Call, text: str, model: str | None) -> list[dict[str, Any]]:
    """Return id, text and bytes of each token, as the gRPC client reads them."""
    if model:
        admit_to_model(call.key, call.host.find(model, call.key.team))
    return [
        {"token_id": 1 + sum(piece.encode()) % 100_000, "string_token": piece, "token_bytes": list(piece.encode())}
        for piece in split_text(text, BYTES_PER_TOKEN)
    ]


async def show_key(call: Call) -> Response:
    """Return the record of the caller's key, even a blocked one (1:2.6, 1:4.4)."""
    return JSONResponse(describe_key(call.key))


def describe_key(key: Key) -> dict[str, Any]:
    """Return the fields that 1:2.6 names."""
    return {
        "acls": list(key.acls),
        "api_key_blocked": key.blocked,
        "api_key_disabled": key.disabled,
        "team_blocked": key.team.blocked,
    }


async def create_batch(call: Call) -> Response:
    """Create an empty batch, which no limit counts (2:8.5)."""
    body = await read_object(call, BATCH)
    return JSONResponse({"batch_id": call.session.new_id("batch_"), "name": body["name"]})


def _describe(model: Model) -> dict[str, Any]:
    return {"id": model.id, "object": "model", "created": model.created, "owned_by": "mock"}
