"""Opens a WebSocket, follows a script, and observes what comes."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus, WebSocketException
from websockets.uri import parse_uri

from catalog_probe.catalog.model import Exchange, Reason, Response
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.targets.target import is_loopback
from catalog_probe.probes.wire.body import IDENTITY, parse_encoding
from catalog_probe.probes.wire.connecting import connect_socket, seconds_left
from catalog_probe.probes.wire.conversation import CLOSE_S, Conversation
from catalog_probe.probes.wire.counting_connection import CountingConnection
from catalog_probe.probes.wire.failure import NoAnswer, explain_error, iterate_causes
from catalog_probe.probes.wire.http import Limits, connect_limit_s
from catalog_probe.probes.wire.observer import Observer
from catalog_probe.probes.wire.tls import make_tls_context

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Mapping, Sequence

    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.targets.dialect import Dialect
    from catalog_probe.probes.wire.address import Origin

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
