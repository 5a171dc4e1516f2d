"""Announces a body, and reads the answer that comes before it is sent.

A server may refuse a body by its length alone (413), or say that it wants it (100, RFC 9110, 10.1.1).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import h11

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls.body import AnnouncedBody, DeclaredBody
from catalog_probe.probes.wire.failure import NoAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    import httpcore
    import httpx

# Seconds to wait for an answer before a declared body is sent.
EARLY_ANSWER_S = 1.0

CHUNK = b" " * 65_536
CONTINUE, EXPECTATION_FAILED = 100, 417


async def send_until_answered(
    stream: httpcore.AsyncNetworkStream, request: httpx.Request, body: DeclaredBody | AnnouncedBody
) -> tuple[h11.Response | h11.InformationalResponse, AsyncIterator[bytes]]:
    """Send a request over HTTP/1.1; return head and body of the answer.

    The stream cannot be used again.

    Raises:
        NoAnswer: the server takes no expectations.
        h11.ProtocolError: what one of the sides sent is no HTTP.
        httpcore.NetworkError: the connection broke.
    """
    connection = h11.Connection(h11.CLIENT)
    # The URL has the host in ASCII and all else percent-encoded, and the headers name the host.
    head_event = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
    await stream.write(connection.send(head_event) or b"")
    if isinstance(body, AnnouncedBody):
        head = await _read_head(stream, connection, is_announced=True)
        if head.status_code == EXPECTATION_FAILED:
            message = f"HTTP {EXPECTATION_FAILED}: it does not say which body it would take"
            raise NoAnswer(ReasonCode.PROTOCOL_ERROR, message)
    else:
        sending = asyncio.create_task(_send_body(stream, connection, body.length))
        try:
            head = await _read_head(stream, connection)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)  # a server that refuses a body may cut it off
    return head, _read_body(stream, connection)


async def _send_body(stream: httpcore.AsyncNetworkStream, connection: h11.Connection, length: int) -> None:
    await asyncio.sleep(EARLY_ANSWER_S)
    for start in range(0, length, len(CHUNK)):
        await stream.write(connection.send(h11.Data(CHUNK[: length - start])) or b"")
    await stream.write(connection.send(h11.EndOfMessage()) or b"")


async def _read_head(
    stream: httpcore.AsyncNetworkStream, connection: h11.Connection, *, is_announced: bool = False
) -> h11.Response | h11.InformationalResponse:
    while True:
        event = await _next_event(stream, connection)
        if isinstance(event, h11.Response):
            return event
        # Of interim answers only 100 counts, and only for a body that waits for it.
        if isinstance(event, h11.InformationalResponse) and is_announced and event.status_code == CONTINUE:
            return event


async def _read_body(stream: httpcore.AsyncNetworkStream, connection: h11.Connection) -> AsyncGenerator[bytes, None]:
    if connection.their_state is h11.SEND_RESPONSE:
        return  # the answer is 100: the announced body is wanted, and there is no body to read
    while isinstance(event := await _next_event(stream, connection), h11.Data):
        yield bytes(event.data)


async def _next_event(
    stream: httpcore.AsyncNetworkStream, connection: h11.Connection
) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
    while (event := connection.next_event()) is h11.NEED_DATA:
        connection.receive_data(await stream.read(65_536))
    return event
