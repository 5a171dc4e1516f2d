"""What PD answers without generating: models, tokens of a text, the record of a key, an empty batch (1:2.6, 1:4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.echo import BYTES_PER_TOKEN
from catalog_probe.mockserver.core.streams import split_text
from catalog_probe.mockserver.pd.access import admit_to_model
from catalog_probe.mockserver.pd.bodies import read_object
from catalog_probe.mockserver.pd.fields import BATCH, TOKENIZE

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pd.gateway import Call
    from catalog_probe.mockserver.pd.keys import Key
    from catalog_probe.mockserver.pd.models import Model


async def list_models(call: Call) -> Response:
    """Every model that this host serves to the team."""
    models = call.host.seen_by(call.key.team)
    return JSONResponse({"object": "list", "data": [_describe(model) for model in models if not model.embedding]})


async def get_model(call: Call) -> Response:
    """One model; 404 for one that is missing, restricted or served elsewhere."""
    return JSONResponse(_describe(call.host.find(call.params["model_id"], call.key.team)))


async def get_embedding_model(call: Call) -> Response:
    """One embedding model; models of another sort are not found here."""
    return JSONResponse(_describe(call.host.find(call.params["model_id"], call.key.team, embedding=True)))


async def tokenize_text(call: Call) -> Response:
    """The tokens of a text; a model that is named must exist."""
    body = await read_object(call, TOKENIZE)
    return JSONResponse({"token_ids": tokenize(call, body["text"], body.get("model"))})


def tokenize(call: Call, text: str, model: str | None) -> list[dict[str, Any]]:
    """Each token's id, text and bytes, as the official client reads them over gRPC."""
    if model:
        admit_to_model(call.key, call.host.find(model, call.key.team))
    return [
        {"token_id": 1 + sum(piece.encode()) % 100_000, "string_token": piece, "token_bytes": list(piece.encode())}
        for piece in split_text(text, BYTES_PER_TOKEN)
    ]


async def show_key(call: Call) -> Response:
    """The record of the key that asks; a blocked or disabled key may still ask (1:2.6, 1:4.4)."""
    return JSONResponse(describe_key(call.key))


def describe_key(key: Key) -> dict[str, Any]:
    """The fields that 1:2.6 names."""
    return {
        "acls": list(key.acls),
        "api_key_blocked": key.blocked,
        "api_key_disabled": key.disabled,
        "team_blocked": key.team.blocked,
    }


async def create_batch(call: Call) -> Response:
    """An empty batch; it counts toward no limit (2:8.5). Its path and body are not in the documents."""
    body = await read_object(call, BATCH)
    return JSONResponse({"batch_id": call.session.new_id("batch_"), "name": body["name"]})


def _describe(model: Model) -> dict[str, Any]:
    return {"id": model.id, "object": "model", "created": model.created, "owned_by": "mock"}
