"""Makes one gRPC call, once, by its method path, and observes its messages, its status and its trailers."""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
from google.protobuf import json_format, message_factory
from google.protobuf.message import DecodeError

from catalog_probe.catalog.model import Event, Exchange, GrpcStatus, Reason, Response
from catalog_probe.catalog.model.clock import ms_since
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.calls.body import JsonBody
from catalog_probe.probes.targets.target import is_loopback
from catalog_probe.probes.wire.generated import pd_pb2
from catalog_probe.probes.wire.observer import Observer
from catalog_probe.probes.wire.relay import PIECE, Relay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from google.protobuf.descriptor import MethodDescriptor

    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.wire.address import Origin
    from catalog_probe.probes.wire.http import Limits

MAX_MESSAGES = 2_000
LATE_S = 1.0
"""How long after its deadline the library may say that it has passed."""

CLOCKS_DIFFER_BY_S = 0.05
"""The library's clock and ours."""
TLS_PORT = 443
"""Where a host that names no port listens."""

STAND_IN = pd_pb2.DESCRIPTOR.package
"""The package as recipes write it; a target sets the real one."""

LOCAL_CODES = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNKNOWN, grpc.StatusCode.RESOURCE_EXHAUSTED)
TOO_MUCH = "metadata size exceeds"
"""Of headers or trailers: the library says it beside those that it took."""

MADE_UP = (TOO_MUCH, "stream removed (", "no status received", "compression bit set", "decompressed message larger")
"""What only the library says: under any status, and beside what it had read of trailers until then."""

LOCAL_TROUBLE = (
    ("received message larger than max", ReasonCode.BODY_TOO_LARGE),
    ("decompressed message larger", ReasonCode.BODY_TOO_LARGE),
    (TOO_MUCH, ReasonCode.BODY_TOO_LARGE),
    ("error parsing", ReasonCode.PROTOCOL_ERROR),
    ("illegal header", ReasonCode.PROTOCOL_ERROR),
    ("metadata keys", ReasonCode.PROTOCOL_ERROR),
    ("no status received", ReasonCode.PROTOCOL_ERROR),
    ("compression bit set", ReasonCode.PROTOCOL_ERROR),
    ("connection refused", ReasonCode.CONNECT_REFUSED),
    ("connection reset", ReasonCode.CONNECTION_RESET),
    ("socket closed", ReasonCode.CLOSED_WITHOUT_ANSWER),
    ("failed parsing http/2", ReasonCode.PROTOCOL_ERROR),
    ("dns resolution failed", ReasonCode.NAME_UNRESOLVED),
    ("domain name not found", ReasonCode.NAME_UNRESOLVED),
    ("handshake failed", ReasonCode.TLS_FAILED),
    ("verification check failed", ReasonCode.TLS_FAILED),
    ("certificate", ReasonCode.TLS_FAILED),
    ("timed out", ReasonCode.CONNECT_TIMEOUT),
    ("timeout occurred", ReasonCode.CONNECT_TIMEOUT),
    ("failed to connect", ReasonCode.CONNECT_REFUSED),
    ("stream removed", ReasonCode.CONNECTION_RESET),
    ("received http2 header with status", ReasonCode.GATEWAY_PAGE),
)
"""Words by which the client library tells of trouble on the way: it says them in a status, as if a server had.

The first that is found counts: "failed to connect" stands before each reason why.
"""


