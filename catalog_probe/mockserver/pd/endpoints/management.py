"""PD's management API: a host of its own, keys of its own, an envelope of its own (1:4.4, 1:5.4, 2:7.1, 2:7.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.core.routing import Route, Router
from catalog_probe.mockserver.core.world import context_of
from catalog_probe.mockserver.pd.auth.access import bearer
from catalog_probe.mockserver.pd.auth.keys import MANAGEMENT_KEYS
from catalog_probe.mockserver.pd.causes import raise_failure
from catalog_probe.mockserver.pd.errors import METHOD_NOT_ALLOWED, NOT_FOUND, Kind, PdError

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

UNAUTHENTICATED = 16
"""gRPC numbering (2:7.1)."""

ROUTES: tuple[Route[str], ...] = (Route("GET", "/auth/management-keys/validation", "validate"),)


class Management:
    """The ASGI app of the management API."""

    def __init__(self) -> None:
        self._router = Router(ROUTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            response = self._answer(request)
        except PdError as error:
            response = _refusal(error.kind, error.message)
        await response(scope, receive, send)

    def _answer(self, request: Request) -> Response:
        found = self._router.find(request.scope)
        if found.endpoint is None:
            raise PdError(METHOD_NOT_ALLOWED if found.known_path else NOT_FOUND, "Not Found")
        key = bearer(request.headers.get("authorization"))
        if key not in MANAGEMENT_KEYS:
            return envelope(401, UNAUTHENTICATED, "Invalid bearer token.")
        raise_failure(context_of(request.scope))
        return JSONResponse({"name": "management", "scope": "SCOPE_TEAM"})


def _refusal(kind: Kind, message: str) -> Response:
    """Refusals of which the documents show no shape here; the method's is empty on all of PD."""
    if kind is METHOD_NOT_ALLOWED:
        return Response(status_code=kind.status)
    return envelope(kind.status, kind.grpc, message)


def envelope(status: int, code: int, message: str) -> Response:
    return JSONResponse({"code": code, "message": message, "details": []}, status)
