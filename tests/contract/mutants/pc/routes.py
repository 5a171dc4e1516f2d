"""What stands in the place of PC's routes, and of what an unknown URL gets (1:4.3, 2:7.1, 2:7.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.routing import Route
from catalog_probe.mockserver.pc.gateway import Endpoint

if TYPE_CHECKING:
    from catalog_probe.mockserver.pc.call import Call

Answer = Callable[[], Response]
Routes = tuple[Route[Endpoint], ...]


async def empty_list(call: Call) -> Response:
    return JSONResponse({"object": "list", "data": []})


def _with(method: str, path: str) -> Callable[[Routes], Routes]:
    return lambda routes: (*routes, Route(method, path, Endpoint(empty_list)))


patched = _with("PATCH", "/v1/models")
put = _with("PUT", "/v1/models")
assistants = _with("GET", "/v1/assistants")
threads = _with("POST", "/v1/threads")


def with_status_400(unknown_url: object) -> Answer:
    return lambda: Response(status_code=400)


def with_body(unknown_url: object) -> Answer:
    return lambda: JSONResponse({"error": {"message": "Not found"}}, 404)


def with_request_id(unknown_url: object) -> Answer:
    return lambda: Response(status_code=404, headers={"x-request-id": "req_1"})


class Csv(Response):
    media_type = "text/csv"

    def render(self, content: Any) -> bytes:
        return "\n".join(f"{name},{value}" for name, value in content.items()).encode()


def as_csv(response: object) -> type[Response]:
    return Csv
