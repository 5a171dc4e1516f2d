"""Faults that any provider can have before a request is served at all, for testing the prober itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from mockserver.scenarios import Scenario, whole_number

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from mockserver.world import Context

CLOSE_EXTENSION = "mock.close"
"""The server puts a function here that closes the connection; see `mockserver/server.py`."""

SCENARIOS = (
    Scenario("hang", "The server accepts the request and never answers."),
    Scenario("close_without_answer", "The server reads the request and closes the connection without an answer."),
    Scenario("gateway_page", "A gateway in front of the provider answers 502 with an HTML page of its own."),
    Scenario("latency", "The answer takes longer; otherwise as usual.", (whole_number("ms", "Milliseconds added."),)),
)

_PAGE = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>edge</body></html>"


async def inject(context: Context, scope: Scope, receive: Receive, send: Send) -> bool:
    """Inject the fault asked for. True if the request has had its answer, or its lack of one."""
    fault = context.take(*(scenario.name for scenario in SCENARIOS))
    if fault is None:
        return False
    match fault.name:
        case "latency":
            await asyncio.sleep(fault.params["ms"] / 1000)
            return False
        case "gateway_page":
            await HTMLResponse(_PAGE, 502)(scope, receive, send)
        case "hang":
            await _until_disconnect(receive)
        case "close_without_answer":
            await _close(scope, receive)
    return True


async def _close(scope: Scope, receive: Receive) -> None:
    while (await receive()).get("more_body"):
        pass  # unread bytes would turn the close into a reset
    scope["extensions"][CLOSE_EXTENSION]["close"]()
    await _until_disconnect(receive)


async def _until_disconnect(receive: Receive) -> None:
    while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
        pass
