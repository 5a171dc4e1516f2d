"""PD's gRPC server, with the keys, limits and state of HTTP (2:7.6)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import grpc
import grpc.aio
from google.protobuf import message_factory
from google.protobuf.message import DecodeError
from starlette.requests import Request

from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.leniency import Leniency, apply_leniency
from catalog_probe.mockserver.core.scenarios import MockMisuse
from catalog_probe.mockserver.pd.errors import GRPC_NUMBERS, NO_RPC_MESSAGE
from catalog_probe.mockserver.pd.gateway import Call, admit_call
from catalog_probe.mockserver.pd.grpc.generated import pd_pb2
from catalog_probe.mockserver.pd.grpc.rpc_methods import METHODS, Method
from catalog_probe.mockserver.pd.models import EVERYWHERE

if TYPE_CHECKING:
    from google.protobuf.descriptor import MethodDescriptor
    from google.protobuf.message import Message

    from catalog_probe.mockserver.core.world import Context, World

RpcContext = grpc.aio.ServicerContext[Any, Any]

STATUSES = {code.value[0]: code for code in grpc.StatusCode}

MISUSE = grpc.StatusCode.FAILED_PRECONDITION
"""Status for a misuse of the mock itself: the documents give it to no error of PD."""


async def start(world: World, package: str, host: str) -> int:
    """Serve on a free port of the host, and return the port."""
    server = grpc.aio.server()
    for service in pd_pb2.DESCRIPTOR.services_by_name.values():
        handlers = {method.name: _make_handler(world, method) for method in service.methods}
        name = f"{package}.{service.name}"
        server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))
    port = server.add_insecure_port(f"{host}:0")
    await server.start()
    world.cleanups.append(partial(server.stop, None))  # which also holds the server: nobody else does
    return port


def _make_handler(world: World, descriptor: MethodDescriptor) -> grpc.RpcMethodHandler[Any, Any]:
    method = _ServedMethod(world, descriptor)
    make: Any = grpc.unary_unary_rpc_method_handler
    behaviour: Any = method.answer_once
    if descriptor.server_streaming:
        make, behaviour = grpc.unary_stream_rpc_method_handler, method.answer_stream
    handler: grpc.RpcMethodHandler[Any, Any] = make(
        behaviour, response_serializer=lambda message: message.SerializeToString()
    )
    return handler


class _ServedMethod:
    """The two behaviours that the gRPC server may call for a method."""

    def __init__(self, world: World, descriptor: MethodDescriptor) -> None:
        self._world = world
        self._leniency = Leniency.from_settings(world.settings["pd"])
        self._path = f"/{descriptor.containing_service.name}/{descriptor.name}"
        self._method: Method = METHODS[descriptor.containing_service.name, descriptor.name]
        self._request_class: type[Message] = message_factory.GetMessageClass(descriptor.input_type)

    async def answer_once(self, message: bytes, rpc: RpcContext) -> Message:
        (answer,) = await self._answer(message, rpc)
        return answer

    async def answer_stream(self, message: bytes, rpc: RpcContext) -> AsyncIterator[Message]:
        for answer in await self._answer(message, rpc):
            yield answer

    async def _answer(self, message: bytes, rpc: RpcContext) -> list[Message]:
        """Return every message of the answer; a refusal ends the call with its status."""
        metadata = {str(name): str(value) for name, value in rpc.invocation_metadata() or ()}
        mock_headers = {name: value for name, value in metadata.items() if name.startswith("x-mock-")}
        try:
            context = self._world.open_context("pd", f"GRPC {self._path}", mock_headers)
            await self._delay(context)
            answer = self._serve(self._make_call(context, metadata), message)
            _refuse_unused_scenario(context)
        except MockMisuse as error:
            await _abort(rpc, MISUSE, f"mock_error: {error}")
        except Refusal as refusal:
            context.session.scenario_queue.give_back(context.scenario)
            await _abort(rpc, STATUSES[GRPC_NUMBERS[refusal.row.status]], refusal.message)
        return answer

    def _make_call(self, context: Context, metadata: dict[str, str]) -> Call:
        """Return the call as its HTTP/2 request is: a POST whose headers are the metadata."""
        headers = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in metadata.items()]
        scope = {"type": "http", "method": "POST", "path": self._path, "headers": headers, "mock": context}
        return Call(request=Request(scope), host=EVERYWHERE)

    def _serve(self, call: Call, message: bytes) -> list[Message]:
        with apply_leniency(self._leniency):
            admit_call(call, self._method.acl)
            try:
                request = self._request_class.FromString(message)
            except DecodeError:  # a bad body as over HTTP (2:7.6)
                raise NO_RPC_MESSAGE() from None
            return list(self._method.handler(call, request))

    async def _delay(self, context: Context) -> None:
        """Apply the faults that make sense over gRPC; others count as unused."""
        fault = context.take("hang", "latency")
        if fault is not None:
            await asyncio.sleep(fault.params["ms"] / 1000 if fault.name == "latency" else float("inf"))
        if self._world.latency_s:
            await asyncio.sleep(self._world.latency_s)


async def _abort(rpc: RpcContext, status: grpc.StatusCode, message: str) -> NoReturn:
    abort: Callable[..., Awaitable[NoReturn]] = rpc.abort
    await abort(status, message)
    raise AssertionError("abort raises")


def _refuse_unused_scenario(context: Context) -> None:
    scenario_name = context.release_scenario()
    if scenario_name is not None:
        raise MockMisuse(f"scenario {scenario_name!r} has nothing to act on here")