class GrpcWire:
    """The gRPC channels of one lane: made inside the loop that uses them, and never retrying by themselves."""

    def __init__(self, package: str, limits: Limits, *, ca_file: str = "") -> None:
        self._package = package or STAND_IN
        self._observer = Observer()
        self._limits = limits
        self._authorities = Path(ca_file).read_bytes() if ca_file else None
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._relays: dict[str, Relay] = {}
        self._under_way: Counter[str] = Counter()
        """How many calls there are at each host: they share its connection."""
        self._opening = asyncio.Lock()

    @staticmethod
    def read_origin(url: str) -> Origin:
        """Where a call to `url`, a host and a method path, goes; the host alone tells whether over TLS."""
        return "", *_name_and_port(_host_in(url))

    async def exchange(self, call: Call, url: str, headers: Mapping[str, str], label: str, since: float) -> Exchange:
        """Make the call whose host and method path `url` names, with `headers` as metadata.

        Never raises for what the network or the server does: a missing answer is an exchange with a failure.
        """
        started = time.perf_counter()
        host = _host_in(url)
        seen = await self._answer(call, host, headers, started)
        asked = self._observer.request(
            call.method, url, headers, call.body.value if isinstance(call.body, JsonBody) else None
        )
        return self._observer.exchange(label, asked, seen, started=started, since=since)

    async def aclose(self) -> None:
        for relay in self._relays.values():
            await relay.aclose()
        for channel in self._channels.values():
            await channel.close(None)

    async def _answer(self, call: Call, host: str, headers: Mapping[str, str], started: float) -> Response | Reason:
        method = method_at(call.path)
        fields = call.body.value if isinstance(call.body, JsonBody) else {}
        request = json_format.ParseDict(fields, _class_of(method.input_type)())
        make = await self._caller(host, method)
        timeout_s = call.timeout_s or self._limits.timeout_s
        self._under_way[host] += 1
        rpc = make(request, timeout=timeout_s, metadata=tuple(headers.items()))
        try:
            # The library keeps to its deadline, unless a flood of frames leaves it no time to.
            async with asyncio.timeout(timeout_s + LATE_S):
                seen = await self._observed(call, method, rpc, started, host)
        except TimeoutError:
            rpc.cancel()
            seen = Reason(ReasonCode.READ_TIMEOUT, f"no answer within {timeout_s:g} s")
        finally:
            self._under_way[host] -= 1
        if isinstance(seen, Reason) and not self._under_way[host]:
            # What keeps the library from ending a call would keep it from closing the channel as well.
            self._relays[host].abort()
        return seen

    async def _observed(
        self, call: Call, method: MethodDescriptor, rpc: Any, started: float, host: str
    ) -> Response | Reason:
        messages: list[Event] = []
        ended = "complete"
        try:
            if method.server_streaming:
                left = self._limits.max_body_bytes
                async for message in rpc:
                    messages.append(self._event(method, message, started))
                    left -= len(message)
                    if len(messages) >= MAX_MESSAGES or left < 0:
                        rpc.cancel()
                        ended = "capped"
                        break
            else:
                messages.append(self._event(method, await rpc, started))
        except grpc.aio.AioRpcError as error:
            trouble = self._trouble(error, call, time.perf_counter() - started, host)
            if trouble is not None:
                return trouble
        except DecodeError:
            return Reason(ReasonCode.PROTOCOL_ERROR, f"a message that is no {method.output_type.name}")
        status = await rpc.code()
        told = self._observer.stream(messages)
        return Response(
            headers=_texts_by_name(await rpc.initial_metadata()),
            body=told[0].data if told and not method.server_streaming else None,
            body_type="json" if told and not method.server_streaming else "empty",
            events=told if method.server_streaming else None,
            grpc=GrpcStatus(
                status=status.value[0],
                message=await rpc.details() or "",
                trailers=_texts_by_name(await rpc.trailing_metadata()),
            ),
            ended=ended,
        )

    def _trouble(self, error: grpc.aio.AioRpcError, call: Call, waited_s: float, host: str) -> Reason | None:
        """Why a status is none of the server's, or None where it may be its answer.

        A deadline that the call itself sets is what it is after; ours only bounds the wait, and has not passed where a
        server says earlier that its own has.
        """
        details = error.details() or ""
        made_up = any(words in details.lower() for words in MADE_UP)
        # The library makes up a status for trouble on the way, but hardly ever trailers: with those, a server spoke.
        if error.trailing_metadata() and not made_up:
            return None
        if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            ours = call.timeout_s is None and waited_s > self._limits.timeout_s - CLOCKS_DIFFER_BY_S
            return Reason(ReasonCode.READ_TIMEOUT, f"no answer within {self._limits.timeout_s:g} s") if ours else None
        if error.code() not in LOCAL_CODES and not made_up:
            return None
        found = next((code for words, code in LOCAL_TROUBLE if words in details.lower()), None)
        if found is None:
            return None
        # The library knows but the near end of its connection, which is never refused and of no name.
        befallen = self._relays[host].trouble
        if befallen is not None:
            return Reason(connecting_trouble(befallen), f"{host}: {befallen.strerror or 'timed out'}")
        return Reason(found, _NEAR_END.sub(host, details))

    async def _caller(self, host: str, method: MethodDescriptor) -> Callable[..., Any]:
        async with self._opening:
            channel = await self._channel(host)
        make = channel.unary_stream if method.server_streaming else channel.unary_unary
        return make(
            f"/{self._package}.{method.containing_service.name}/{method.name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=bytes,
        )

    async def _channel(self, host: str) -> grpc.aio.Channel:
        """The channel to a host: TLS, and plain text to loopback alone, since a key travels on it."""
        if host not in self._channels:
            name, port = _name_and_port(host)
            relay = self._relays[host] = Relay(name, port, self._limits.timeout_s)
            options: tuple[tuple[str, str | int], ...] = (
                ("grpc.enable_retries", 0),
                ("grpc.enable_http_proxy", 0),
                ("grpc.max_receive_message_length", self._limits.max_body_bytes),
                ("grpc.default_authority", host),
                # What waits in the machine is taken even when the connection is broken: a flood, for half a minute.
                ("grpc.tcp_receive_buffer_size", PIECE),
                ("grpc.experimental.tcp_max_read_chunk_size", PIECE),
            )
            near = await relay.open()
            if is_loopback(name):
                self._channels[host] = grpc.aio.insecure_channel(near, options=options)
            else:
                credentials = grpc.ssl_channel_credentials(self._authorities)
                options += (("grpc.ssl_target_name_override", name),)
                self._channels[host] = grpc.aio.secure_channel(near, credentials, options=options)
        return self._channels[host]

    def _event(self, method: MethodDescriptor, raw: bytes | None, started: float) -> Event:
        """A message as it came, decoded here because the library would hide that it cannot be.

        Raises:
            DecodeError: it is no message of the method's type, or there is none.
        """
        if raw is None:
            raise DecodeError("a call that ended well, and no message")
        message = _class_of(method.output_type).FromString(raw)
        data = json_format.MessageToDict(message, preserving_proto_field_name=True)
        return Event(method.output_type.name, data, ms_since(started))


