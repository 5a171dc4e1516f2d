"""Makes gRPC calls over HTTP/2, and observes messages, status and trailers.

The official library reports its own trouble as a status with a message, and a server can send the same status with the
same message. So the frames are read here: a status is the server's if a header block of its answer has a `grpc-status`,
and everything else is trouble of the connection or of the protocol, whatever words it comes with.
"""

from __future__ import annotations

import asyncio
import base64
import math
import re
import struct
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from google.protobuf import json_format, message_factory
from google.protobuf.message import DecodeError
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import ConnectionTerminated, DataReceived, ResponseReceived, StreamEnded, StreamReset, TrailersReceived
from h2.events import Event as HttpEvent
from h2.settings import SettingCodes, Settings

from catalog_probe.catalog.model import Event, Exchange, GrpcStatus, Reason, Response
from catalog_probe.catalog.model.clock import ms_since
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.calls import JsonBody
from catalog_probe.probes.targets.target import is_loopback
from catalog_probe.probes.wire.answer import NoAnswer, Observer, describe_binary, explain_error
from catalog_probe.probes.wire.generated import pd_pb2
from catalog_probe.probes.wire.http import DEFAULT_HEADERS, Limits, connect_limit_s
from catalog_probe.probes.wire.transport import (
    READ_BUDGET,
    READ_BYTES,
    BoundedBackend,
    ReadBudget,
    make_tls_context,
    translate_errors,
)

if TYPE_CHECKING:
    import ssl
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping

    import httpcore
    from google.protobuf.descriptor import MethodDescriptor

    from catalog_probe.probes.calls import Call
    from catalog_probe.probes.wire.address import Origin

MAX_MESSAGES = 2_000

# HTTP/2 frames of an answer that bring nothing of it: settings, pings, data of no bytes.
MAX_EMPTY_FRAMES = 2_000

# The port of a host that names none.
TLS_PORT = 443

# The package as recipes write it; a target sets the real one.
STAND_IN = pd_pb2.DESCRIPTOR.package

# Statuses that the client reports itself: it has stopped reading, or the deadline of the call has passed.
CANCELLED, DEADLINE_EXCEEDED = 1, 4

# 0 OK to 16 UNAUTHENTICATED; the protocol has no others.
_STATUS = re.compile(rb"[0-9]|1[0-6]")
_HTTP_STATUS = re.compile(rb"[1-5][0-9]{2}")

# Padding may be left out. A last group of one character holds no byte.
_BASE64 = re.compile(rb"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?")

# Header fields that belong to the protocol, and are no metadata.
_PROTOCOL_FIELDS = frozenset(
    {b"content-type", b"grpc-status", b"grpc-message", b"grpc-encoding", b"grpc-accept-encoding"}
)

# Of HTTP/2 frames (RFC 9113, 4.1 and 6): the bytes before the payload, and the kinds.
_FRAME_HEAD_BYTES = 9
_DATA, _HEADERS, _GOAWAY, _CONTINUATION = 0, 1, 7, 9

# Before each message: whether it is compressed, and its length in bytes.
_PREFIX = struct.Struct("!?I")

_Fields = list[tuple[bytes, bytes]]
_Metadata = list[tuple[str, str | bytes]]


