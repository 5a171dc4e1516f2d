"""Announces a body and hears the answer that comes before it; no HTTP client shows one.

A server may refuse a body by its length alone (413), or say that it wants it (100, RFC 9110, 10.1.1).
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import h11

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.body import AnnouncedBody, DeclaredBody
from catalog_probe.probes.wire.failure import NoAnswer

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    import httpcore
    import httpx

EARLY_ANSWER_S = 1.0
"""How long an answer is waited for before a declared body is sent."""

CHUNK = b" " * 65_536
CONTINUE, EXPECTATION_FAILED = 100, 417


async def ask(
    stream: httpcore.AsyncNetworkStream, request: httpx.Request, body: DeclaredBody | AnnouncedBody
) -> tuple[h11.Response | h11.InformationalResponse, AsyncIterator[bytes]]:
    """Send a request over HTTP/1.1; return the head of the answer and its body. The stream is of no more use then.

    Raises:
        NoAnswer: the server takes no expectations.
        h11.ProtocolError: what one of the sides said is no HTTP.
        httpcore.NetworkError: the connection broke.
    """
    spoken = h11.Connection(h11.CLIENT)
    # The URL has the host in ASCII and all else percent-encoded, and the headers name the host.
    begun = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
    await stream.write(spoken.send(begun) or b"")
    if isinstance(body, AnnouncedBody):
        head = await _head(stream, spoken, is_announced=True)
        if head.status_code == EXPECTATION_FAILED:
            words = f"HTTP {EXPECTATION_FAILED}: it does not say which body it would take"
            raise NoAnswer(ReasonCode.PROTOCOL_ERROR, words)
    else:
        sending = asyncio.create_task(_send(stream, spoken, body.length))
        try:
            head = await _head(stream, spoken)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)  # a server that refuses a body may cut it off
    return head, _pieces(stream, spoken)


async def _send(stream: httpcore.AsyncNetworkStream, spoken: h11.Connection, length: int) -> None:
    await asyncio.sleep(EARLY_ANSWER_S)
    for start in range(0, length, len(CHUNK)):
        await stream.write(spoken.send(h11.Data(CHUNK[: length - start])) or b"")
    await stream.write(spoken.send(h11.EndOfMessage()) or b"")


async def _head(
    stream: httpcore.AsyncNetworkStream, spoken: h11.Connection, *, is_announced: bool = False
) -> h11.Response | h11.InformationalResponse:
    while True:
        event = await _next_event(stream, spoken)
        if isinstance(event, h11.Response):
            return event
        # Of interim answers only 100 is one, and only to a body that waits for it.
        if isinstance(event, h11.InformationalResponse) and is_announced and event.status_code == CONTINUE:
            return event


async def _pieces(stream: httpcore.AsyncNetworkStream, spoken: h11.Connection) -> AsyncGenerator[bytes, None]:
    if spoken.their_state is h11.SEND_RESPONSE:
        return  # the announced body is wanted, and that is all
    while isinstance(event := await _next_event(stream, spoken), h11.Data):
        yield bytes(event.data)


async def _next_event(
    stream: httpcore.AsyncNetworkStream, spoken: h11.Connection
) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
    while (event := spoken.next_event()) is h11.NEED_DATA:
        spoken.receive_data(await stream.read(65_536))
    return event
