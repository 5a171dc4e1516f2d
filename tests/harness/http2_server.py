"""A small HTTP/2 server over TLS: each stream that is asked is answered by a function of the test's."""

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

    spoken: h2.connection.H2Connection
    writer: asyncio.StreamWriter
    number: int
    headers: list[tuple[bytes, bytes]]
    window_opened: asyncio.Event

    async def start(self, status: int = 200, *headers: tuple[str, str]) -> None:
        """Send the head."""
        self.spoken.send_headers(self.number, [(":status", str(status)), *headers])
        await self.flush()

    async def send(self, data: bytes) -> None:
        """Send a piece of the body, as the other side's flow control allows."""
        while data:
            size = min(self.spoken.local_flow_control_window(self.number), self.spoken.max_outbound_frame_size)
            if not size:
                self.window_opened.clear()
                await self.window_opened.wait()
                continue
            self.spoken.send_data(self.number, data[:size])
            data = data[size:]
            await self.flush()

    async def end(self) -> None:
        """End the answer."""
        self.spoken.end_stream(self.number)
        await self.flush()

    async def reset(self) -> None:
        """Break the answer off, and leave the connection."""
        self.spoken.reset_stream(self.number)
        await self.flush()

    async def flush(self) -> None:
        """Send what has been said."""
        self.writer.write(self.spoken.data_to_send())
        await self.writer.drain()
        await asyncio.sleep(0)  # a broken connection is noticed when the loop comes round


Answer = Callable[[Stream], Awaitable[None]]


@contextmanager
def serving_http2(certificates: Certificates, answer: Answer) -> Iterator[str]:
    """The address of a server that speaks HTTP/2 alone, and answers the streams of a connection side by side."""

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        spoken = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        spoken.initiate_connection()
        writer.write(spoken.data_to_send())
        window_opened = asyncio.Event()
        tasks: set[asyncio.Task[None]] = set()
        try:
            while data := await reader.read(READ_BYTES):
                for event in spoken.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        stream = Stream(spoken, writer, event.stream_id, list(event.headers), window_opened)
                        tasks.add(asyncio.create_task(_answer(answer, stream)))
                    elif isinstance(event, h2.events.WindowUpdated):
                        window_opened.set()
                writer.write(spoken.data_to_send())
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
    """What a server over TLS shows, and the protocols that it speaks, the first first."""
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificates.certificate, certificates.key)
    tls.set_alpn_protocols(protocols)
    return tls
