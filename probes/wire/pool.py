"""A few connections that are kept for the next request, to whatever hosts a lane asks."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from catalog.model.codes import ReasonCode
from probes.wire.failure import NoAnswer
from probes.wire.http11 import Connection

if TYPE_CHECKING:
    from probes.wire.origin import Origin

CONNECTIONS = 8
"""One small pool a lane: so many requests are under way at once, and so many connections are kept."""

KEPT_ALIVE_S = 5.0
"""How long a connection is kept for the next request."""

EYEBALLS_S = 0.25
"""When the next address of a host is tried beside one that does not answer (RFC 8305, 5)."""


class Pool:
    """The connections of one lane. Proxies of the environment are not used."""

    def __init__(self, tls: ssl.SSLContext, most: int) -> None:
        """`tls` is for hosts that speak it; an answer may take `most` bytes of a connection."""
        self._tls = tls
        self._most = most
        self._places = asyncio.Semaphore(CONNECTIONS)
        self._kept: list[tuple[Origin, Connection]] = []

    @asynccontextmanager
    async def connection(self, origin: Origin, patience_s: float) -> AsyncIterator[Connection]:
        """A connection for one request, a new one within `patience_s` where none is kept.

        Raises:
            NoAnswer: there is none to be had.
        """
        async with self._places:
            connection = self._kept_for(origin) or await self._opened(origin, patience_s)
            try:
                yield connection
            finally:
                if connection.rest():
                    self._kept.append((origin, connection))
                    self._close(self._kept[:-CONNECTIONS])

    async def aclose(self) -> None:
        """Close what is kept."""
        self._close(list(self._kept))
        await asyncio.sleep(0)  # the loop closes sockets when it comes round

    def _kept_for(self, origin: Origin) -> Connection | None:
        """The connection that was used last and can be used still; those that cannot are closed."""
        for its, connection in reversed(self._kept):
            if its == origin:
                self._kept.remove((its, connection))
                if connection.ready(KEPT_ALIVE_S):
                    return connection
                connection.abort()
        return None

    def _close(self, those: list[tuple[Origin, Connection]]) -> None:
        for each in those:
            self._kept.remove(each)
            each[1].abort()

    async def _opened(self, origin: Origin, patience_s: float) -> Connection:
        connection = Connection(self._most)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(patience_s):
                transport, _ = await loop.create_connection(
                    lambda: connection, origin.host, origin.port, happy_eyeballs_delay=EYEBALLS_S
                )
            if origin.scheme == "https":
                async with asyncio.timeout(patience_s):
                    await self._secured(connection, transport, origin.host)
        except TimeoutError:
            raise NoAnswer(ReasonCode.CONNECT_TIMEOUT, f"no connection within {patience_s:g} s") from None
        except OSError as error:
            raise NoAnswer(_why_not(error), str(error)) from error
        return connection

    async def _secured(self, connection: Connection, transport: asyncio.Transport, host: str) -> None:
        loop = asyncio.get_running_loop()
        try:
            secured = await loop.start_tls(transport, connection, self._tls, server_hostname=host)
        except TimeoutError:
            raise
        except OSError as error:  # a reset, or an end, is how many a server says that it does not speak TLS
            transport.abort()
            raise NoAnswer(ReasonCode.TLS_FAILED, str(error)) from error
        assert secured is not None
        connection.use(secured)


def _why_not(error: OSError) -> ReasonCode:
    """A connection that is reset before it stands was reset in the handshake: somebody listened."""
    reset = isinstance(error, ConnectionResetError)
    return ReasonCode.CONNECTION_RESET if reset else ReasonCode.CONNECT_REFUSED
