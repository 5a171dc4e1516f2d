"""Stands before the gRPC server, which has no way to break a client's connection without a status."""

from __future__ import annotations

import asyncio

CHUNK = 65_536
UNDER_WAY_S = 0.05
"""How long bytes take, at most, from the server to its client."""


class BreakablePort:
    """Passes bytes between clients and the server on a loopback port, both ways."""

    def __init__(self) -> None:
        self._clients: dict[int, asyncio.StreamWriter] = {}
        """By the port that each comes from on the inner side, which is how the server knows them."""
        self._port = 0
        self._server: asyncio.Server | None = None

    async def open(self, host: str, port: int) -> int:
        """Listen on a free port of `host` for the server on `port`, and say which."""
        self._port = port
        self._server = await asyncio.start_server(self._relay, host, 0)
        opened: int = self._server.sockets[0].getsockname()[1]
        return opened

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

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
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
