"""Replacements for PC's routes, and for answers to unknown URLs (1:4.3, 2:7.1, 2:7.5)."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.errors import OURS
from catalog_probe.mockserver.pc.call import Endpoint

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.pc.call import Call

Make = Callable[["Refusal"], Response]
Routes = tuple[Endpoint, ...]


async def empty_list(call: Call) -> Response:
    return JSONResponse({"object": "list", "data": []})


def _with(method: str, path: str) -> Callable[[Routes], Routes]:
    return lambda routes: (*routes, Endpoint(method, path, empty_list, OURS))


patched = _with("PATCH", "/v1/models")
put = _with("PUT", "/v1/models")
assistants = _with("GET", "/v1/assistants")
threads = _with("POST", "/v1/threads")


def with_request_id(make_response: Make) -> Make:
    def replacement(refusal: Refusal) -> Response:
        response = make_response(refusal)
        response.headers["x-request-id"] = "req_1"
        return response

    return replacement


class Csv(Response):
    media_type = "text/csv"

    def render(self, content: Any) -> bytes:
        return "\n".join(f"{name},{value}" for name, value in content.items()).encode()


def organization_as_csv(routes: Routes) -> Routes:
    def as_csv(route: Endpoint) -> Endpoint:
        async def answer(call: Call) -> Response:
            return Csv(json.loads(bytes((await route.handler(call)).body)))

        return replace(route, handler=answer)

    spoken = ("/v1/organization/", "/v1/fine_tuning/model_limits")
    return tuple(as_csv(route) if route.path.startswith(spoken) else route for route in routes)
