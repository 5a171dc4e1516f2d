"""Pages of other origins: those that are named may ask the mock and read its answers (CORS), no other one may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

A_DAY_S = "86400"


def origin_of(scope: Scope) -> str | None:
    """The origin of the page for which a browser asks; None where it is no browser that asks."""
    return Headers(scope=scope).get("origin") if scope["type"] == "http" else None


def asks_first(scope: Scope) -> bool:
    """Whether a browser asks if it may send a request."""
    return scope["method"] == "OPTIONS" and "access-control-request-method" in Headers(scope=scope)


async def allow(origin: str, scope: Scope, receive: Receive, send: Send) -> None:
    """Tell a browser that it may."""
    asked = Headers(scope=scope)
    allowed = {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": asked["access-control-request-method"],
        "access-control-allow-headers": asked.get("access-control-request-headers", "*"),
        "access-control-max-age": A_DAY_S,
        "vary": "origin",
    }
    await Response(status_code=204, headers=allowed)(scope, receive, send)


def letting_read(origin: str, send: Send) -> Send:
    """Let a page of this origin read the answer."""

    async def readable(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["access-control-allow-origin"] = origin
            headers["access-control-expose-headers"] = "*"
            headers.add_vary_header("origin")
        await send(message)

    return readable