class GrpcWire:
    """Makes each call on a connection of its own, so that a call that is given up disturbs no other."""

    def __init__(self, package: str, limits: Limits, *, ca_file: str = "") -> None:
        self._package = package or STAND_IN
        self._observer = Observer()
        self._limits = limits
        self._ca_file = ca_file
        self._tls: ssl.SSLContext | None = None
        self._backend = BoundedBackend()

    @staticmethod
    def read_origin(url: str) -> Origin:
        """Return where a call goes; its host alone decides about TLS."""
        return "", *_split_host(_extract_host(url))

    async def exchange(self, call: Call, url: str, headers: Mapping[str, str], label: str, since: float) -> Exchange:
        """Make the call whose host and method path `url` names.

        `headers` is its metadata.

        Never raises for what the network or the server does: a missing answer is an exchange with a failure.
        """
        started = time.perf_counter()
        outcome: Response | Reason
        try:
            outcome = await self._send(call, _extract_host(url), headers, started)
        except (NoAnswer, OSError) as error:
            outcome = explain_error(error)
        body = call.body.value if isinstance(call.body, JsonBody) else None
        request = self._observer.make_request(call.method, url, headers, body)
        return self._observer.make_exchange(label, request, outcome, started=started, since=since)

    async def _send(self, call: Call, host: str, headers: Mapping[str, str], started: float) -> Response:
        method = find_method(call.path)
        fields = call.body.value if isinstance(call.body, JsonBody) else {}
        request = json_format.ParseDict(fields, _get_message_class(method.input_type)()).SerializeToString()
        budget = ReadBudget(self._limits.max_body_bytes, is_own_connection=True)
        READ_BUDGET.set(budget)
        with translate_errors(budget):
            stream = await self._connect(host, call.connect_timeout_s or connect_limit_s(self._limits))
            try:
                async with asyncio.timeout(call.timeout_s or self._limits.timeout_s):
                    grpc_call = _GrpcCall(stream, budget, self._limits.max_body_bytes)
                    await grpc_call.send(self._make_head(call, method, host, headers), request)
                    return await self._observe(grpc_call, method, started)
            except TimeoutError:
                if call.timeout_s is None:
                    raise NoAnswer(ReasonCode.READ_TIMEOUT, f"no answer within {self._limits.timeout_s:g} s") from None
                # The call has a deadline of its own. Its record expects the status that a client then reports.
                events = () if method.server_streaming else None
                return Response(events=events, grpc=GrpcStatus(DEADLINE_EXCEEDED, "Deadline Exceeded"))
            finally:
                await stream.aclose()

    async def _connect(self, host: str, timeout_s: float) -> httpcore.AsyncNetworkStream:
        """Connect to a host. Plain text goes to loopback only, because a key travels on the connection."""
        name, port = _split_host(host)
        stream = await self._backend.connect_tcp(name, port, timeout_s)
        if is_loopback(name):
            return stream
        if self._tls is None:
            self._tls = make_tls_context(self._ca_file)
            self._tls.set_alpn_protocols(["h2"])
        try:
            stream = await stream.start_tls(self._tls, name, timeout_s)
            if stream.get_extra_info("ssl_object").selected_alpn_protocol() != "h2":
                raise NoAnswer(ReasonCode.PROTOCOL_ERROR, "the host speaks no HTTP/2")
        except BaseException:
            await stream.aclose()
            raise
        return stream

    def _make_head(
        self, call: Call, method: MethodDescriptor, host: str, metadata: Mapping[str, str]
    ) -> list[tuple[str, str]]:
        """Return the header fields of a request.

        The server is told a deadline only if the call has one of its own. So a status DEADLINE_EXCEEDED of the server
        is never about the time limit of ours.
        """
        timeout = {} if call.timeout_s is None else {"grpc-timeout": f"{math.ceil(call.timeout_s * 1000)}m"}
        head = {
            ":method": "POST",
            ":scheme": "http" if is_loopback(_split_host(host)[0]) else "https",
            ":path": f"/{self._package}.{method.containing_service.name}/{method.name}",
            ":authority": host,
            "te": "trailers",
            "content-type": "application/grpc",
            "grpc-accept-encoding": "identity",
            "user-agent": DEFAULT_HEADERS["user-agent"],
            **timeout,
            **{name.lower(): value for name, value in metadata.items()},
        }
        return list(head.items())

    async def _observe(self, grpc_call: _GrpcCall, method: MethodDescriptor, started: float) -> Response:
        messages: list[Event] = []
        bytes_left = self._limits.max_body_bytes
        async for message in grpc_call.read_messages():
            if messages and not method.server_streaming:
                raise NoAnswer(ReasonCode.PROTOCOL_ERROR, f"a second message, and {method.name} answers with one")
            messages.append(_decode_message(method, message, started))
            bytes_left -= len(message)
            if len(messages) >= MAX_MESSAGES or bytes_left < 0:
                return self._make_response(grpc_call, messages, GrpcStatus(CANCELLED), method, ended="capped")
        status = grpc_call.read_status()
        if status.status == 0 and not messages and not method.server_streaming:
            raise NoAnswer(ReasonCode.PROTOCOL_ERROR, "a call that ended well, and no message")
        return self._make_response(grpc_call, messages, status, method)

    def _make_response(
        self,
        grpc_call: _GrpcCall,
        messages: list[Event],
        status: GrpcStatus,
        method: MethodDescriptor,
        *,
        ended: str = "complete",
    ) -> Response:
        events = self._observer.translate_events(messages)
        # The message of a call that does not stream counts only beside the status OK.
        has_body = bool(events) and not method.server_streaming and status.status == 0
        return Response(
            headers=_join_metadata(grpc_call.initial_metadata),
            body=events[0].data if has_body else None,
            body_type="json" if has_body else "empty",
            events=events if method.server_streaming else None,
            grpc=status,
            ended=ended,
        )


