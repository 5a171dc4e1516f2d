"""Keeps a port open for a server that starts only when somebody comes: importing gRPC would slow every start."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

Start = Callable[[], Awaitable[int]]
"""Starts the server on a loopback port of its own choice, and says which."""

CHUNK = 65_536
UNDER_WAY_S = 0.05
"""How long bytes take, at most, from the server to its client."""


class LazyPort:
    """Takes connections at once, starts the server behind the first, and passes bytes on both ways."""

    def __init__(self, start: Start) -> None:
        self._start = start
        self._port: int | None = None
        self._starting = asyncio.Lock()
        self._clients: dict[int, asyncio.StreamWriter] = {}
        """By the port that each comes from on the inner side, which is how the server knows them."""
        self._server: asyncio.Server | None = None

    async def open(self, host: str) -> int:
        """Listen on a free port of `host`, and say which."""
        self._server = await asyncio.start_server(self._lead_in, host, 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        """Take no more connections."""
        if self._server is not None:
            self._server.close()

    def break_off(self, peer: str) -> None:
        """Break the connection of a client, whom the server calls `peer`: `ipv4:127.0.0.1:PORT`.

        What the server has said until then is still under way, and arrives.
        """
        client = self._clients.get(int(peer.rpartition(":")[2]))
        if client is not None:
            asyncio.get_running_loop().call_later(UNDER_WAY_S, client.close)

    async def _lead_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with self._starting:
            if self._port is None:
                self._port = await self._start()
        try:
            inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._port)
        except OSError:
            writer.close()
            return
        port = inner_writer.get_extra_info("sockname")[1]
        self._clients[port] = writer
        try:
            await asyncio.gather(_pass_on(reader, inner_writer), _pass_on(inner_reader, writer))
        finally:
            del self._clients[port]


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # one side broke off: the other is let go as well
    finally:
        writer.close()
