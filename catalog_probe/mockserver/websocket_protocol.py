"""The server's WebSocket protocol, which most runs never import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from catalog_probe.mockserver.core.world import CLOSE_EXTENSION

if TYPE_CHECKING:
    from uvicorn._types import ASGISendEvent
    from websockets.http11 import Request


class ClosableWebSocket(WebSocketsSansIOProtocol):
    """uvicorn's protocol, whose app can close without a close frame."""

    def handle_connect(self, event: Request) -> None:
        """Add our extension to the scope, which the app gets only after this returns."""
        super().handle_connect(event)
        if hasattr(self, "scope"):  # a malformed handshake has none
            self.scope["extensions"] = {**(self.scope["extensions"] or {}), CLOSE_EXTENSION: {"close": self._abort}}

    async def send(self, message: ASGISendEvent) -> None:
        """Treat a refusal as the end of the handshake, or uvicorn would print an error."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and not message.get("more_body"):
            self.handshake_complete = True

    def _abort(self) -> None:
        self.transport.abort()
        self.handshake_complete = True
