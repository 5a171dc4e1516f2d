"""One connection that speaks HTTP/1.1: asyncio carries the bytes, h11 says what they mean, and both are bounded."""

from __future__ import annotations

import asyncio
import select
import ssl
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable
from typing import TYPE_CHECKING

import h11

from catalog.model.codes import ReasonCode
from probes.wire.failure import NoAnswer

if TYPE_CHECKING:
    import socket

MAX_INTERIM = 16
"""Interim responses (1xx) before an answer."""

MAX_HEAD = 100 * 1024
"""Bytes of a head, of a chunk's size with its extensions, or of trailers."""

READ_AHEAD = 256 * 1024
"""So many bytes that nobody has read yet stop the reading, until they are."""

EARLY_ANSWER_S = 1.0
"""How long the sender of a body that comes in pieces waits for an answer before it starts to send in earnest."""


class Connection(asyncio.Protocol):
    """Sends one request after the other and reads the answer to each; used by one task at a time.

    What comes while nothing is asked is nobody's answer: the connection is then given up, like one that was closed.
    An answer may take `most` bytes of it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._speaks = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
        self._transport: asyncio.Transport
        self._waiting: asyncio.Future[None] | None = None
        self._announced = False
        """Whether the body of the request waits until the other side wants it."""
        self._taken = 0
        """Bytes of the answer that is being read."""
        self._unread = 0
        self._reading_stopped = False
        self._writing_stopped = False
        self._ended = False
        """Whether the other side sends no more."""
        self._told_end = False
        self._lost: Exception | None = None
        self._gone = False
        self._readable: Callable[[], bool] = bool
        self._idle_since: float | None = None

    def use(self, transport: asyncio.Transport) -> None:
        """Speak over this transport from now on: over TLS it is not the one that was opened."""
        self._transport = transport
        self._readable = _looking_at(transport.get_extra_info("socket"))

    def send(self, request: h11.Request, content: bytes = b"") -> None:
        """Send a request with all of its body, at once: an answer may come before the last of it is on its way.

        Raises:
            h11.LocalProtocolError: it is no request that HTTP allows.
        """
        self._begin()
        parts = [self._spoken(request), self._spoken(h11.Data(content)) if content else b""]
        self._transport.write(b"".join((*parts, self._spoken(h11.EndOfMessage()))))

    async def send_until_answered(self, request: h11.Request, content: AsyncIterable[bytes]) -> None:
        """Send a request and its body piece by piece, but no more of it once an answer has begun to come.

        The server may answer from Content-Length alone (413).
        """
        self._begin()
        self._transport.write(self._spoken(request))
        try:
            async with asyncio.timeout(EARLY_ANSWER_S):
                while not self._answered:
                    await self._something()
        except TimeoutError:
            pass
        async for piece in content:
            if self._answered:
                return
            self._transport.write(self._spoken(h11.Data(piece)))
            while self._writing_stopped and not self._answered:
                await self._something()
            await asyncio.sleep(0)  # or a body that the system takes at once would never let an answer in
        self._transport.write(self._spoken(h11.EndOfMessage()))

    def announce(self, request: h11.Request) -> None:
        """Send a request without the body that it announces: whether it is wanted is what is asked (RFC 9110, 10.1.1).

        Raises:
            h11.LocalProtocolError: it is no request that HTTP allows.
        """
        self._begin()
        self._announced = True
        self._transport.write(self._spoken(request))

    async def head(self) -> h11.Response | h11.InformationalResponse:
        """The head of the answer, after those that are not the answer yet; 100 is one to a body that was announced.

        Raises:
            NoAnswer: the connection broke, what came is no HTTP, or it takes too much of the connection.
        """
        if not self._answered:  # it is asked for at once: h11 need not be told first that nothing has come
            await self._something()
        for _ in range(MAX_INTERIM + 1):
            event = await self._event()
            if isinstance(event, h11.Response):
                return event
            if isinstance(event, h11.InformationalResponse):
                if event.status_code == _SWITCHED:
                    break
                if event.status_code == _CONTINUE and self._announced:
                    return event
        else:
            raise NoAnswer(ReasonCode.PROTOCOL_ERROR, f"more than {MAX_INTERIM} interim responses")
        raise NoAnswer(ReasonCode.PROTOCOL_ERROR, f"HTTP {_SWITCHED} in place of an answer")

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body of the answer as it comes, still packed where it is; raises as `head` does."""
        if self._speaks.their_state is h11.SEND_RESPONSE:
            return  # it was asked for what was announced, and that is all
        while isinstance(event := await self._event(), h11.Data):
            yield bytes(event.data)

    def rest(self) -> bool:
        """Whether the connection can take another request, now that it was done with; it is closed where it cannot."""
        whole = self._speaks.our_state is h11.DONE and self._speaks.their_state is h11.DONE
        if not whole or self._over or self._speaks.trailing_data[0] or self._transport.get_write_buffer_size():
            self.abort()
            return False
        self._speaks.start_next_cycle()
        self._read_on()
        self._idle_since = time.monotonic()
        return True

    def ready(self, kept_s: float) -> bool:
        """Whether it may be used again after a rest of at most so many seconds."""
        rested = self._idle_since is not None and time.monotonic() - self._idle_since < kept_s
        return rested and not self._over and not self._readable()

    def abort(self) -> None:
        """Close it at once; what was not sent yet is not sent."""
        self._gone = True
        self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to speak."""
        assert isinstance(transport, asyncio.Transport)
        self.use(transport)

    def data_received(self, data: bytes) -> None:
        """Take what came, or give the connection up where nothing was asked."""
        if self._idle_since is not None:
            self.abort()
            return
        self._taken += len(data)
        self._unread += len(data)
        if self._unread > READ_AHEAD and not self._reading_stopped:
            self._reading_stopped = True
            self._transport.pause_reading()
        self._speaks.receive_data(data)
        self._wake()

    def eof_received(self) -> None:
        """Nothing more will come."""
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is closed, or broken."""
        self._ended = self._gone = True
        self._lost = exc
        self._wake()

    def pause_writing(self) -> None:
        """The other side takes no more for now."""
        self._writing_stopped = True

    def resume_writing(self) -> None:
        """It takes more again."""
        self._writing_stopped = False
        self._wake()

    @property
    def _answered(self) -> bool:
        return self._unread > 0 or self._over

    @property
    def _over(self) -> bool:
        return self._ended or self._gone

    def _begin(self) -> None:
        self._idle_since = None
        self._announced = False
        self._taken = self._unread = 0

    def _spoken(self, event: h11.Request | h11.Data | h11.EndOfMessage) -> bytes:
        return self._speaks.send(event) or b""

    async def _event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        while True:
            if self._taken > self._most:
                raise NoAnswer(ReasonCode.PROTOCOL_ERROR, f"the answer takes more than {self._most} bytes")
            try:
                event = self._speaks.next_event()
            except h11.RemoteProtocolError as error:
                code = ReasonCode.CONNECTION_RESET if self._told_end else ReasonCode.PROTOCOL_ERROR
                raise NoAnswer(code, str(error)) from error
            if event is not h11.NEED_DATA:
                return event
            self._read_on()
            if self._over:
                self._end()
            else:
                await self._something()

    def _read_on(self) -> None:
        """All that came has been read."""
        self._unread = 0
        if self._reading_stopped:
            self._reading_stopped = False
            self._transport.resume_reading()

    def _end(self) -> None:
        """Have h11 say what the end means for the answer, which may be that it is complete."""
        if self._lost is not None:
            raise NoAnswer(ReasonCode.CONNECTION_RESET, str(self._lost)) from self._lost
        if self._speaks.their_state is h11.SEND_RESPONSE:
            raise NoAnswer(ReasonCode.CLOSED_WITHOUT_ANSWER, "the connection was closed without an answer")
        if _is_cut(self._transport.get_extra_info("ssl_object")):
            # Where only its end delimits an answer, it may not be whole (RFC 9112, 9.8).
            raise NoAnswer(ReasonCode.CONNECTION_RESET, "the connection was cut: TLS does not say that it ended")
        self._told_end = True
        self._speaks.receive_data(b"")

    async def _something(self) -> None:
        """Wait until something happens on the connection."""
        self._waiting = asyncio.get_running_loop().create_future()
        try:
            await self._waiting
        finally:
            self._waiting = None

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


_CONTINUE, _SWITCHED = 100, 101


def _is_cut(tls: ssl.SSLObject | None) -> bool:
    """Whether a TLS connection that has ended was not closed by its other side, but cut on the way."""
    try:
        return tls is not None and bool(tls.read(1))
    except ssl.SSLError:
        return True


def _looking_at(connected: socket.socket | None) -> Callable[[], bool]:
    """How to look whether something waits on a socket, or it is closed: the loop may not have noticed yet."""
    if connected is None:
        return bool
    if not hasattr(select, "poll"):
        return lambda: connected.fileno() < 0 or bool(select.select([connected], [], [], 0)[0])
    poll = select.poll()
    poll.register(connected, select.POLLIN)
    return lambda: connected.fileno() < 0 or bool(poll.poll(0))
