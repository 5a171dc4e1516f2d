"""Batches, which count toward no rate limit (2:8.5). Their paths and bodies are not in the documents (1:4.4)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.stores import BoundedStore
from catalog_probe.mockserver.pd.errors import NOT_FOUND, PdError
from catalog_probe.mockserver.pd.generation import rules
from catalog_probe.mockserver.pd.generation.shape import STRING, needed, struct
from catalog_probe.mockserver.pd.reading import read_object

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.pd.call import Call

SHAPE = struct(name=needed(STRING))


@dataclass
class Batches:
    """The batches of a session: id -> (team, batch)."""

    made: BoundedStore[str, tuple[str, dict[str, Any]]] = field(default_factory=BoundedStore)


async def create(call: Call, request: Request) -> Response:
    """POST /v1/batches: an empty one, to which requests are added later; no limit is asked whether it may."""
    body = await read_object(request, SHAPE)
    rules.require(body, "name")
    batch = {"batch_id": call.session.new_id("batch_"), "name": body["name"], "create_time": int(call.now)}
    call.session.state(Batches).made[batch["batch_id"]] = (call.key.team.id, batch)
    return JSONResponse(batch)


async def fetch(call: Call, request: Request) -> Response:
    """GET /v1/batches/{batch_id}; another team's is not found."""
    team, batch = call.session.state(Batches).made.get(call.params["batch_id"], ("", {}))
    if team != call.key.team.id:
        raise PdError(NOT_FOUND, "No batch is found under this id.")
    return JSONResponse(batch)
