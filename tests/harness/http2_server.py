"""A small HTTP/2 server over TLS, which answers each stream by a function of the test."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import h2.config
import h2.connection
import h2.events
import h2.exceptions

from tests.harness.serving import serving_connections

if TYPE_CHECKING:
    from tests.harness.certificates import Certificates

READ_BYTES = 65_536


@dataclass
class Stream:
    """One request, and the means to answer it."""

    h2_connection: h2.connection.H2Connection
    writer: asyncio.StreamWriter
    number: int
    headers: list[tuple[bytes, bytes]]
    window_opened: asyncio.Event

    async def start(self, status: int = 200, *headers: tuple[str, str]) -> None:
        """Send the head."""
        self.h2_connection.send_headers(self.number, [(":status", str(status)), *headers])
        await self.flush()

    async def send(self, data: bytes) -> None:
        """Send a piece of the body, as the other side's flow control allows."""
        while data:
            size = min(
                self.h2_connection.local_flow_control_window(self.number), self.h2_connection.max_outbound_frame_size
            )
            if not size:
                self.window_opened.clear()
                await self.window_opened.wait()
                continue
            self.h2_connection.send_data(self.number, data[:size])
            data = data[size:]
            await self.flush()

    async def end(self) -> None:
        """End the answer."""
        self.h2_connection.end_stream(self.number)
        await self.flush()

    async def reset(self) -> None:
        """Break the answer off, and leave the connection."""
        self.h2_connection.reset_stream(self.number)
        await self.flush()

    async def flush(self) -> None:
        """Send the queued frames."""
        self.writer.write(self.h2_connection.data_to_send())
        await self.writer.drain()
        await asyncio.sleep(0)  # a broken connection is noticed when the loop comes round


Answer = Callable[[Stream], Awaitable[None]]


@contextmanager
def serving_http2(certificates: Certificates, answer: Answer) -> Iterator[str]:
    """Serve HTTP/2 only, with concurrent streams, and yield the address."""

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        h2_connection = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        h2_connection.initiate_connection()
        writer.write(h2_connection.data_to_send())
        window_opened = asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()
        try:
            while data := await reader.read(READ_BYTES):
                for event in h2_connection.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        stream = Stream(h2_connection, writer, event.stream_id, list(event.headers), window_opened)
                        tasks.add(asyncio.create_task(_answer(answer, stream)))
                    elif isinstance(event, h2.events.WindowUpdated):
                        window_opened.set()
                writer.write(h2_connection.data_to_send())
        except (ConnectionError, h2.exceptions.ProtocolError):
            pass
        finally:
            for task in tasks:
                task.cancel()
            writer.close()

    with serving_connections(connection, server_context(certificates, "h2")) as base:
        yield base


async def _answer(answer: Answer, stream: Stream) -> None:
    with suppress(ConnectionError, h2.exceptions.ProtocolError):
        await answer(stream)


def server_context(certificates: Certificates, *protocols: str) -> ssl.SSLContext:
    """Return the TLS context of a server with these protocols, the preferred one first."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificates.certificate, certificates.key)
    tls.set_alpn_protocols(protocols)
    return tls
