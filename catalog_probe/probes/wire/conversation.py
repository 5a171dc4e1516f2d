"""A conversation on an open WebSocket: follows a script, keeps messages."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from websockets.exceptions import ConnectionClosed

from catalog_probe.catalog.model import Close, Event
from catalog_probe.catalog.model.clock import ms_since
from catalog_probe.probes.calls.script import AwaitClose, AwaitMessage, SendMessage
from catalog_probe.probes.wire.body import parse_body
from catalog_probe.probes.wire.connecting import seconds_left
from catalog_probe.probes.wire.counting_connection import MAX_FRAMES
from catalog_probe.probes.wire.event_names import name_message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.targets.dialect import Dialect
    from catalog_probe.probes.wire.counting_connection import CountingConnection

# Seconds that the other side may take to answer our close, and as many to take what we still send.
CLOSE_S = 1.0

# What a client reports for a socket that ended without a close frame (RFC 6455, 7.1.5).
ABNORMAL = 1006

# Stands for the missing code of a close frame (RFC 6455, 7.4.1); it is never sent.
NO_CODE = 1005

# What we close with when the script is done.
NORMAL = 1000

# How a conversation ended that we had to close, by the code that we sent.
ENDED_BY_CODE: Mapping[int, str] = {1002: "malformed", 1007: "malformed", 1009: "capped"}


class _Ended(Exception):
    """The conversation has met a cap; `ended` says which."""

    def __init__(self, ended: str) -> None:
        super().__init__(ended)
        self.ended = ended


class Conversation:
    """Follows a script on an open socket."""

    def __init__(
        self,
        connection: CountingConnection,
        dialect: Dialect,
        max_bytes: int,
        started: float,
        stall_s: float,
        deadline: float,
        message_names: Sequence[str] = (),
    ) -> None:
        """Times are `time.perf_counter`; `stall_s` is how long silence may last; for the names see `name_message`."""
        self.connection = connection
        self.events: list[Event] = []
        self._dialect = dialect
        self._bytes_left = max_bytes
        self._started = started
        self._deadline = deadline
        self._stall_s = stall_s
        self._message_names = message_names
        self._last_messages: dict[str, Json] = {}
        """The last message of each name, for messages that quote one."""

    async def follow(self, call: Call) -> tuple[str, Close | None]:
        """Follow the script.

        Returns how the stream ended (see `Response`), and how the other side closed.
        """
        try:
            for step in call.script:
                match step:
                    case SendMessage():
                        await self._send(step)
                    case AwaitMessage():
                        await self._read_until(step.event, *filter(None, [step.failure_event]))
                    case AwaitClose():
                        await self._read_until()
        except ConnectionClosed as closed:
            return self._describe_close(closed)
        except _Ended as end:
            return await self._check_crossed_close(end.ended)
        finally:
            await _close(self.connection)
        return "complete", None

    async def _check_crossed_close(self, ended: str) -> tuple[str, Close | None]:
        """Return how it ended, if the other side closed as we gave it up."""
        # Two closes may cross on the way. Only the error that recv() raises then tells which was first.
        await _close(self.connection)
        try:
            await self.connection.recv()
        except ConnectionClosed as closed:
            is_ours = closed.sent is not None and closed.sent.code == NORMAL and not closed.rcvd_then_sent
            if not is_ours:
                return self._describe_close(closed)
        return ended, None

    async def _send(self, step: SendMessage) -> None:
        message = step.message(self._last_messages) if callable(step.message) else step.message
        raw = message if isinstance(message, bytes | str) else json.dumps(self._dialect.json_out(message))
        try:
            async with asyncio.timeout(seconds_left(self._deadline)):
                await self.connection.send(raw)
        except TimeoutError:
            raise _Ended("stalled") from None
        except ConnectionClosed:
            await self._read_until()  # messages that came before the close have not been read yet
        self._add_event(parse_body(message)[0] if isinstance(message, bytes) else message, sent=True)

    async def _read_until(self, *names: str) -> None:
        """Read messages until one with such a name comes.

        Without names, until the close raises ConnectionClosed.
        """
        while True:
            raw = await self._read_message()
            self._bytes_left -= len(raw)
            value = self._dialect.json_in(parse_body(raw.encode() if isinstance(raw, str) else raw)[0])
            name = self._add_event(value)
            self._last_messages[name] = value
            if name in names:
                return
            if self._bytes_left < 0 or len(self.events) >= MAX_FRAMES:
                raise _Ended("capped")

    async def _read_message(self) -> str | bytes:
        timeout_s = min(self._stall_s, seconds_left(self._deadline))
        try:
            async with asyncio.timeout(timeout_s):
                return await self.connection.recv()
        except TimeoutError:
            # If the whole time is up although messages kept coming, the stream is endless and not silent.
            is_endless = timeout_s < self._stall_s and any(not event.sent for event in self.events)
            raise _Ended("capped" if is_endless else "stalled") from None

    def _add_event(self, value: Json, *, sent: bool = False) -> str:
        name = name_message(value, self._message_names)
        self.events.append(Event(name, value, ms_since(self._started), sent))
        return name

    def _describe_close(self, closed: ConnectionClosed) -> tuple[str, Close | None]:
        """Return the close of the other side; None if what it sent made us close."""
        if self.connection.is_flooded:
            return "capped", None
        received, sent = closed.rcvd, closed.sent
        if sent is not None and not (received is not None and closed.rcvd_then_sent):
            return ENDED_BY_CODE.get(sent.code, "cut"), None
        if received is None:
            return "complete", Close(ABNORMAL, "", clean=False)
        code = None if received.code == NO_CODE else received.code
        return "complete", Close(code, received.reason, clean=sent is not None)


async def _close(connection: CountingConnection) -> None:
    """Close a connection, or break it if the other side prevents that.

    It may send for ever and read nothing.
    """
    try:
        async with asyncio.timeout(2 * CLOSE_S):
            connection.stop_listening()
            await connection.close()
    except TimeoutError:
        connection.transport.abort()