def _texts_by_name(metadata: Iterable[tuple[str, str | bytes]] | None) -> dict[str, str]:
    """Metadata by name; what is binary in hexadecimal."""
    return {name: value if isinstance(value, str) else value.hex() for name, value in metadata or ()}


def method_at(path: str) -> MethodDescriptor:
    """The method at a path such as `/pd_api.Chat/GetCompletion`.

    Raises:
        KeyError: the .proto has no such service or method.
    """
    service, _, name = path.removeprefix("/").partition("/")
    found: MethodDescriptor = pd_pb2.DESCRIPTOR.services_by_name[service.rpartition(".")[2]].methods_by_name[name]
    return found


def _class_of(descriptor: Any) -> Any:
    return message_factory.GetMessageClass(descriptor)


def connecting_trouble(error: OSError) -> ReasonCode:
    """What befell a connection, by the error of the one who made it."""
    return next((code for kind, code in _TROUBLE if isinstance(error, kind)), ReasonCode.CONNECT_REFUSED)


_TROUBLE = (
    (TimeoutError, ReasonCode.CONNECT_TIMEOUT),
    (socket.gaierror, ReasonCode.NAME_UNRESOLVED),
    (ConnectionRefusedError, ReasonCode.CONNECT_REFUSED),
    (ConnectionError, ReasonCode.CONNECTION_RESET),
)

_NEAR_END = re.compile(r"(ipv4:)?127\.0\.0\.1:\d+")
"""How the library names the relay that it is connected to."""


def _host_in(url: str) -> str:
    return url.partition("/")[0]


def _name_and_port(host: str) -> tuple[str, int]:
    """`[::1]:50051` is `::1` and its port; where none is named it is that of TLS."""
    name, _, port = host.rpartition(":")
    return (name.strip("[]"), int(port)) if name and port.isdecimal() else (host.strip("[]"), TLS_PORT)
