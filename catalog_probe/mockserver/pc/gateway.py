"""PC's HTTP gateway: URL, method, key and rights (1:5.3, 2:7.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.mockserver.core import gateway
from catalog_probe.mockserver.pc.access import admit_to_endpoint, authenticate
from catalog_probe.mockserver.pc.call import Call, Endpoint
from catalog_probe.mockserver.pc.envelopes import make_response
from catalog_probe.mockserver.pc.errors import UNKNOWN_URL, WRONG_METHOD
from catalog_probe.mockserver.pc.limits.headers import make_headers
from catalog_probe.mockserver.pc.scenarios import raise_failure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal
    from catalog_probe.mockserver.core.routing import RouteMatch
    from catalog_probe.mockserver.core.world import World

REQUEST_ID = "x-request-id"


class Gateway(gateway.Gateway[Call, Endpoint]):
    """The ASGI app of PC."""

    def __init__(self, world: World, rows: Iterable[Endpoint]) -> None:
        super().__init__(rows)
        self._header_prefix = world.settings["pc"]["header_prefix"]

    def open_call(self, request: Request) -> Call:
        return Call(request=request, header_prefix=self._header_prefix)

    async def answer(self, call: Call, match: RouteMatch[Endpoint]) -> Response:
        if not match.is_known_path:
            raise UNKNOWN_URL()
        call.headers[REQUEST_ID] = call.session.new_id("req_", 32)  # an unknown URL has none (2:7.1)
        if match.row is None:
            raise WRONG_METHOD(method=call.request.method)
        call.params = match.params
        authenticate(call)
        raise_failure(call.context)
        admit_to_endpoint(call, match.row)
        response: Response = await match.row.handler(call)
        return response

    def refuse(self, call: Call, refusal: Refusal) -> Response:
        return make_response(refusal)

    def add_headers(self, call: Call, response: Response) -> None:
        """Add the rate-limit headers."""
        super().add_headers(call, response)
        response.headers.update(make_headers(call.shown_buckets, call.now))
