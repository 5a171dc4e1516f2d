"""Serves an ASGI app, or raw bytes, on loopback for a test; everything ends with the `with` block."""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import uvicorn

from mockserver.server import ClosableProtocol, MockServer, websocket_protocol
from tests.harness.command import DEADLINE_S

if TYPE_CHECKING:
    from mockserver.app import MockApp
    from tests.harness.certificates import Certificates

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

    class Started(uvicorn.Server):
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
        server.should_exit = True
        thread.join(10)


@contextmanager
def serving_mock(app: MockApp) -> Iterator[Mapping[str, Mapping[str, str]]]:
    """The addresses of each provider of a mock that is served as its own process serves it, gRPC included."""
    ready = threading.Event()
    told: dict[str, Any] = {}

    class InProcess(MockServer):
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
        server.should_exit = server.force_exit = True
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
