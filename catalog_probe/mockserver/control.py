"""The mock's own pages below `/__mock__/`: guide, routes, scenarios, reset."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from catalog_probe.mockserver.core.bodies import BodyTooLarge, read_body
from catalog_probe.mockserver.core.gateway import Router
from catalog_probe.mockserver.core.scenarios import MockMisuse
from catalog_probe.mockserver.core.world import check_session_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from catalog_probe.mockserver.core.providers import Mount
    from catalog_probe.mockserver.core.sessions import Session
    from catalog_probe.mockserver.core.world import World


MAX_BODY = 64 * 1024  # bytes; as long as a header may be


def build(world: World, routes: RouteList, *, list_requests: bool = False) -> ASGIApp:
    """Build the pages.

    Counted requests are listed only with `list_requests`: paths can tell what clients do.
    """

    async def show_guide(request: Request) -> PlainTextResponse:
        base = str(request.base_url).rstrip("/")
        return PlainTextResponse(guide(base, world.addresses), media_type="text/markdown")

    async def list_endpoints(request: Request) -> JSONResponse:
        return JSONResponse({"endpoints": routes.list_all()})

    async def list_scenarios(request: Request) -> JSONResponse:
        return JSONResponse({"scenarios": world.scenarios.list_all(), "errors": world.scenarios.list_errors()})

    async def queue_scenarios(request: Request) -> JSONResponse:
        session = world.sessions.get(_read_session(request, "provider") or "")
        if request.method == "POST":
            text, providers = await _read_scenarios(request, world.scenarios.providers)
            session.scenario_queue.add(world.scenarios, text, providers)
        elif request.method == "DELETE":
            session.scenario_queue.waiting.clear()
        waiting = [queued.describe() for queued in session.scenario_queue.waiting]
        return JSONResponse({"session": session.name, "waiting": waiting})

    async def count_requests(request: Request) -> JSONResponse:
        name = _read_session(request)
        if name is None:
            return JSONResponse({"total": world.total_requests, "sessions": len(world.sessions)})
        return JSONResponse(_summarize(name, world.sessions.peek(name), routes))

    async def reset(request: Request) -> JSONResponse:
        name = _read_session(request)
        world.sessions.forget(name)
        if name is None:
            world.total_requests = 0
        return JSONResponse({"reset": name if name is not None else "all"})

    pages = [
        Route("/__mock__/", show_guide),
        Route("/__mock__/endpoints", list_endpoints),
        Route("/__mock__/next", queue_scenarios, methods=["GET", "POST", "DELETE"]),
        Route("/__mock__/scenarios", list_scenarios),
        Route("/__mock__/requests", count_requests if list_requests else _refuse_to_list),
        Route("/__mock__/reset", reset, methods=["POST"]),
    ]
    page_list = ", ".join(f"{'|'.join(sorted((page.methods or set()) - {'HEAD'}))} {page.path}" for page in pages)

    async def refuse_unknown_page(request: Request, error: Exception) -> JSONResponse:
        what = f"no page takes {request.method} {request.url.path}"
        return JSONResponse({"mock_error": f"{what}; there are {page_list}"}, 404)

    return Starlette(
        exception_handlers={MockMisuse: _refuse_misuse, 404: refuse_unknown_page, 405: refuse_unknown_page},
        routes=pages,
    )


def _summarize(name: str, session: Session | None, routes: RouteList) -> dict[str, Any]:
    """Return what a session was asked: counts, what no route serves, and what arrived."""
    counts = dict(session.requests) if session else {}
    arrivals = session.arrivals.list_all() if session is not None and session.arrivals is not None else []
    summary = {"session": name, "total": sum(counts.values()), "by_endpoint": counts, "arrivals": arrivals}
    unserved = routes.find_unserved(counts)
    return {**summary, "unserved": unserved} if unserved else summary


async def _refuse_to_list(_: Request) -> JSONResponse:
    return JSONResponse({"mock_error": "to have the mock list what clients sent, start it with --list-requests"}, 404)


async def _refuse_misuse(_: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"mock_error": str(error)}, 400)


def _read_session(request: Request, *other_parameters: str) -> str | None:
    """Return the session that a request names, if it does.

    Raises:
        MockMisuse: it has an unknown parameter: with `sesion=a` it would concern all sessions.
    """
    known = ("session", *other_parameters)
    unknown = [name for name in request.query_params if name not in known]
    if unknown:
        raise MockMisuse(f"unknown parameter {unknown[0]!r}; {request.url.path} knows {', '.join(known)}")
    name = request.query_params.get("session")
    check_session_name(name or "")
    return name


async def _read_scenarios(request: Request, all_providers: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return the scenarios in a body of `/__mock__/next`, and their providers."""
    try:
        text = (await read_body(request, MAX_BODY)).decode("utf-8", "replace").strip()
    except BodyTooLarge:
        raise MockMisuse(f"the scenarios take more than {MAX_BODY} bytes") from None
    if not text:
        raise MockMisuse("name the scenarios in the body, as in X-Mock-Scenario")
    names = request.query_params.get("provider")
    providers = tuple(names.split(",")) if names else all_providers
    for provider in providers:
        if provider not in all_providers:
            raise MockMisuse(f"provider {provider!r} is none of {', '.join(all_providers)}")
    return text, providers


PAGE = Path(__file__).with_name("guide.md")


def guide(base: str, addresses: Mapping[str, Mapping[str, str]]) -> str:
    """Return the page of a mock at `base`, in Markdown."""
    grpc = addresses.get("pd", {}).get("grpc_host", "HOST:PORT")
    return PAGE.read_text(encoding="utf-8").replace("{base}", base).replace("{grpc}", grpc)


class RouteList:
    """The routes of all hosts, by prefix, and patterns of what is served beside HTTP (`Provider.beside_http`)."""

    def __init__(self, mounts: Iterable[Mount], beside_http: Iterable[str] = ()) -> None:
        self._beside_http = tuple(beside_http)
        self._routes = {mount.prefix: mount.routes for mount in mounts if mount.routes}
        self._routers = {prefix: Router[Any](routes) for prefix, routes in self._routes.items()}

    def list_all(self) -> dict[str, list[str]]:
        """List each host's endpoints as `POST /pc/v1/responses`, by path."""
        return {
            prefix: [
                f"{row.method} /{prefix}{row.path}" for row in sorted(routes, key=lambda row: (row.path, row.method))
            ]
            for prefix, routes in self._routes.items()
        }

    def find_unserved(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Return the counted requests (`POST /pc/v1/x`: 3) that have no route."""
        return {request: count for request, count in counts.items() if not self._is_served(request)}

    def _is_served(self, request: str) -> bool:
        """Whether a request to a known host has a route, e.g. `POST /pc/v1/responses`, or matches a pattern."""
        method, _, path = request.partition(" ")
        if method in ("WS", "GRPC"):
            return any(re.fullmatch(pattern, request) for pattern in self._beside_http)
        prefix, _, rest = path.removeprefix("/").partition("/")
        if prefix not in self._routers:
            return True
        return self._routers[prefix].find({"method": method, "path": f"/{rest}"}).row is not None
