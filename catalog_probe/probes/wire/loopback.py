"""Addresses on loopback where a request fails in a known way.

They provoke the errors that arise in the client.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import ExitStack

HOST = "127.0.0.1"

# More connections than a queue of length 0 holds.
QUEUED_CONNECTIONS = 4


class Loopback:
    """The sockets behind these addresses, opened when first used.

    All methods run in the loop thread.
    """

    def __init__(self) -> None:
        self._sockets = ExitStack()
        self._servers: list[asyncio.Server] = []
        self._addresses: dict[str, str] = {}

    async def get_address(self, service: str) -> str:
        """Return the address of a service, one of LOOPBACK_SERVICES."""
        if service not in self._addresses:
            self._addresses[service] = await self._open(service)
        return self._addresses[service]

    async def aclose(self) -> None:
        """Close every socket."""
        self._sockets.close()
        for server in self._servers:
            server.close()
        self._addresses.clear()

    async def _open(self, service: str) -> str:
        match service:
            case "closed_port":
                return f"http://{HOST}:{_port(self._bind())}"
            case "full_port":
                return f"http://{HOST}:{_port(self._fill())}"
            case _:
                server = await asyncio.start_server(_answer_plainly, HOST, 0)
                self._servers.append(server)
                return f"https://{HOST}:{server.sockets[0].getsockname()[1]}"

    def _bind(self) -> socket.socket:
        """Reserve a port on which nobody listens, as long as the socket lives."""
        bound = self._sockets.enter_context(socket.socket())
        bound.bind((HOST, 0))
        return bound

    def _fill(self) -> socket.socket:
        """Listen on a port whose queue of connections is full."""
        listening = self._bind()
        listening.listen(0)
        for _ in range(QUEUED_CONNECTIONS):
            queued = self._sockets.enter_context(socket.socket())
            queued.setblocking(False)
            queued.connect_ex((HOST, _port(listening)))
        return listening


async def _answer_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.read(1)
    writer.write(b"this port does not speak TLS\r\n")
    writer.close()


def _port(bound: socket.socket) -> int:
    port: int = bound.getsockname()[1]
    return port
