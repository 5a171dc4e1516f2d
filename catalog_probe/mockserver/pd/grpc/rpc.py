"""PD's gRPC front door: the same keys, models, limits and state as over HTTP, told in canonical statuses (2:7.6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import grpc
import grpc.aio
from google.protobuf import message_factory
from google.protobuf.message import DecodeError

from catalog_probe.mockserver.core.leniency import Leniency, holding
from catalog_probe.mockserver.core.scenarios import MockMisuse
from catalog_probe.mockserver.pd.auth.access import admit, identify
from catalog_probe.mockserver.pd.call import Call
from catalog_probe.mockserver.pd.causes import BEFORE_THE_CUT, CUT_MID_STREAM, raise_failure
from catalog_probe.mockserver.pd.errors import PdError, invalid
from catalog_probe.mockserver.pd.grpc.generated import pd_pb2
from catalog_probe.mockserver.pd.grpc.rpc_methods import METHODS, Method
from catalog_probe.mockserver.pd.models import EVERYWHERE

if TYPE_CHECKING:
    from google.protobuf.descriptor import MethodDescriptor
    from google.protobuf.message import Message

    from catalog_probe.mockserver.core.world import Context, World

Handler = Callable[[Any, Any], Any]
BreakOff = Callable[[str], None]
RpcContext = grpc.aio.ServicerContext[Any, Any]

STATUSES = {code.value[0]: code for code in grpc.StatusCode}

MISUSE = grpc.StatusCode.FAILED_PRECONDITION
"""What a client gets that misuses the mock itself: a status that the documents give to no cause of PD."""


async def start(world: World, package: str, break_off: BreakOff) -> int:
    """Serve on a free loopback port, and say which; `break_off` breaks the connection of a peer."""
    server = grpc.aio.server()
    for service in pd_pb2.DESCRIPTOR.services_by_name.values():
        handlers = {method.name: _handler(world, method, break_off) for method in service.methods}
        name = f"{package}.{service.name}"
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    world.at_the_end.append(partial(server.stop, None))  # which also holds the server: nobody else does
    return port


def _handler(world: World, descriptor: MethodDescriptor, break_off: BreakOff) -> grpc.RpcMethodHandler[Any, Any]:
    method = METHODS[descriptor.containing_service.name, descriptor.name]
    request_class = message_factory.GetMessageClass(descriptor.input_type)
    counted_as = f"GRPC /{descriptor.containing_service.name}/{descriptor.name}"
    streams = descriptor.server_streaming
    serve = _Served(world, method, request_class, counted_as, streams=streams, break_off=break_off)
    make = grpc.unary_stream_rpc_method_handler if streams else grpc.unary_unary_rpc_method_handler
    behaviour: Handler = serve.stream if streams else serve.unary
    return make(behaviour, response_serializer=lambda message: message.SerializeToString())


class _Served:
    """One method as the server calls it."""

    def __init__(
        self,
        world: World,
        method: Method,
        request_class: type[Message],
        counted_as: str,
        *,
        streams: bool,
        break_off: BreakOff,
    ) -> None:
        self._world = world
        self._request_class = request_class
        self._leniency = Leniency.of(world.settings["pd"])
        self._method = method
        self._counted_as = counted_as
        self._streams = streams
        self._break_off = break_off

    async def unary(self, request: bytes, rpc: RpcContext) -> Message:
        ((answer,), _) = await self._answer(request, rpc)
        return answer

    async def stream(self, request: bytes, rpc: RpcContext) -> AsyncIterator[Message]:
        answer, cut = await self._answer(request, rpc)
        for number, message in enumerate(answer):
            if cut and number == BEFORE_THE_CUT:
                await self._break(rpc)
            yield message

    async def _answer(self, request: bytes, rpc: RpcContext) -> tuple[list[Message], bool]:
        """Every message of the answer, and whether the connection breaks between them.

        A refusal ends the call with its status, a connection that is broken off without one.
        """
        metadata = {str(name): str(value) for name, value in rpc.invocation_metadata() or ()}
        mock_headers = {name: value for name, value in metadata.items() if name.startswith("x-mock-")}
        try:
            context = self._world.open("pd", self._counted_as, mock_headers)
            await self._inject_fault(context, rpc)
            if self._world.latency_s:
                await asyncio.sleep(self._world.latency_s)
            answer = self._serve(context, metadata.get("authorization"), request)
            cut = self._streams and context.take(CUT_MID_STREAM) is not None
            _refuse_unused_scenario(context)
        except MockMisuse as error:
            await _abort(rpc, MISUSE, f"mock_error: {error}")
        except PdError as error:
            context.session.next.give_back(context.scenario)
            await _abort(rpc, STATUSES[error.kind.grpc], error.message)
        return answer, cut

    def _serve(self, context: Context, authorization: str | None, request: bytes) -> list[Message]:
        """As the gateway does over HTTP: the key, its rights, the failure that any call can suffer, the method."""
        with holding(self._leniency):
            key = identify(authorization)
            if self._method.acl is not None:
                admit(key, self._method.acl)
            raise_failure(context)
            return list(self._method.handler(Call(context, EVERYWHERE, key), self._read(request)))

    def _read(self, request: bytes) -> Message:
        """The message that the client sent; one that cannot be read is a bad body as over HTTP (2:7.6)."""
        try:
            return self._request_class.FromString(request)
        except DecodeError:
            raise invalid("Failed to parse the request message.") from None

    async def _inject_fault(self, context: Context, rpc: RpcContext) -> None:
        """The faults of the mock that make sense here; the others are refused below as not acted upon."""
        fault = context.take("hang", "latency", "close_without_answer")
        if fault is None:
            return
        if fault.name == "close_without_answer":
            await self._break(rpc)
        await asyncio.sleep(fault.params["ms"] / 1000 if fault.name == "latency" else float("inf"))

    async def _break(self, rpc: RpcContext) -> NoReturn:
        """Break the connection that a call came by; nothing that is said afterwards can arrive."""
        self._break_off(rpc.peer())
        await asyncio.sleep(float("inf"))
        raise AssertionError("the call is cancelled with its connection")


async def _abort(rpc: RpcContext, status: grpc.StatusCode, message: str) -> NoReturn:
    abort: Callable[..., Awaitable[NoReturn]] = rpc.abort
    await abort(status, message)
    raise AssertionError("abort raises")


def _refuse_unused_scenario(context: Context) -> None:
    ignored = context.ignored
    if ignored is not None:
        raise MockMisuse(f"scenario {ignored!r} has nothing to act on here")
