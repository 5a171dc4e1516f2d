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

from catalog_probe.mockserver.server import ClosableProtocol, MockServer, websocket_protocol
from tests.harness.command import DEADLINE_S

if TYPE_CHECKING:
    import ssl

    from catalog_probe.mockserver.app import MockApp
    from tests.harness.certificates import Certificates

TICK_S = 0.1
"""After this long uvicorn's server looks after its clock."""

Connection = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


RESET_EXTENSION = "harness.reset"
"""The server puts a function here that breaks the connection as a machine that died would: by RST."""


class BreakableProtocol(ClosableProtocol):
    """The mock's protocol, lending the app one more way to be rude."""

    def on_message_begin(self) -> None:
        """Add our extension to each request's scope."""
        super().on_message_begin()
        self.scope["extensions"][RESET_EXTENSION] = {"reset": self._reset}

    def _reset(self) -> None:
        open_socket = self.transport.get_extra_info("socket")
        open_socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


class EndsAtOnce(uvicorn.Server):
    """uvicorn's server, ended when that is asked of it: its own looks ten times a second, and then waits for clients.

    Those of a test have gone by then, and where hundreds of tests serve for some requests each, those waits add up.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._over = asyncio.Event()

    def end(self) -> None:
        """Ask it from the thread that holds it."""
        self.should_exit = True
        self.loop.call_soon_threadsafe(self._over.set)

    async def startup(self, sockets: Any = None) -> None:
        self.loop = asyncio.get_running_loop()
        await super().startup(sockets)

    async def main_loop(self) -> None:
        """As uvicorn has it, with the clock of its date headers."""
        ticks = 0
        while not await self.on_tick(ticks):
            ticks += 1
            with suppress(TimeoutError):
                await asyncio.wait_for(self._over.wait(), TICK_S)

    async def shutdown(self, sockets: Any = None) -> None:
        """Let go of all at once; what is still being answered is cancelled with the loop."""
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await asyncio.sleep(0)  # what was just closed says so to its protocol in the next turn of the loop


@contextmanager
def serving(app: Any, certificates: Certificates | None = None) -> Iterator[str]:
    """The address of an ASGI app on a free port; over TLS where there are certificates."""
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

    class Started(EndsAtOnce):
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
    """The addresses of each provider of a mock that is served as its own process serves it, gRPC included."""
    ready = threading.Event()
    told: dict[str, Any] = {}

    class InProcess(EndsAtOnce, MockServer):
        def tell(self, said: Mapping[str, Any]) -> None:
            told.update(said)
            ready.set()

        async def shutdown(self, sockets: Any = None) -> None:
            await super().shutdown(sockets)
            await app.world.close()

    server = InProcess(app, "127.0.0.1", 0)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert ready.wait(DEADLINE_S), "the mock did not start"
    try:
        yield told["providers"]
    finally:
        server.end()
        thread.join(10)


@contextmanager
def speaking(connection: Connection, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """The address of a server that answers each connection by hand: for peers that break HTTP, or over TLS."""
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
