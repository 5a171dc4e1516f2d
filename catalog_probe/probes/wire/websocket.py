"""A WebSocket: connects, follows a script in bounds, and observes what comes."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.frames import DATA_OPCODES, Frame, Opcode
from websockets.uri import parse_uri

from catalog_probe.catalog.model import Close, Event, Exchange, Reason, Response
from catalog_probe.catalog.model.clock import ms_since
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import AwaitClose, AwaitMessage, SendMessage
from catalog_probe.probes.targets.target import is_loopback
from catalog_probe.probes.wire.answer import (
    IDENTITY,
    NoAnswer,
    Observer,
    explain_error,
    iterate_causes,
    parse_body,
    parse_encoding,
)
from catalog_probe.probes.wire.events import name_message
from catalog_probe.probes.wire.http import Limits, connect_limit_s
from catalog_probe.probes.wire.transport import make_tls_context

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping, Sequence

    from websockets.protocol import Event as ProtocolEvent

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.targets.dialect import Dialect
    from catalog_probe.probes.wire.address import Origin


# Seconds that resolving a name may take.
RESOLVE_S = 10.0


async def connect_socket(host: str, port: int, timeout_s: float) -> socket.socket:
    """Return a connected socket.

    Raises:
        TimeoutError: there is none within so many seconds after the name was resolved.
        OSError: no address accepted.
    """
    loop = asyncio.get_running_loop()
    # The resolver is not the provider's, so its time does not count.
    async with asyncio.timeout(RESOLVE_S):
        addresses = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    deadline = time.perf_counter() + timeout_s
    last_error: OSError = ConnectionRefusedError(f"{host} has no address")
    for family, kind, protocol, _, address in addresses:
        candidate = socket.socket(family, kind, protocol)
        candidate.setblocking(False)
        try:
            await _connect(candidate, address, seconds_left(deadline))
        except TimeoutError:
            candidate.close()
            raise
        except OSError as error:
            candidate.close()
            last_error = error
        except BaseException:
            candidate.close()
            raise
        else:
            return candidate
    raise last_error


def seconds_left(deadline: float) -> float:
    """Return the seconds until a reading of `time.perf_counter`.

    Never zero, which libraries read as no limit.
    """
    return max(0.001, deadline - time.perf_counter())


async def _connect(candidate: socket.socket, address: Any, timeout_s: float) -> None:
    connecting = asyncio.ensure_future(asyncio.get_running_loop().sock_connect(candidate, address))
    try:
        await asyncio.wait({connecting}, timeout=timeout_s)
    finally:
        connecting.cancel()  # no effect if it is done
    await asyncio.wait({connecting})
    if not connecting.cancelled():
        connecting.result()
        return
    try:
        # A busy loop may notice the time limit before it notices the connection, but the socket knows.
        candidate.getpeername()
    except OSError:
        raise TimeoutError from None


# Messages that are read in one conversation, and all other frames: of another kind, or after we stopped reading.
MAX_FRAMES = 2_000

# Bytes that are parsed at once. A frame may be two bytes long, and the library answers all of them before we can count.
SLICE = 4_096


class CountingConnection(ClientConnection):
    """Breaks the connection at the first frame beyond the limit.

    The library answers each ping at once, whether or not the other side reads the answers, and joins a message out of
    any number of empty pieces. Both would grow without bound.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._frames_left = MAX_FRAMES
        self._is_listening = True
        self.is_flooded = False

    def stop_listening(self) -> None:
        """Throw away messages from now on, but read them.

        The answer to our close comes after them.

        Otherwise messages without a reader would stop the connection from being read, and the close would time out.
        """
        self._is_listening = False
        self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Take bytes from the other side a slice at a time, and none after the limit."""
        view = memoryview(data)
        for start in range(0, len(data), SLICE):
            if self.is_flooded:
                return
            super().data_received(bytes(view[start : start + SLICE]))

    def process_event(self, event: ProtocolEvent) -> None:
        """Take one frame."""
        if isinstance(event, Frame):
            is_discarded = event.opcode in DATA_OPCODES and not self._is_listening
            if is_discarded or event.opcode not in (Opcode.TEXT, Opcode.BINARY):
                self._frames_left -= 1
            if self._frames_left < 0:
                self.is_flooded = True
                self.transport.abort()
            if is_discarded or self.is_flooded:
                return
        super().process_event(event)


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


# Seconds for which the other side may be silent while a message is awaited.
STALL_S = 15.0

# Messages that are read ahead. With the cap on each message this bounds the memory of a conversation.
QUEUED_FRAMES = 4


class WebSocketWire:
    """Opens WebSockets, without redirects and without proxies."""

    def __init__(
        self, dialect: Dialect, limits: Limits, *, ca_file: str = "", message_names: Sequence[str] = ()
    ) -> None:
        self._dialect = dialect
        self._observer = Observer(dialect)
        self._limits = limits
        self._ca_file = ca_file
        self._message_names = message_names
        self._tls: ssl.SSLContext | None = None

    @staticmethod
    def read_origin(url: str) -> Origin:
        """Return where a socket at `url`, whose scheme is that of HTTP, is opened."""
        parsed = parse_uri(_make_socket_url(url))
        return "wss" if parsed.secure else "ws", f"{parsed.user_info}{parsed.host}", parsed.port

    async def exchange(self, call: Call, url: str, headers: Mapping[str, str], label: str, since: float) -> Exchange:
        """Follow the script of `call` at `url`, both complete but in stand-ins.

        Never raises for what the network or the server does: a missing answer is an exchange with a failure.
        """
        started = time.perf_counter()
        address, sent_headers = self._make_address(call, url), self._dialect.headers_out(headers)
        outcome: Response | Reason
        timeout_s = call.timeout_s or self._limits.timeout_s
        try:
            connected = await self._connect(address, call.connect_timeout_s or connect_limit_s(self._limits))
            deadline = time.perf_counter() + timeout_s  # as over HTTP, the answer's time begins with a connection
            connection = await self._open(address, sent_headers, connected, deadline)
        except (OSError, EOFError, ValueError, WebSocketException, NoAnswer) as error:
            outcome = self._read_refusal(error) or explain_error(error)
        else:
            stall_s = min(STALL_S, timeout_s / 2)
            max_bytes = self._limits.max_body_bytes
            conversation = Conversation(
                connection, self._dialect, max_bytes, started, stall_s, deadline, self._message_names
            )
            outcome = await self._observe(conversation, call)
        request = self._observer.make_request(call.method, address, sent_headers)
        return self._observer.make_exchange(label, request, outcome, started=started, since=since)

    def _make_address(self, call: Call, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
            raise ValueError(f"plain ws to {parts.hostname} would show the key")
        query = urlencode([(key, self._dialect.text_out(value)) for key, value in call.query])
        return _make_socket_url(url, query)

    async def _connect(self, address: str, timeout_s: float) -> socket.socket:
        parsed = parse_uri(address)
        try:
            return await connect_socket(parsed.host, parsed.port, timeout_s)
        except TimeoutError:
            raise NoAnswer(ReasonCode.CONNECT_TIMEOUT, f"no connection within {timeout_s:g} s") from None

    async def _open(
        self, address: str, headers: Mapping[str, str], connected: socket.socket, deadline: float
    ) -> CountingConnection:
        connection = await connect(
            address,
            create_connection=CountingConnection,
            sock=connected,  # so the library cannot follow a redirect to another host
            additional_headers={"accept-encoding": IDENTITY, **headers},
            user_agent_header="catalog-probe",
            proxy=None,
            compression=None,
            open_timeout=seconds_left(deadline),
            ping_interval=None,
            close_timeout=min(CLOSE_S, seconds_left(deadline) / 4),
            max_size=self._limits.max_body_bytes,
            max_queue=QUEUED_FRAMES,
            ssl=self._tls_context() if address.startswith("wss:") else None,
        )
        assert isinstance(connection, CountingConnection)
        return connection

    def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = make_tls_context(self._ca_file)
        return self._tls

    def _read_refusal(self, error: BaseException) -> Response | Reason | None:
        """Return the HTTP answer that refused the handshake, or why it is unread.

        None if there was none.
        """
        refusal = next((cause for cause in iterate_causes(error) if isinstance(cause, InvalidStatus)), None)
        if refusal is None:
            return None
        answer = refusal.response
        if answer.status_code < HTTPStatus.OK:
            return None  # an interim response, after which the library reads no other
        encoding = parse_encoding(", ".join(answer.headers.get_all("content-encoding")))
        if encoding != IDENTITY:
            message = f"HTTP {answer.status_code} in content-encoding {encoding}, which was not asked for"
            return Reason(ReasonCode.PROTOCOL_ERROR, message[:300])
        body, body_type = self._observer.parse_body(bytes(answer.body or b""))
        return Response(
            status=answer.status_code,
            headers=self._observer.translate_headers(dict(answer.headers.raw_items())),
            body=body,
            body_type=body_type,
        )

    async def _observe(self, conversation: Conversation, call: Call) -> Response:
        ended, close = await conversation.follow(call)
        answer = conversation.connection.response
        headers = dict(answer.headers.raw_items()) if answer else {}
        return Response(
            status=answer.status_code if answer else None,
            headers=self._observer.translate_headers(headers),
            events=self._observer.translate_events(conversation.events),
            close=close,
            ended=ended,
        )


def _make_socket_url(url: str, query: str = "") -> str:
    parts = urlsplit(url)
    return parts._replace(scheme="ws" if parts.scheme == "http" else "wss", query=query).geturl()
