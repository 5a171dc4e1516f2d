"""Makes gRPC calls, and observes messages, status and trailers."""

from __future__ import annotations

import asyncio
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
from catalog_probe.probes.wire.body import describe_binary
from catalog_probe.probes.wire.generated import pd_pb2
from catalog_probe.probes.wire.grpc_trouble import (
    classify_connect_error,
    find_local_reason,
    is_server_status,
    name_host,
)
from catalog_probe.probes.wire.observer import Observer
from catalog_probe.probes.wire.relay import PIECE, Relay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from google.protobuf.descriptor import MethodDescriptor

    from catalog_probe.probes.calls.call import Call
    from catalog_probe.probes.wire.address import Origin
    from catalog_probe.probes.wire.http import Limits

MAX_MESSAGES = 2_000

# Seconds that the library may take to report that its deadline has passed.
LATENESS_S = 1.0

# By how many seconds the library's clock and ours may differ.
CLOCK_DIFFERENCE_S = 0.05

# The port of a host that names none.
TLS_PORT = 443

# The package as recipes write it; a target sets the real one.
STAND_IN = pd_pb2.DESCRIPTOR.package


class GrpcWire:
    """The gRPC channels of one lane, without retries of their own.

    They are made in the loop that uses them.
    """

    def __init__(self, package: str, limits: Limits, *, ca_file: str = "") -> None:
        self._package = package or STAND_IN
        self._observer = Observer()
        self._limits = limits
        self._authorities = Path(ca_file).read_bytes() if ca_file else None
        self._channels: dict[str, grpc.aio.Channel] = {}
        self._relays: dict[str, Relay] = {}
        self._running_calls: Counter[str] = Counter()
        """The number of calls at each host: they share its connection."""
        self._channel_lock = asyncio.Lock()

    @staticmethod
    def read_origin(url: str) -> Origin:
        """Return where a call goes; its host alone decides about TLS."""
        return "", *_split_host(_host_of(url))

    async def exchange(self, call: Call, url: str, headers: Mapping[str, str], label: str, since: float) -> Exchange:
        """Make the call whose host and method path `url` names.

        `headers` is its metadata.

        Never raises for what the network or the server does: a missing answer is an exchange with a failure.
        """
        started = time.perf_counter()
        outcome = await self._send(call, _host_of(url), headers, started)
        body = call.body.value if isinstance(call.body, JsonBody) else None
        request = self._observer.make_request(call.method, url, headers, body)
        return self._observer.make_exchange(label, request, outcome, started=started, since=since)

    async def aclose(self) -> None:
        """Close every channel."""
        for relay in self._relays.values():
            await relay.aclose()
        for channel in self._channels.values():
            await channel.close(None)

    async def _send(self, call: Call, host: str, headers: Mapping[str, str], started: float) -> Response | Reason:
        method = find_method(call.path)
        fields = call.body.value if isinstance(call.body, JsonBody) else {}
        request = json_format.ParseDict(fields, _message_class(method.input_type)())
        make_call = await self._get_caller(host, method)
        timeout_s = call.timeout_s or self._limits.timeout_s
        self._running_calls[host] += 1
        rpc = make_call(request, timeout=timeout_s, metadata=tuple(headers.items()))
        try:
            # The library keeps its deadline, unless a flood of frames leaves it no time to.
            async with asyncio.timeout(timeout_s + LATENESS_S):
                outcome = await self._observe(call, method, rpc, started, host)
        except TimeoutError:
            rpc.cancel()
            outcome = Reason(ReasonCode.READ_TIMEOUT, f"no answer within {timeout_s:g} s")
        finally:
            self._running_calls[host] -= 1
        if isinstance(outcome, Reason) and not self._running_calls[host]:
            # What keeps the library from ending a call would also keep it from closing the channel.
            self._relays[host].abort()
        return outcome

    async def _observe(
        self, call: Call, method: MethodDescriptor, rpc: Any, started: float, host: str
    ) -> Response | Reason:
        messages: list[Event] = []
        ended = "complete"
        try:
            if method.server_streaming:
                bytes_left = self._limits.max_body_bytes
                async for message in rpc:
                    messages.append(self._decode_message(method, message, started))
                    bytes_left -= len(message)
                    if len(messages) >= MAX_MESSAGES or bytes_left < 0:
                        rpc.cancel()
                        ended = "capped"
                        break
            else:
                messages.append(self._decode_message(method, await rpc, started))
        except grpc.aio.AioRpcError as error:
            trouble = self._find_trouble(error, call, time.perf_counter() - started, host)
            if trouble is not None:
                return trouble
        except DecodeError:
            return Reason(ReasonCode.PROTOCOL_ERROR, f"a message that is no {method.output_type.name}")
        status = await rpc.code()
        events = self._observer.translate_events(messages)
        has_body = bool(events) and not method.server_streaming
        return Response(
            headers=_join_metadata(await rpc.initial_metadata()),
            body=events[0].data if has_body else None,
            body_type="json" if has_body else "empty",
            events=events if method.server_streaming else None,
            grpc=GrpcStatus(
                status=status.value[0],
                message=await rpc.details() or "",
                trailers=_join_metadata(await rpc.trailing_metadata()),
            ),
            ended=ended,
        )

    def _find_trouble(self, error: grpc.aio.AioRpcError, call: Call, waited_s: float, host: str) -> Reason | None:
        """Return why a status is not the server's, or None if it may be its answer."""
        if is_server_status(error):
            return None
        if error.code() is grpc.StatusCode.DEADLINE_EXCEEDED:
            # A call with a deadline of its own expects this status. Our deadline only bounds the wait; if it has not
            # passed yet, the status is about the server's.
            limit_s = self._limits.timeout_s
            is_ours = call.timeout_s is None and waited_s > limit_s - CLOCK_DIFFERENCE_S
            return Reason(ReasonCode.READ_TIMEOUT, f"no answer within {limit_s:g} s") if is_ours else None
        code = find_local_reason(error)
        if code is None:
            return None
        # The library is connected to our relay, which never refuses; only the relay knows about the host.
        connect_error = self._relays[host].connect_error
        if connect_error is not None:
            detail = f"{host}: {connect_error.strerror or 'timed out'}"
            return Reason(classify_connect_error(connect_error), detail)
        return Reason(code, name_host(error.details() or "", host))

    async def _get_caller(self, host: str, method: MethodDescriptor) -> Callable[..., Any]:
        async with self._channel_lock:
            channel = await self._get_channel(host)
        make_caller = channel.unary_stream if method.server_streaming else channel.unary_unary
        return make_caller(
            f"/{self._package}.{method.containing_service.name}/{method.name}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=bytes,
        )

    async def _get_channel(self, host: str) -> grpc.aio.Channel:
        """Return the channel to a host.

        Plain text goes to loopback only, because a key travels on it.
        """
        if host not in self._channels:
            name, port = _split_host(host)
            relay = self._relays[host] = Relay(name, port, self._limits.timeout_s)
            options: tuple[tuple[str, str | int], ...] = (
                ("grpc.enable_retries", 0),
                ("grpc.enable_http_proxy", 0),
                ("grpc.max_receive_message_length", self._limits.max_body_bytes),
                ("grpc.default_authority", host),
                # The library reads on from a broken connection what is buffered: of a flood, for half a minute.
                ("grpc.tcp_receive_buffer_size", PIECE),
                ("grpc.experimental.tcp_max_read_chunk_size", PIECE),
            )
            relay_address = await relay.open()
            if is_loopback(name):
                self._channels[host] = grpc.aio.insecure_channel(relay_address, options=options)
            else:
                credentials = grpc.ssl_channel_credentials(self._authorities)
                options += (("grpc.ssl_target_name_override", name),)
                self._channels[host] = grpc.aio.secure_channel(relay_address, credentials, options=options)
        return self._channels[host]

    def _decode_message(self, method: MethodDescriptor, raw: bytes | None, started: float) -> Event:
        """Decode a message as it came; the library would hide that it cannot be decoded.

        Raises:
            DecodeError: it is no message of the method's type, or there is none.
        """
        if raw is None:
            raise DecodeError("a call that ended well, and no message")
        message = _message_class(method.output_type).FromString(raw)
        data = json_format.MessageToDict(message, preserving_proto_field_name=True)
        return Event(method.output_type.name, data, ms_since(started))


def find_method(path: str) -> MethodDescriptor:
    """Return the method at a path such as `/pd_api.Chat/GetCompletion`.

    Raises:
        KeyError: the .proto has no such service or method.
    """
    service, _, name = path.removeprefix("/").partition("/")
    method: MethodDescriptor = pd_pb2.DESCRIPTOR.services_by_name[service.rpartition(".")[2]].methods_by_name[name]
    return method


def _join_metadata(metadata: Iterable[tuple[str, str | bytes]] | None) -> dict[str, str]:
    """Return metadata by name. Of a binary value only size and digest are kept: it may be a packed key."""
    return {name: value if isinstance(value, str) else describe_binary(value) for name, value in metadata or ()}


def _message_class(descriptor: Any) -> Any:
    return message_factory.GetMessageClass(descriptor)


def _host_of(url: str) -> str:
    return url.partition("/")[0]


def _split_host(host: str) -> tuple[str, int]:
    """Split `[::1]:50051` into `::1` and its port; without a port it is that of TLS."""
    name, _, port = host.rpartition(":")
    return (name.strip("[]"), int(port)) if name and port.isdecimal() else (host.strip("[]"), TLS_PORT)
