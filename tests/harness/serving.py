"""Serves an ASGI app, or raw bytes, on loopback for a test; everything ends with the `with` block."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import uvicorn
from websockets.exceptions import InvalidState

from catalog_probe.mockserver.server import ClosableProtocol, MockServer, websocket_protocol
from tests.harness.command import DEADLINE_S

if TYPE_CHECKING:
    import ssl

    from catalog_probe.mockserver.app import MockApp
    from tests.harness.certificates import Certificates

TICK_S = 0.1
"""Seconds between two ticks of uvicorn's clock, as in its own main loop."""

Connection = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

RESET_EXTENSION = "harness.reset"
"""An ASGI extension with a function that breaks the connection by RST, as a machine that died would."""


class BreakableProtocol(ClosableProtocol):
    """The mock's protocol, with an extension by which the app can reset the connection."""

    def on_message_begin(self) -> None:
        """Add our extension to each request's scope."""
        super().on_message_begin()
        self.scope["extensions"][RESET_EXTENSION] = {"reset": self._reset}

    def _reset(self) -> None:
        open_socket = self.transport.get_extra_info("socket")
        open_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


class PromptServer(uvicorn.Server):
    """A uvicorn server that stops at once.

    uvicorn polls ten times a second and then waits for clients. Hundreds of tests serve a few requests each, so those
    waits add up.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._over = asyncio.Event()

    def end(self) -> None:
        """Stop the server, from another thread."""
        self.should_exit = True
        self.loop.call_soon_threadsafe(self._over.set)

    async def startup(self, sockets: Any = None) -> None:
        self.loop = asyncio.get_running_loop()
        await super().startup(sockets)

    async def main_loop(self) -> None:
        """Tick for the date headers, as uvicorn does, until `end` is called."""
        ticks = 0
        while not await self.on_tick(ticks):
            ticks += 1
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), TICK_S)

    async def shutdown(self, sockets: Any = None) -> None:
        """Close all connections; requests in progress are cancelled with the loop."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            with suppress(InvalidState):  # a WebSocket that is closing already
                connection.shutdown()
        await asyncio.sleep(0)  # the protocols learn of the closing in the next iteration of the loop


@contextmanager
def serving(app: Any, certificates: Certificates | None = None) -> Iterator[str]:
    """Serve an ASGI app on a free port and yield its address; over TLS if certificates are given."""
    config = uvicorn.Config(
        app,
        port=0,
        log_config=None,
        lifespan="off",
        http=BreakableProtocol,
        ws=websocket_protocol,  # type: ignore[arg-type] # uvicorn takes a class, its types know names alone
        timeout_graceful_shutdown=0,
        ssl_certfile=certificates.certificate if certificates else None,
        ssl_keyfile=certificates.key if certificates else None,
    )
    ready = threading.Event()

    class Started(PromptServer):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets)
            ready.set()

    server = Started(config)

    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert ready.wait(DEADLINE_S), "the server did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"https://127.0.0.1:{port}" if certificates else f"http://127.0.0.1:{port}"
    finally:
        server.end()
        thread.join(10)


@contextmanager
def serving_mock(app: MockApp) -> Iterator[Mapping[str, Mapping[str, str]]]:
    """Serve a mock as its own process does, gRPC included, and yield the addresses of each provider."""
    started = threading.Event()
    ready_line: dict[str, Any] = {}

    class InProcess(PromptServer, MockServer):
        def tell(self, ready: Mapping[str, Any]) -> None:
            ready_line.update(ready)
            started.set()

        async def shutdown(self, sockets: Any = None) -> None:
            await super().shutdown(sockets)
            await app.world.close()

    server = InProcess(app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert started.wait(DEADLINE_S), "the mock did not start"
    try:
        yield ready_line["providers"]
    finally:
        server.end()
        thread.join(10)


@contextmanager
def serving_connections(connection: Connection, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Serve connections by a coroutine and yield the address: for peers that break HTTP, or over TLS."""
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    port: list[int] = []
    stop = asyncio.Event()

    async def serve() -> None:
        server = await asyncio.start_server(connection, "127.0.0.1", 0, ssl=tls)
        port.append(server.sockets[0].getsockname()[1])
        ready.set()
        await stop.wait()
        server.close()
        for task in asyncio.all_tasks(loop) - {asyncio.current_task(loop)}:
            task.cancel()

    def run() -> None:
        loop.run_until_complete(serve())
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert ready.wait(DEADLINE_S), "the server did not start"
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{port[0]}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
