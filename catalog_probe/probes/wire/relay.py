"""Stands in the connections of a library that cannot be made to give one up: what floods it comes to an end.

All of it runs in the loop: while the library keeps that busy, nothing more comes to it.
"""

from __future__ import annotations

import asyncio
import socket
from contextlib import suppress

PIECE = 16_384
"""Bytes that are passed on at once; hardly more wait anywhere."""

NEXT_ADDRESS_S = 0.25
"""When another address of the same name is tried beside one that does not answer."""


_End = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Relay:
    """Passes bytes on to one address and back, whatever they are: TLS is between its two ends."""

    def __init__(self, host: str, port: int, connect_s: float) -> None:
        self._far = (host, port)
        self._connect_s = connect_s
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self.trouble: OSError | None = None
        """Why the last connection to the other side was not made; one that breaks breaks for whoever uses it."""

    async def open(self) -> str:
        """Begin to listen, on loopback; says where, as `address:port`."""
        self._server = await asyncio.start_server(self._take, "127.0.0.1", 0, limit=PIECE)
        address, port = self._server.sockets[0].getsockname()
        return f"{address}:{port}"

    def abort(self) -> None:
        """Break what is connected, without a word to either side; a later connection is passed on as ever."""
        for each in tuple(self._open):
            each.transport.abort()

    async def aclose(self) -> None:
        """Listen no more, and break what is connected."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        self.abort()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._served(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _served(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until either side ends it."""
        self._open.add(writer)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE)
        broke = True
        try:
            far = await self._connected()
            self.trouble = None
            broke = await self._joined((reader, writer), far)
            if not broke:
                await _taken_leave_of(reader, writer)
        except OSError as error:
            self.trouble = error
        finally:
            self._open.discard(writer)
            # What came before the other side ended is still to be delivered.
            writer.transport.abort() if broke else writer.close()

    async def _joined(self, near: _End, far: _End) -> bool:
        """Pass on until either side ends it; whether the far side broke."""
        self._open.add(far[1])
        there = asyncio.create_task(_passed_on(near[0], far[1]))
        back = asyncio.create_task(_passed_on(far[0], near[1]))
        try:
            await asyncio.wait((there, back), return_when=asyncio.FIRST_COMPLETED)
            return back.done() and back.exception() is not None
        finally:
            there.cancel()
            back.cancel()
            await asyncio.gather(there, back, return_exceptions=True)
            self._open.discard(far[1])
            far[1].transport.abort()

    async def _connected(self) -> _End:
        host, port = self._far
        async with asyncio.timeout(self._connect_s):
            return await asyncio.open_connection(host, port, limit=PIECE, happy_eyeballs_delay=NEXT_ADDRESS_S)


async def _passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what comes until its end, or until nobody takes it any more.

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


async def _taken_leave_of(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say that no more comes, and take what is still said: a connection closed over unread bytes is reset."""
    with suppress(OSError):
        writer.write_eof()
        while await reader.read(PIECE):
            pass
