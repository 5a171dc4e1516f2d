"""A relay in front of the gRPC library, which cannot give up when flooded.

All of it runs in the event loop: while the library keeps the loop busy, nothing more comes to it.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

# Bytes that are passed on at once. Hardly more of them wait anywhere.
PIECE = 16_384

# Seconds after which another address of the same name is tried beside one that does not answer.
NEXT_ADDRESS_S = 0.25

_Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Relay:
    """Passes bytes on to one address and back; TLS is between the two ends."""

    def __init__(self, host: str, port: int, connect_s: float) -> None:
        self._target = (host, port)
        self._connect_s = connect_s
        self._server: asyncio.Server | None = None
        self._open_writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.connect_error: OSError | None = None
        """Why the last connection to the target was not made. A connection that breaks later breaks at its user."""

    async def open(self) -> str:
        """Begin to listen on loopback; return where, as `address:port`."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0, limit=PIECE)
        address, port = self._server.sockets[0].getsockname()
        return f"{address}:{port}"

    def abort(self) -> None:
        """Break all connections at once; later connections are passed on as before."""
        for writer in tuple(self._open_writers):
            writer.transport.abort()

    async def aclose(self) -> None:
        """Stop listening, and break all connections."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        self.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, until either side ends it."""
        self._open_writers.add(writer)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE)
        is_broken = True
        try:
            target = await self._connect()
            self.connect_error = None
            is_broken = await self._join((reader, writer), target)
            if not is_broken:
                await _end_gracefully(reader, writer)
        except OSError as error:
            self.connect_error = error
        finally:
            self._open_writers.discard(writer)
            # After a proper end, what the target sent before it is still to be delivered.
            writer.transport.abort() if is_broken else writer.close()

    async def _join(self, client: _Streams, target: _Streams) -> bool:
        """Pass bytes on until a side ends; return whether the target's broke."""
        self._open_writers.add(target[1])
        sending = asyncio.create_task(_pass_on(client[0], target[1]))
        receiving = asyncio.create_task(_pass_on(target[0], client[1]))
        try:
            await asyncio.wait((sending, receiving), return_when=asyncio.FIRST_COMPLETED)
            return receiving.done() and receiving.exception() is not None
        finally:
            sending.cancel()
            receiving.cancel()
            await asyncio.gather(sending, receiving, return_exceptions=True)
            self._open_writers.discard(target[1])
            target[1].transport.abort()

    async def _connect(self) -> _Streams:
        host, port = self._target
        async with asyncio.timeout(self._connect_s):
            return await asyncio.open_connection(host, port, limit=PIECE, happy_eyeballs_delay=NEXT_ADDRESS_S)


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what comes until it ends, or until nobody takes it any more.

    Raises:
        OSError: the connection from which it comes broke.
    """
    writer.transport.set_write_buffer_limits(high=PIECE)
    while data := await reader.read(PIECE):
        try:
            writer.write(data)
            await writer.drain()
        except OSError:
            return


async def _end_gracefully(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say that no more comes, and read what still does.

    A connection that is closed over unread bytes is reset.
    """
    with suppress(OSError):
        writer.write_eof()
        while await reader.read(PIECE):
            pass
