"""Addresses on loopback where a request fails in a known way: how errors that arise in the client are elicited."""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack

HOST = "127.0.0.1"
WAITING = 4
"""More connections than a queue of length 0 holds."""


class Loopback:
    """The sockets behind these addresses, opened when first asked for; all methods run in the loop thread."""

    def __init__(self) -> None:
        self._sockets = ExitStack()
        self._servers: list[asyncio.Server] = []
        self._addresses: dict[str, str] = {}

    async def address(self, service: str) -> str:
        """The address called `service`, one of LOOPBACK_SERVICES."""
        if service not in self._addresses:
            self._addresses[service] = await self._open(service)
        return self._addresses[service]

    async def aclose(self) -> None:
        self._sockets.close()
        for server in self._servers:
            server.close()
        self._addresses.clear()

    async def _open(self, service: str) -> str:
        match service:
            case "closed_port":
                return f"http://{HOST}:{_port(self._bound())}"
            case "full_port":
                return f"http://{HOST}:{_port(self._full())}"
            case _:
                server = await asyncio.start_server(_answer_plainly, HOST, 0)
                self._servers.append(server)
                return f"https://{HOST}:{server.sockets[0].getsockname()[1]}"

    def _bound(self) -> socket.socket:
        """A port that is ours as long as the socket lives: nobody else can begin to listen there meanwhile."""
        bound = self._sockets.enter_context(socket.socket())
        bound.bind((HOST, 0))
        return bound

    def _full(self) -> socket.socket:
        listening = self._bound()
        listening.listen(0)
        for _ in range(WAITING):
            waiting = self._sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex((HOST, _port(listening)))
        return listening


async def _answer_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"this port does not speak TLS\r\n")
    writer.close()


def _port(bound: socket.socket) -> int:
    port: int = bound.getsockname()[1]
    return port
