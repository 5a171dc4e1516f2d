"""Scenarios of every provider: faults before a request is served, and a used-up limit."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.responses import HTMLResponse

from catalog_probe.mockserver.core.scenarios import Scenario, whole_number

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from catalog_probe.mockserver.core.world import Context

CLOSE_EXTENSION = "mock.close"
"""The ASGI extension in which `server.py` puts a function that closes the connection."""

SCENARIOS = (
    Scenario("hang", "The server accepts the request and never answers."),
    Scenario("close_without_answer", "The server reads the request and closes the connection without an answer."),
    Scenario("gateway_page", "A gateway in front of the provider answers 502 with an HTML page of its own."),
    Scenario("latency", "The answer takes longer; otherwise as usual.", (whole_number("ms", "Milliseconds added."),)),
)

# each provider answers it as it answers a limit that the caller reached itself
RATE_LIMITED = Scenario(
    "rate_limited",
    "Somebody else of the same organization has used up the rate limit; any authenticated call.",
    (whole_number("retry_after", "Seconds until there is budget again; told where the provider tells it.", default=1),),
)

COMMON_SCENARIOS = (*SCENARIOS, RATE_LIMITED)

_PAGE = "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1><hr>edge</body></html>"


async def inject(context: Context, scope: Scope, receive: Receive, send: Send) -> bool:
    """Inject the scenario's fault, if any; return whether the request is answered."""
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
            await _wait_for_disconnect(receive)
        case "close_without_answer":
            await _close(scope, receive)
    return True


async def _close(scope: Scope, receive: Receive) -> None:
    while (await receive()).get("more_body"):
        pass  # unread bytes would turn the close into a reset
    scope["extensions"][CLOSE_EXTENSION]["close"]()
    await _wait_for_disconnect(receive)


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] not in ("http.disconnect", "websocket.disconnect"):
        pass