class _GrpcCall:
    """The one call of a connection (RFC 9113, and the gRPC project's `PROTOCOL-HTTP2.md`)."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, budget: ReadBudget, max_message_bytes: int) -> None:
        self._stream = stream
        self._budget = budget
        self._max_message_bytes = max_message_bytes
        self._http2 = H2Connection(H2Configuration(client_side=True))
        max_header_bytes = self._http2.local_settings.max_header_list_size or 0
        own_settings = {SettingCodes.ENABLE_PUSH: 0, SettingCodes.MAX_HEADER_LIST_SIZE: max_header_bytes}
        self._http2.local_settings = Settings(client=True, initial_values=own_settings)
        self._stream_id = self._http2.get_next_available_stream_id()
        self._unread = bytearray()
        """Bytes of frames that have not come whole."""
        self._empty_frames_left = MAX_EMPTY_FRAMES
        self._partial_message = bytearray()
        self._has_ended = False
        self._final_fields: _Fields | None = None
        self.initial_metadata: _Metadata = []

    async def send(self, head: list[tuple[str, str]], message: bytes) -> None:
        """Send a request of one message."""
        self._http2.initiate_connection()
        self._http2.send_headers(self._stream_id, head)
        unsent = _PREFIX.pack(False, len(message)) + message
        while unsent and not self._has_ended:
            size = min(
                self._http2.local_flow_control_window(self._stream_id), self._http2.max_outbound_frame_size, len(unsent)
            )
            if size:
                self._http2.send_data(self._stream_id, unsent[:size], end_stream=size == len(unsent))
                unsent = unsent[size:]
                await self._flush()
            else:
                await self._receive()

    async def read_messages(self) -> AsyncIterator[bytes]:
        """Yield each message of the answer.

        Raises:
            NoAnswer: the connection or the protocol broke, or a message is too large.
        """
        while True:
            for message in self._split_messages():
                yield message
            if self._has_ended:
                break
            await self._receive()
        if self._partial_message:
            raise NoAnswer(ReasonCode.PROTOCOL_ERROR, "the answer ends within a message")

    def read_status(self) -> GrpcStatus:
        """Return the status of an answer that has ended.

        Raises:
            NoAnswer: the answer has none.
        """
        fields = self._final_fields or []
        statuses = [value for name, value in fields if name == b"grpc-status"]
        if len(statuses) != 1 or not _STATUS.fullmatch(statuses[0]):
            statuses_text = b", ".join(statuses).decode("ascii", "backslashreplace") or "none"
            detail = f"the answer should end with one gRPC status, and has {statuses_text}"
            raise NoAnswer(ReasonCode.PROTOCOL_ERROR, detail)
        message = b"".join(value for name, value in fields if name == b"grpc-message")
        trailers = _join_metadata(_read_metadata(fields))
        return GrpcStatus(int(statuses[0]), unquote(_decode(message)), trailers)

    async def _receive(self) -> None:
        """Read one frame, and take it in.

        The library gets one frame at a time: it would drop an answer if what came after it in one piece were broken.
        """
        head = await self._read_exactly(_FRAME_HEAD_BYTES)
        length, kind = int.from_bytes(head[:3]), head[3]
        if length > self._http2.max_inbound_frame_size:
            raise NoAnswer(ReasonCode.PROTOCOL_ERROR, f"no HTTP/2: a frame of {length} bytes")
        payload = await self._read_exactly(length)
        if not length or kind not in (_DATA, _HEADERS, _CONTINUATION):
            self._empty_frames_left -= 1
            if self._empty_frames_left < 0:
                raise NoAnswer(ReasonCode.PROTOCOL_ERROR, f"more than {MAX_EMPTY_FRAMES} frames without content")
        # A server that goes away may finish the calls that it names (RFC 9113, 6.8). The library would take no more.
        if kind == _GOAWAY and int.from_bytes(payload[:4]) >= self._stream_id:
            return
        for event in self._http2.receive_data(head + payload):
            self._take_event(event)

    async def _read_exactly(self, length: int) -> bytes:
        while len(self._unread) < length:
            await self._flush()
            data = await self._stream.read(READ_BYTES)
            if not data:
                raise NoAnswer(ReasonCode.CONNECTION_RESET, "the connection ended within the answer")
            self._unread += data
        data = bytes(self._unread[:length])
        del self._unread[:length]
        return data

    def _take_event(self, event: HttpEvent) -> None:
        match event:
            case ResponseReceived():
                self._take_head(list(event.headers or ()), is_end=event.stream_ended is not None)
            case DataReceived():
                self._partial_message += event.data or b""
                self._http2.acknowledge_received_data(event.flow_controlled_length or 0, self._stream_id)
            case TrailersReceived():
                self._final_fields = list(event.headers or ())
            case StreamEnded():
                self._has_ended = True
            case StreamReset():
                raise NoAnswer(ReasonCode.CONNECTION_RESET, f"the call was reset, HTTP/2 error {event.error_code}")
            case ConnectionTerminated():
                message = f"the server ended the connection, HTTP/2 error {event.error_code}"
                raise NoAnswer(ReasonCode.CONNECTION_RESET, message)

    def _take_head(self, fields: _Fields, *, is_end: bool) -> None:
        self._budget.add_body()
        by_name = dict(fields)
        http_status, content_type = by_name[b":status"], by_name.get(b"content-type", b"")
        if not _HTTP_STATUS.fullmatch(http_status):
            status_text = http_status.decode("ascii", "backslashreplace")
            raise NoAnswer(ReasonCode.PROTOCOL_ERROR, f":status is {status_text}, which is no HTTP status")
        if is_end and b"grpc-status" in by_name:
            self._final_fields = fields
        elif http_status == b"200" and content_type.startswith(b"application/grpc"):
            self.initial_metadata = list(_read_metadata(fields))
        else:
            media_type = content_type.decode("ascii", "backslashreplace") or "no content-type"
            raise NoAnswer(ReasonCode.GATEWAY_PAGE, f"HTTP {http_status.decode()} with {media_type}, and no gRPC")

    def _split_messages(self) -> Iterator[bytes]:
        while len(self._partial_message) >= _PREFIX.size:
            flag = self._partial_message[0]
            _, length = _PREFIX.unpack_from(self._partial_message)
            if flag:
                raise NoAnswer(ReasonCode.PROTOCOL_ERROR, f"a message with the flag {flag}; only plain ones are taken")
            if length > self._max_message_bytes:
                detail = f"a message of {length} bytes, more than {self._max_message_bytes}"
                raise NoAnswer(ReasonCode.BODY_TOO_LARGE, detail)
            end = _PREFIX.size + length
            if len(self._partial_message) < end:
                return
            message = bytes(self._partial_message[_PREFIX.size : end])
            del self._partial_message[:end]
            yield message

    async def _flush(self) -> None:
        data = self._http2.data_to_send()
        if data:
            await self._stream.write(data)


def find_method(path: str) -> MethodDescriptor:
    """Return the method at a path such as `/pd_api.Chat/GetCompletion`.

    Raises:
        KeyError: the .proto has no such service or method.
    """
    service, _, name = path.removeprefix("/").partition("/")
    method: MethodDescriptor = pd_pb2.DESCRIPTOR.services_by_name[service.rpartition(".")[2]].methods_by_name[name]
    return method


def _decode_message(method: MethodDescriptor, raw: bytes, started: float) -> Event:
    """Decode a message as an event.

    Raises:
        NoAnswer: it is no message of the method's type.
    """
    try:
        message = _get_message_class(method.output_type).FromString(raw)
    except DecodeError as error:
        raise NoAnswer(ReasonCode.PROTOCOL_ERROR, str(error)) from error
    data = json_format.MessageToDict(message, preserving_proto_field_name=True)
    return Event(method.output_type.name, data, ms_since(started))


def _read_metadata(fields: _Fields) -> Iterator[tuple[str, str | bytes]]:
    """Yield the metadata of a header block; a value whose name ends in `-bin` is bytes.

    Raises:
        NoAnswer: a binary value is no base64.
    """
    for name, value in fields:
        if name.startswith(b":") or name in _PROTOCOL_FIELDS:
            continue
        if not name.endswith(b"-bin"):
            yield name.decode("ascii"), _decode(value)
            continue
        for encoded in value.split(b","):
            if not _BASE64.fullmatch(encoded):
                raise NoAnswer(ReasonCode.PROTOCOL_ERROR, f"{name.decode('ascii')} is no base64")
            yield name.decode("ascii"), base64.b64decode(encoded + b"===")


def _join_metadata(metadata: Iterable[tuple[str, str | bytes]] | None) -> dict[str, str]:
    """Return name -> value. Of a binary value only size and digest are kept, because the value may be a packed key."""
    return {name: value if isinstance(value, str) else describe_binary(value) for name, value in metadata or ()}


def _decode(value: bytes) -> str:
    """Decode a header value as UTF-8, or each byte as a character where that fails."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("iso-8859-1")


def _get_message_class(descriptor: Any) -> Any:
    return message_factory.GetMessageClass(descriptor)


def _extract_host(url: str) -> str:
    return url.partition("/")[0]


def _split_host(host: str) -> tuple[str, int]:
    """Split a host and its port: `[::1]:50051` -> `("::1", 50051)`; without a port, that of TLS."""
    name, _, port = host.rpartition(":")
    return (name.strip("[]"), int(port)) if name and port.isdecimal() else (host.strip("[]"), TLS_PORT)
