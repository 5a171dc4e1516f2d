"""Browsers ask before they send to another origin, and whether they may read the answer: here they may (CORS)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response

if TYPE_CHECKING:
    from starlette.types import Message, Receive, Scope, Send

A_DAY_S = "86400"


def asks_first(scope: Scope) -> bool:
    """Whether it is a browser that asks if it may send a request."""
    if scope["type"] != "http" or scope["method"] != "OPTIONS":
        return False
    headers = Headers(scope=scope)
    return "origin" in headers and "access-control-request-method" in headers


async def allow(scope: Scope, receive: Receive, send: Send) -> None:
    """Tell a browser that it may."""
    asked = Headers(scope=scope)
    allowed = {
        "access-control-allow-origin": "*",
        "access-control-allow-methods": asked["access-control-request-method"],
        "access-control-allow-headers": asked.get("access-control-request-headers", "*"),
        "access-control-max-age": A_DAY_S,
    }
    await Response(status_code=204, headers=allowed)(scope, receive, send)


def letting_read(scope: Scope, send: Send) -> Send:
    """Let a browser read the answer; whoever names no origin is none, and gets the answer as it is."""
    if scope["type"] != "http" or not any(name == b"origin" for name, _ in scope["headers"]):
        return send

    async def readable(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["access-control-allow-origin"] = "*"
            headers["access-control-expose-headers"] = "*"
        await send(message)

    return readable
