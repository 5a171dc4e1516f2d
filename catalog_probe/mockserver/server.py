"""The server process: one socket, one ready line, and an end that never leaves an orphan."""

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

from catalog_probe.mockserver.core.faults import CLOSE_EXTENSION

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping
    from types import FrameType

    from starlette.types import ASGIApp

    from catalog_probe.mockserver.app import MockApp

KEEP_ALIVE_S = 600
"""Far longer than any client pool keeps a connection, so that the client is always the one to let go."""


class ClosableProtocol(HttpToolsProtocol):
    """uvicorn's protocol, lending the app a way to close without an answer."""

    def on_message_begin(self) -> None:
        """Add our extension to each request's scope."""
        super().on_message_begin()
        self.scope["extensions"] = {CLOSE_EXTENSION: {"close": self.transport.close}}


def websocket_protocol(*args: Any, **kwargs: Any) -> asyncio.Protocol:
    """Our WebSocket protocol, imported by the first WebSocket."""
    from catalog_probe.mockserver.websocket_protocol import ClosableWebSocket

    return ClosableWebSocket(*args, **kwargs)


class MockServer(Server):
    """uvicorn's server, telling its addresses as soon as it listens."""

    def __init__(self, app: MockApp, host: str, port: int, serves: ASGIApp | None = None) -> None:
        """`serves` stands around the app, where something does."""
        super().__init__(
            Config(
                serves or app,
                loop="asyncio",
                http=ClosableProtocol,
                ws=websocket_protocol,  # type: ignore[arg-type]
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,  # the app dates its answers, by the clock that was asked for
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
        # asyncio does this only for sockets whose protocol number is set, and create_server leaves it 0: without it the
        # two writes of each answer (head, body) wait for a delayed acknowledgement, 40 ms a request.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await super().startup([listening])
        base = f"http://{self.host}:{listening.getsockname()[1]}"
        self.app.world.addresses = addresses = await self._addresses(base)
        self.tell({"base": base, "providers": addresses, "guide": f"{base}/__mock__/"})

    def tell(self, ready: Mapping[str, Any]) -> None:
        """Say that it listens, and where; on stderr where stdout takes it no more, for it is served all the same."""
        try:
            sys.stdout.write(json.dumps(ready) + "\n")
            sys.stdout.flush()
        except OSError as error:
            with suppress(OSError):
                sys.stderr.write(f"mockserver: stdout: {error.strerror}; it listens on {ready['base']}\n")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End at once and in silence: a mock has nothing to save, and a hanging request would wait for ever."""
        os._exit(0)

    async def _addresses(self, base: str) -> Mapping[str, Mapping[str, str]]:
        found = self.app.addresses(base)
        for provider in self.app.providers:
            if provider.listen is not None:
                found[provider.name].update(await provider.listen(self.app.world, self.host))
        return found


def exit_with_stdin() -> None:
    """End this process when stdin closes: whoever started us holds the other end, and takes us along when it dies."""

    def wait() -> None:
        while os.read(0, 4096):
            pass
        os._exit(0)

    threading.Thread(target=wait, daemon=True).start()
