"""Errors on a WebSocket: nested, unlike those of a stream, with the status that HTTP would have (2:7.1)."""

from __future__ import annotations

from typing import Any

from catalog_probe.mockserver.pc.errors import WEBSOCKET_CONNECTION_LIMIT_REACHED, PcError


def frame(error: PcError) -> dict[str, Any]:
    """The error as a message."""
    return {"type": "error", "status": error.status, **error.envelope()}


def told(error: PcError) -> dict[str, Any]:
    """The error object alone, for events that carry one."""
    found: dict[str, Any] = error.envelope()["error"]
    return found


def limit_reached() -> PcError:
    """The error of a socket that is too old (2:7.5)."""
    message = "This WebSocket has reached its limit of 60 minutes. Open a new one."
    return WEBSOCKET_CONNECTION_LIMIT_REACHED(message)
