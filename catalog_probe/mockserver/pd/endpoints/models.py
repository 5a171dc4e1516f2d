"""GET /v1/models, /v1/models/{id}, /v1/embedding-models/{id} and POST /v1/tokenize-text (1:4.4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.pd.auth.access import admit_to_model
from catalog_probe.mockserver.pd.generation import rules
from catalog_probe.mockserver.pd.generation.generator import pieces
from catalog_probe.mockserver.pd.generation.shape import STRING, needed, struct
from catalog_probe.mockserver.pd.reading import read_object

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.pd.call import Call
    from catalog_probe.mockserver.pd.models import Model

TO_TOKENIZE = struct(text=needed(STRING), model=STRING, user=STRING)


async def list_models(call: Call, request: Request) -> Response:
    """Every model that this host serves to the team."""
    models = call.host.seen_by(call.key.team)
    return JSONResponse({"object": "list", "data": [_described(model) for model in models if not model.embedding]})


async def get_model(call: Call, request: Request) -> Response:
    """One model; 404 for one that is missing, restricted or served elsewhere."""
    return JSONResponse(_described(call.host.find(call.params["model_id"], call.key.team)))


async def get_embedding_model(call: Call, request: Request) -> Response:
    """One embedding model; models of another sort are not found here."""
    return JSONResponse(_described(call.host.find(call.params["model_id"], call.key.team, embedding=True)))


async def tokenize_text(call: Call, request: Request) -> Response:
    """The tokens of a text. The documents name no other field; a model may be named and must then exist."""
    body = await read_object(request, TO_TOKENIZE)
    rules.require(body, "text")
    if "model" in body:
        admit_to_model(call.key, call.host.find(body["model"], call.key.team))
    return JSONResponse({"token_ids": tokens_of(body["text"])})


def tokens_of(text: str) -> list[dict[str, Any]]:
    """Each token's id, text and bytes."""
    return [
        {"token_id": 1 + sum(piece.encode()) % 100_000, "string_token": piece, "token_bytes": list(piece.encode())}
        for piece in pieces(text)
    ]


def _described(model: Model) -> dict[str, Any]:
    return {"id": model.id, "object": "model", "created": model.created, "owned_by": "mock"}
