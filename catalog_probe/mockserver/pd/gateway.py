"""PD's front door on HTTP: the URL, the route, the key, its rights, then the endpoint (2:7.6)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote_to_bytes

from starlette.requests import Request

from catalog_probe.mockserver.core.routing import Route, Router
from catalog_probe.mockserver.core.world import context_of
from catalog_probe.mockserver.pd.auth.access import admit, identify
from catalog_probe.mockserver.pd.call import Call
from catalog_probe.mockserver.pd.causes import raise_failure
from catalog_probe.mockserver.pd.errors import METHOD_NOT_ALLOWED, NOT_FOUND, PdError, invalid

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.pd.models import Host

Handler = Callable[[Call, Request], Awaitable["Response"]]

_BROKEN_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True)
class Endpoint:
    """What a route leads to: a handler, and the name under which ACLs speak of it; None lets any known key in."""

    handler: Handler
    acl: str | None


class Gateway:
    """The ASGI app of the inference API on one host."""

    def __init__(self, host: Host, routes: Iterable[Route[Endpoint]]) -> None:
        self._host = host
        self._router = Router(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except PdError as error:
            response = error.response()
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        _check_url(request.scope)
        found = self._router.find(request.scope)
        if found.endpoint is None:
            kind = METHOD_NOT_ALLOWED if found.known_path else NOT_FOUND
            raise PdError(kind, "The requested resource was not found.")
        context = context_of(request.scope)
        key = identify(request.headers.get("authorization"))
        if found.endpoint.acl is not None:
            admit(key, found.endpoint.acl)
        raise_failure(context)
        return await found.endpoint.handler(Call(context, self._host, key, found.params), request)


def _check_url(scope: Scope) -> None:
    """A path whose escapes are broken or do not spell UTF-8 is a bad URL: 400, not 404."""
    raw: bytes = scope.get("raw_path") or b""
    if _BROKEN_ESCAPE.search(raw):
        raise invalid("Invalid URL: broken percent-encoding.")
    try:
        unquote_to_bytes(raw).decode()
    except UnicodeDecodeError:
        raise invalid("Invalid URL: invalid UTF-8.") from None
