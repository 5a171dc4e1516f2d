"""The mock's own pages under `/__mock__`: its scenarios, its request counters, and a reset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from mockserver.world import World


def build(world: World) -> ASGIApp:
    """The pages, on `world`."""

    async def scenarios(request: Request) -> JSONResponse:
        return JSONResponse({"scenarios": world.scenarios.listing()})

    async def requests(request: Request) -> JSONResponse:
        name = request.query_params.get("session")
        if name is None:
            return JSONResponse({"total": world.total_requests, "sessions": len(world.sessions)})
        session = world.sessions.peek(name)
        counted = dict(session.requests) if session else {}
        return JSONResponse({"session": name, "total": sum(counted.values()), "by_endpoint": counted})

    async def reset(request: Request) -> JSONResponse:
        name = request.query_params.get("session")
        world.sessions.forget(name)
        if name is None:
            world.total_requests = 0
        return JSONResponse({"reset": name if name is not None else "all"})

    return Starlette(
        routes=[
            Route("/__mock__/scenarios", scenarios),
            Route("/__mock__/requests", requests),
            Route("/__mock__/reset", reset, methods=["POST", "DELETE"]),
        ]
    )
