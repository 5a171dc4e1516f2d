"""The server process: one socket, one ready line, and an end with its parent."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import Server

from catalog_probe.mockserver.core.world import CLOSE_EXTENSION

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping
    from types import FrameType

    from starlette.types import ASGIApp

    from catalog_probe.mockserver.app import MockApp

KEEP_ALIVE_S = 600  # longer than any client's pool keeps a connection, so that the client always closes first


class ClosableProtocol(HttpToolsProtocol):
    """uvicorn's protocol, whose app can close the connection without an answer."""

    def on_message_begin(self) -> None:
        """Add our extension to each request's scope."""
        super().on_message_begin()
        self.scope["extensions"] = {CLOSE_EXTENSION: {"close": self.transport.close}}


def websocket_protocol(*args: Any, **kwargs: Any) -> asyncio.Protocol:
    """Make our WebSocket protocol, which is imported by the first WebSocket only."""
    from catalog_probe.mockserver.websocket_protocol import ClosableWebSocket

    return ClosableWebSocket(*args, **kwargs)


class MockServer(Server):
    """uvicorn's server, which prints the ready line as soon as it listens."""

    def __init__(self, app: MockApp, host: str, port: int, wrapped: ASGIApp | None = None) -> None:
        """Serve the app, or `wrapped`, the app in its middleware."""
        super().__init__(
            Config(
                wrapped or app,
                loop="asyncio",
                http=ClosableProtocol,
                ws=websocket_protocol,  # type: ignore[arg-type]
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,  # the app dates its answers, by the clock of the request
                proxy_headers=False,
                timeout_keep_alive=KEEP_ALIVE_S,
            )
        )
        self.app = app
        self.host = host
        self.port = port

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, then print the ready line."""
        listening = socket.create_server((self.host, self.port), backlog=1024)
        # Without it the two writes of each answer (head, body) wait for a delayed acknowledgement, 40 ms a request.
        # asyncio sets it only on sockets whose protocol number is set, and create_server leaves that 0.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await super().startup([listening])
        base = f"http://{self.host}:{listening.getsockname()[1]}"
        self.app.world.addresses = addresses = await self._start_listeners(base)
        self.tell({"base": base, "providers": addresses, "guide": f"{base}/__mock__/"})

    def tell(self, ready: Mapping[str, Any]) -> None:
        """Print the ready line; on stderr if stdout fails, because the mock serves."""
        try:
            sys.stdout.write(json.dumps(ready) + "\n")
            sys.stdout.flush()
        except OSError as error:
            with suppress(OSError):
                sys.stderr.write(f"mockserver: stdout: {error.strerror}; it listens on {ready['base']}\n")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End at once: a mock has nothing to save, and a hanging request would never end."""
        os._exit(0)

    async def _start_listeners(self, base: str) -> Mapping[str, Mapping[str, str]]:
        addresses = self.app.addresses(base)
        for provider in self.app.providers:
            if provider.listen is not None:
                addresses[provider.name].update(await provider.listen(self.app.world, self.host))
        return addresses


def exit_with_stdin() -> None:
    """Exit when stdin reaches EOF: the parent has died."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()
