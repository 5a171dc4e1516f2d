"""The mock's own pages under `/__mock__`: guide, routes, scenarios, those that wait, counters, and a reset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from catalog_probe.mockserver.core.bodies import BodyTooLarge, read_body
from catalog_probe.mockserver.core.scenarios import MockMisuse
from catalog_probe.mockserver.core.world import check_session_name
from catalog_probe.mockserver.guide import guide

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from catalog_probe.mockserver.core.world import World
    from catalog_probe.mockserver.served import Served

MAX_TEXT = 64 * 1024
"""As long as a header may be."""


def build(world: World, served: Served, *, list_requests: bool = False) -> ASGIApp:
    """The pages, on `world` and what is served there; what clients sent is listed only with `list_requests`."""

    async def scenarios(request: Request) -> JSONResponse:
        return JSONResponse({"scenarios": world.scenarios.list_all()})

    async def requests(request: Request) -> JSONResponse:
        name = _session_named(request)
        if name is None:
            return JSONResponse({"total": world.total_requests, "sessions": len(world.sessions)})
        session = world.sessions.peek(name)
        counted = dict(session.requests) if session else {}
        told = {"session": name, "total": sum(counted.values()), "by_endpoint": counted}
        unserved = served.unserved(counted)
        return JSONResponse({**told, "unserved": unserved} if unserved else told)

    async def endpoints(request: Request) -> JSONResponse:
        return JSONResponse({"endpoints": served.listing()})

    async def reset(request: Request) -> JSONResponse:
        name = _session_named(request)
        world.sessions.forget(name)
        if name is None:
            world.total_requests = 0
        return JSONResponse({"reset": name if name is not None else "all"})

    async def next_causes(request: Request) -> JSONResponse:
        session = world.sessions.get(_session_named(request, "provider") or "")
        if request.method == "POST":
            text, providers = await _asked(request, world.scenarios.providers)
            session.scenario_queue.add(world.scenarios, text, providers)
        elif request.method == "DELETE":
            session.scenario_queue.waiting.clear()
        waiting = [each.describe() for each in session.scenario_queue.waiting]
        return JSONResponse({"session": session.name, "waiting": waiting})

    async def page(request: Request) -> PlainTextResponse:
        base = str(request.base_url).rstrip("/")
        return PlainTextResponse(guide(base, world.addresses), media_type="text/markdown")

    routes = [
        Route("/__mock__/", page),
        Route("/__mock__/endpoints", endpoints),
        Route("/__mock__/next", next_causes, methods=["GET", "POST", "DELETE"]),
        Route("/__mock__/scenarios", scenarios),
        Route("/__mock__/requests", requests if list_requests else _not_listed),
        Route("/__mock__/reset", reset, methods=["POST"]),
    ]
    pages = ", ".join(f"{'|'.join(sorted((each.methods or set()) - {'HEAD'}))} {each.path}" for each in routes)

    async def no_page(request: Request, error: Exception) -> JSONResponse:
        what = f"no page takes {request.method} {request.url.path}"
        return JSONResponse({"mock_error": f"{what}; there are {pages}"}, 404)

    return Starlette(exception_handlers={MockMisuse: _misused, 404: no_page, 405: no_page}, routes=routes)


async def _not_listed(_: Request) -> JSONResponse:
    return JSONResponse({"mock_error": "to have the mock list what clients sent, start it with --list-requests"}, 404)


async def _misused(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"mock_error": str(error)}, 400)


def _session_named(request: Request, *others: str) -> str | None:
    """The session that a request is about, or None where it names none; what it says beside that must be known.

    Raises:
        MockMisuse: it says something else, for instance `sesion=a`, and would have been about all of them.
    """
    known = ("session", *others)
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise MockMisuse(f"unknown parameter {unknown[0]!r}; {request.url.path} knows {', '.join(known)}")
    name = request.query_params.get("session")
    check_session_name(name or "")
    return name


async def _asked(request: Request, known: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """What a request to `/__mock__/next` says: the causes, as its body, and for which providers."""
    try:
        said = (await read_body(request, MAX_TEXT)).decode("utf-8", "replace")
    except BodyTooLarge:
        raise MockMisuse(f"the causes take more than {MAX_TEXT} bytes") from None
    text = said.strip()
    if not text:
        raise MockMisuse("name the causes in the body, as X-Mock-Scenario has them")
    only = request.query_params.get("provider")
    providers = tuple(only.split(",")) if only else known
    for provider in providers:
        if provider not in known:
            raise MockMisuse(f"provider {provider!r} is none of {', '.join(known)}")
    return text, providers
