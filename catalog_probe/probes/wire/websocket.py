"""Opens a WebSocket, follows a script on it, and observes each message, the close, or the handshake's refusal."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException
from websockets.uri import parse_uri

from catalog_probe.catalog.model import Close, Event, Exchange, Reason, Response
from catalog_probe.catalog.model.clock import ms_since
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.exchange import DEFAULT_EVENT_NAME
from catalog_probe.probes.calls.script import AwaitClose, AwaitMessage, SendMessage
from catalog_probe.probes.targets.target import is_loopback
from catalog_probe.probes.wire.body import IDENTITY, encoding_of, parsed
from catalog_probe.probes.wire.counting_connection import MAX_FRAMES, Counted
from catalog_probe.probes.wire.failure import NoAnswer, chain_of, reason_of
from catalog_probe.probes.wire.http import CONNECT_S, Limits, connect_s_within
from catalog_probe.probes.wire.observer import Observer
from catalog_probe.probes.wire.tls import context

if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.targets.dialect import Dialect
    from catalog_probe.probes.wire.address import Origin

STALL_S = 15.0
"""How long the other side may say nothing while something is awaited."""

CLOSE_S = 1.0
"""How long the other side may take to answer our close, and as long again to take what we still send."""

QUEUED_FRAMES = 4
"""How many messages are read ahead: together with the cap on each this bounds the memory of a conversation."""

ABNORMAL = 1006
"""What a client reports for a socket that ended without a close frame (RFC 6455, 7.1.5)."""

NO_CODE = 1005
"""What stands for the code of a close frame that has none (RFC 6455, 7.4.1); it is never sent."""

NORMAL = 1000
"""What we close with when the script is done."""

OURS: Mapping[int, str] = {1002: "malformed", 1007: "malformed", 1009: "capped"}
"""How a stream ended that we had to close ourselves, by the code we closed it with."""


class WebSocketWire:
    """Opens WebSockets. Redirects are not followed and proxies of the environment are not used."""

    def __init__(self, dialect: Dialect, limits: Limits, *, ca_file: str = "") -> None:
        self._dialect = dialect
        self._observer = Observer(dialect)
        self._limits = limits
        self._ca_file = ca_file
        self._tls: ssl.SSLContext | None = None

    @staticmethod
    def read_origin(url: str) -> Origin:
        """Where a socket at `url`, whose scheme is that of HTTP, is opened."""
        parsed = parse_uri(_socket_url(url))
        return "wss" if parsed.secure else "ws", f"{parsed.user_info}{parsed.host}", parsed.port

    async def exchange(self, call: Call, url: str, headers: Mapping[str, str], label: str, since: float) -> Exchange:
        """Follow the script of `call` at `url` with `headers`, both complete but in stand-ins.

        Never raises for what the network or the server does: a missing answer is an exchange with a failure.
        """
        started = time.perf_counter()
        address, sent = self._address(call, url), self._dialect.headers_out(headers)
        seen: Response | Reason
        timeout_s = call.timeout_s or self._limits.timeout_s
        try:
            connected = await self._connected(address, call.connect_timeout_s or connect_s_within(self._limits))
            deadline = time.perf_counter() + timeout_s  # as over HTTP, the answer's time begins with a connection
            connection = await self._opened(address, sent, connected, deadline)
        except (OSError, EOFError, ValueError, WebSocketException, NoAnswer) as error:
            seen = self._refusal(error) or reason_of(error)
        else:
            talk = _Talk(connection, self._dialect, self._limits.max_body_bytes, started, timeout_s, deadline)
            seen = await self._observed(talk, call)
        asked = self._observer.request(call.method, address, sent)
        return self._observer.exchange(label, asked, seen, started=started, since=since)

    def _address(self, call: Call, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
            raise ValueError(f"plain ws to {parts.hostname} would show the key")
        query = urlencode([(key, self._dialect.text_out(value)) for key, value in call.query])
        return _socket_url(url, query)

    async def _connected(self, address: str, patience_s: float) -> socket.socket:
        parsed = parse_uri(address)
        try:
            return await _connected(parsed.host, parsed.port, patience_s)
        except TimeoutError:
            raise NoAnswer(ReasonCode.CONNECT_TIMEOUT, f"no connection within {patience_s:g} s") from None

    async def _opened(
        self, address: str, headers: Mapping[str, str], connected: socket.socket, deadline: float
    ) -> Counted:
        # With a socket of ours the library follows no redirect to another place: it has no way there.
        opened = await connect(
            address,
            create_connection=Counted,
            sock=connected,
            additional_headers={"accept-encoding": IDENTITY, **headers},
            user_agent_header="catalog-probe",
            proxy=None,
            compression=None,
            open_timeout=_left(deadline),
            ping_interval=None,
            close_timeout=min(CLOSE_S, _left(deadline) / 4),
            max_size=self._limits.max_body_bytes,
            max_queue=QUEUED_FRAMES,
            ssl=self._tls_context() if address.startswith("wss:") else None,
        )
        assert isinstance(opened, Counted)
        return opened

    def _tls_context(self) -> ssl.SSLContext:
        if self._tls is None:
            self._tls = context(self._ca_file)
        return self._tls

    def _refusal(self, error: BaseException) -> Response | Reason | None:
        """The HTTP answer that refused the handshake, if there was one, or why it cannot be read."""
        refused = next((each for each in chain_of(error) if isinstance(each, InvalidStatus)), None)
        if refused is None:
            return None
        answer = refused.response
        if answer.status_code < HTTPStatus.OK:
            return None  # an interim response, after which the library hears no other
        if (encoding := encoding_of(", ".join(answer.headers.get_all("content-encoding")))) != IDENTITY:
            words = f"HTTP {answer.status_code} in content-encoding {encoding}, which was not asked for"
            return Reason(ReasonCode.PROTOCOL_ERROR, words[:300])
        body, body_type = self._observer.body(bytes(answer.body or b""))
        return Response(
            status=answer.status_code,
            headers=self._observer.headers(dict(answer.headers.raw_items())),
            body=body,
            body_type=body_type,
        )

    async def _observed(self, talk: _Talk, call: Call) -> Response:
        ended, close = await talk.follow(call)
        answer = talk.connection.response
        headers = dict(answer.headers.raw_items()) if answer else {}
        return Response(
            status=answer.status_code if answer else None,
            headers=self._observer.headers(headers),
            events=self._observer.stream(talk.events),
            close=close,
            ended=ended,
        )


class _Over(Exception):
    """The conversation has met a cap; `ended` says which."""

    def __init__(self, ended: str) -> None:
        super().__init__(ended)
        self.ended = ended


class _Talk:
    """One conversation on an open socket, and what was said and heard in it."""

    def __init__(
        self,
        connection: Counted,
        dialect: Dialect,
        max_bytes: int,
        started: float,
        timeout_s: float,
        deadline: float,
    ) -> None:
        self.connection = connection
        self.events: list[Event] = []
        self._dialect = dialect
        self._left_bytes = max_bytes
        self._started = started
        self._deadline = deadline
        self._stall_s = min(STALL_S, timeout_s / 2)
        self._heard: dict[str, Json] = {}

    async def follow(self, call: Call) -> tuple[str, Close | None]:
        """Follow the script; how the stream ended (see `Response`), and how the other side closed."""
        try:
            for step in call.script:
                match step:
                    case SendMessage():
                        await self._say(step)
                    case AwaitMessage():
                        await self._hear(step.event, *filter(None, [step.failure_event]))
                    case AwaitClose():
                        await self._hear()
        except ConnectionClosed as closed:
            return self._closing(closed)
        except _Over as over:
            return await self._after_all(over.ended)
        finally:
            await _hang_up(self.connection)
        return "complete", None

    async def _after_all(self, ended: str) -> tuple[str, Close | None]:
        """How it ended, where a close was already under way when we lost patience."""
        # Our close may cross theirs on the way: only the error that recv() raises then tells which was first.
        await _hang_up(self.connection)
        try:
            await self.connection.recv()
        except ConnectionClosed as closed:
            ours = closed.sent is not None and closed.sent.code == NORMAL and not closed.rcvd_then_sent
            if not ours:
                return self._closing(closed)
        return ended, None

    async def _say(self, step: SendMessage) -> None:
        message = step.message(self._heard) if callable(step.message) else step.message
        raw = message if isinstance(message, bytes | str) else json.dumps(self._dialect.json_out(message))
        try:
            async with asyncio.timeout(_left(self._deadline)):
                await self.connection.send(raw)
        except TimeoutError:
            raise _Over("stalled") from None
        except ConnectionClosed:
            await self._hear()  # what came before the close has not been read yet
        self._keep(parsed(message)[0] if isinstance(message, bytes) else message, sent=True)

    async def _hear(self, *wanted: str) -> None:
        """Read messages until one that is wanted has come; without any, until the close raises ConnectionClosed."""
        while True:
            raw = await self._received()
            self._left_bytes -= len(raw)
            value = self._dialect.json_in(parsed(raw.encode() if isinstance(raw, str) else raw)[0])
            name = self._keep(value)
            self._heard[name] = value
            if name in wanted:
                return
            if self._left_bytes < 0 or len(self.events) >= MAX_FRAMES:
                raise _Over("capped")

    async def _received(self) -> str | bytes:
        patience_s = min(self._stall_s, _left(self._deadline))
        try:
            async with asyncio.timeout(patience_s):
                return await self.connection.recv()
        except TimeoutError:
            # Whole time used up while messages kept coming: the stream is endless, and not silent.
            talkative = patience_s < self._stall_s and any(not event.sent for event in self.events)
            raise _Over("capped" if talkative else "stalled") from None

    def _keep(self, value: Json, *, sent: bool = False) -> str:
        name = name_of(value)
        self.events.append(Event(name, value, ms_since(self._started), sent))
        return name

    def _closing(self, closed: ConnectionClosed) -> tuple[str, Close | None]:
        """The close as the other side made it; None where we had to close ourselves, because of what it sent."""
        if self.connection.flooded:
            return "capped", None
        received, sent = closed.rcvd, closed.sent
        if sent is not None and not (received is not None and closed.rcvd_then_sent):
            return OURS.get(sent.code, "cut"), None
        if received is None:
            return "complete", Close(ABNORMAL, "", clean=False)
        code = None if received.code == NO_CODE else received.code
        return "complete", Close(code, received.reason, clean=sent is not None)


async def _hang_up(connection: Counted) -> None:
    """Close, and break the connection where the other side does not let us: it may send for ever and read nothing."""
    try:
        async with asyncio.timeout(2 * CLOSE_S):
            connection.stop_listening()
            await connection.close()
    except TimeoutError:
        connection.transport.abort()


def name_of(message: Any) -> str:
    """The name of a message: the type that it states, else its first field, as in a union of messages."""
    if not isinstance(message, dict):
        return DEFAULT_EVENT_NAME
    stated = message.get("type") or message.get("event_type")
    return stated if isinstance(stated, str) else str(next(iter(message), DEFAULT_EVENT_NAME))


async def _connected(host: str, port: int, patience_s: float) -> socket.socket:
    """A connection to the first address of a host that takes one.

    Raises:
        TimeoutError: there is none so many seconds after the name was resolved.
        OSError: no address took one.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(CONNECT_S):  # the resolver is none of the provider's: it does not use up its time
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    deadline = time.perf_counter() + patience_s
    last: OSError = ConnectionRefusedError(f"{host} has no address")
    for family, kind, protocol, _, address in found:
        trying = socket.socket(family, kind, protocol)
        trying.setblocking(False)
        try:
            await _connect(trying, address, _left(deadline))
        except TimeoutError:
            trying.close()
            raise
        except OSError as error:
            trying.close()
            last = error
        except BaseException:
            trying.close()
            raise
        else:
            return trying
    raise last


def _socket_url(url: str, query: str = "") -> str:
    parts = urlsplit(url)
    return parts._replace(scheme="ws" if parts.scheme == "http" else "wss", query=query).geturl()


async def _connect(trying: socket.socket, address: Any, patience_s: float) -> None:
    connecting = asyncio.ensure_future(asyncio.get_running_loop().sock_connect(trying, address))
    try:
        await asyncio.wait({connecting}, timeout=patience_s)
    finally:
        connecting.cancel()  # which does nothing to what is done
    await asyncio.wait({connecting})
    if not connecting.cancelled():
        connecting.result()
        return
    try:
        # A busy loop may notice that time is up before it notices the connection: the socket itself knows better.
        trying.getpeername()
    except OSError:
        raise TimeoutError from None


def _left(deadline: float) -> float:
    return max(0.001, deadline - time.perf_counter())
