"""PD's management API (1:4.4, 1:5.4, 2:7.1, 2:7.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.gateway import Call, Endpoint, Gateway, RouteMatch, bearer_token
from catalog_probe.mockserver.pd.errors import (
    INVALID_BEARER,
    METHOD_NOT_ALLOWED,
    UNKNOWN_PATH,
    make_management_response,
)
from catalog_probe.mockserver.pd.keys import MANAGEMENT_KEYS
from catalog_probe.mockserver.pd.scenarios import FAILURES

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from catalog_probe.mockserver.core.errors import Refusal


class Management(Gateway[Call, Endpoint]):
    """The ASGI app of the management API."""

    def open_call(self, request: Request) -> Call:
        return Call(request=request)

    def admit(self, call: Call, match: RouteMatch[Endpoint]) -> Endpoint:
        if match.row is None:
            raise (METHOD_NOT_ALLOWED if match.is_known_path else UNKNOWN_PATH)()
        if bearer_token(call.request.headers) not in MANAGEMENT_KEYS:
            raise INVALID_BEARER()
        call.context.raise_failure(FAILURES)
        return match.row

    def refuse(self, call: Call, refusal: Refusal) -> Response:
        return make_management_response(refusal)


async def validate(call: Call) -> Response:
    """Say that the key is valid; the gateway refuses all others."""
    return JSONResponse({"name": "management", "scope": "SCOPE_TEAM"})
