"""PD's models, the hosts that serve them, and their endpoints (1:4.4, 2:7.6 row 404, 2:9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.generation import BYTES_PER_TOKEN, split_text
from catalog_probe.mockserver.core.leniency import find_model
from catalog_probe.mockserver.pd.bodies import read_object
from catalog_probe.mockserver.pd.errors import NO_SUCH_MODEL
from catalog_probe.mockserver.pd.fields import TOKENIZE
from catalog_probe.mockserver.pd.gateway import admit_to_model
from catalog_probe.mockserver.pd.keys import LABS

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pd.gateway import Call
    from catalog_probe.mockserver.pd.keys import Team


@dataclass(frozen=True)
class Model:
    """A model: its abilities, and the teams that may use it."""

    id: str
    created: int
    reasoning_effort: bool = False
    multi_agent: bool = False
    embedding: bool = False
    regional: bool = True
    only_for: frozenset[str] = frozenset()
    """Ids of the teams that may use it; empty for all. To other teams it does not exist (2:7.6 row 404)."""


_TABLE = (
    Model("mock-small", 1_759_000_000),
    Model("mock-reasoning", 1_762_000_000, reasoning_effort=True),
    Model("mock-multi-agent", 1_770_000_000, reasoning_effort=True, multi_agent=True),
    Model("mock-large", 1_768_000_000, regional=False),
    Model("mock-early-access", 1_775_000_000, only_for=frozenset({LABS.id})),
    Model("mock-embedding", 1_750_000_000, embedding=True),
)


@dataclass(frozen=True)
class Host:
    """One address of the inference API and the models it serves."""

    models: dict[str, Model]

    def list_models(self, team: Team) -> list[Model]:
        """Return the models that this host serves to a team."""
        return [model for model in self.models.values() if not model.only_for or team.id in model.only_for]

    def find(self, name: str, team: Team, *, embedding: bool = False) -> Model:
        """Return the model; missing, restricted and unserved ones share a 404."""
        models = {model.id: model for model in self.list_models(team)}
        model = find_model(models, name, "mock-embedding" if embedding else "mock-small")
        if model is None or model.embedding is not embedding:
            raise NO_SUCH_MODEL()
        return model


EVERYWHERE = Host({model.id: model for model in _TABLE})
REGIONAL = Host({model.id: model for model in _TABLE if model.regional})


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


def _describe(model: Model) -> dict[str, Any]:
    return {"id": model.id, "object": "model", "created": model.created, "owned_by": "mock"}
