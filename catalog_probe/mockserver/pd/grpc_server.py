"""PD's gRPC server, with the keys, limits and answers of HTTP (2:7.6).

The documents show none of them (1:4.4); these are the ones that the official client calls.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import grpc
import grpc.aio
from google.protobuf import json_format, message_factory
from google.protobuf.message import DecodeError
from starlette.requests import Request

from catalog_probe.mockserver.core import bodies
from catalog_probe.mockserver.core.arrivals import read_shown_body
from catalog_probe.mockserver.core.errors import Refusal
from catalog_probe.mockserver.core.faults import ENDPOINT
from catalog_probe.mockserver.core.generation import make_chat_chunks
from catalog_probe.mockserver.core.leniency import Leniency, apply_leniency
from catalog_probe.mockserver.core.scenarios import MockMisuse
from catalog_probe.mockserver.pd import completions, lookups
from catalog_probe.mockserver.pd.bodies import check_object
from catalog_probe.mockserver.pd.errors import GRPC_NUMBERS, NO_RPC_MESSAGE, NO_SCHEMA
from catalog_probe.mockserver.pd.fields import CHAT
from catalog_probe.mockserver.pd.gateway import Call, admit_call
from catalog_probe.mockserver.pd.generated import pd_pb2
from catalog_probe.mockserver.pd.models import EVERYWHERE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from google.protobuf.descriptor import MethodDescriptor
    from google.protobuf.message import Message
    from google.protobuf.timestamp_pb2 import Timestamp

    from catalog_probe.mockserver.core.world import Context, World
    from catalog_probe.mockserver.pd.models import Model


ROLES: Mapping[int, str] = {
    pd_pb2.ROLE_USER: "user",
    pd_pb2.ROLE_ASSISTANT: "assistant",
    pd_pb2.ROLE_SYSTEM: "system",
    pd_pb2.ROLE_FUNCTION: "function",
    pd_pb2.ROLE_TOOL: "tool",
    pd_pb2.ROLE_DEVELOPER: "developer",
}
EFFORTS: Mapping[int, str] = {
    pd_pb2.EFFORT_LOW: "low",
    pd_pb2.EFFORT_MEDIUM: "medium",
    pd_pb2.EFFORT_HIGH: "high",
    pd_pb2.EFFORT_NONE: "none",
}
TOOL_MODES: Mapping[int, str] = {
    pd_pb2.TOOL_MODE_AUTO: "auto",
    pd_pb2.TOOL_MODE_NONE: "none",
    pd_pb2.TOOL_MODE_REQUIRED: "required",
}
FINISH_REASONS: Mapping[str | None, pd_pb2.FinishReason] = {
    None: pd_pb2.REASON_INVALID,
    "stop": pd_pb2.REASON_STOP,
    "length": pd_pb2.REASON_MAX_LEN,
    "tool_calls": pd_pb2.REASON_TOOL_CALLS,
}
SCALAR_FIELDS = ("max_tokens", "n", "parallel_tool_calls", "temperature", "top_p")
"""Fields of a completion request that have the same name and value in JSON."""


def read_chat_body(request: pd_pb2.GetCompletionsRequest) -> dict[str, Any]:
    """Convert a completion request to a body of the chat endpoint.

    Raises:
        Refusal: a schema in it is no JSON.
    """
    body: dict[str, Any] = {name: getattr(request, name) for name in SCALAR_FIELDS if request.HasField(name)}
    if request.model:
        body["model"] = request.model
    if request.HasField("reasoning_effort"):
        body["reasoning_effort"] = EFFORTS.get(request.reasoning_effort, "")
    body["messages"] = [_read_message(message) for message in request.messages]
    if request.tools:
        body["tools"] = [_read_tool(tool.function) for tool in request.tools if tool.HasField("function")]
    if request.HasField("tool_choice"):
        choice = request.tool_choice
        function_choice = {"type": "function", "function": {"name": choice.function_name}}
        body["tool_choice"] = TOOL_MODES.get(choice.mode, "auto") if choice.mode else function_choice
    if request.response_format.format_type == pd_pb2.FORMAT_TYPE_JSON_OBJECT:
        body["response_format"] = {"type": "json_object"}
    elif request.response_format.format_type == pd_pb2.FORMAT_TYPE_JSON_SCHEMA:
        schema = _parse_json(request.response_format.schema, "response_format.schema")
        body["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
    return body


def _read_message(message: pd_pb2.Message) -> dict[str, Any]:
    body = {"role": ROLES.get(message.role, ""), "content": [{"text": part.text} for part in message.content]}
    if message.tool_calls:
        body["tool_calls"] = [{"function": {"name": tool_call.function.name}} for tool_call in message.tool_calls]
    return body


def _read_tool(function: pd_pb2.Function) -> dict[str, Any]:
    parameters = _parse_json(function.parameters or "{}", f"tools: the parameters of {function.name!r}")
    return {"type": "function", "function": {"name": function.name, "parameters": parameters}}


def _parse_json(text: str, field: str) -> Any:
    try:
        return bodies.loads(text)
    except ValueError as error:
        raise NO_SCHEMA(field=field, reason=error) from None


def make_completion(body: Mapping[str, Any]) -> pd_pb2.GetChatCompletionResponse:
    """Convert a chat completion to one message."""
    response = pd_pb2.GetChatCompletionResponse(
        id=body["id"],
        model=body["model"],
        outputs=[
            pd_pb2.CompletionOutput(
                finish_reason=FINISH_REASONS[choice["finish_reason"]],
                index=choice["index"],
                message=pd_pb2.CompletionMessage(**_make_message_fields(choice["message"])),
            )
            for choice in body["choices"]
        ],
        usage=_make_usage(body),
    )
    _set_created(response.created, body)
    return response


def make_completion_chunks(body: dict[str, Any]) -> Iterator[pd_pb2.GetChatCompletionChunk]:
    """Convert a completion to chunks; the last of a choice has the usage."""
    for chunk in make_chat_chunks(body, whole_calls=True):
        (choice,) = chunk["choices"]
        output = pd_pb2.CompletionOutputChunk(
            delta=pd_pb2.Delta(**_make_message_fields(choice["delta"])),
            index=choice["index"],
            finish_reason=FINISH_REASONS[choice["finish_reason"]],
        )
        message = pd_pb2.GetChatCompletionChunk(id=body["id"], model=body["model"], outputs=[output])
        if choice["finish_reason"] is not None:
            message.usage.CopyFrom(_make_usage(body))
        _set_created(message.created, body)
        yield message


def _set_created(timestamp: Timestamp, body: Mapping[str, Any]) -> None:
    timestamp.FromSeconds(body["created"])


def _make_message_fields(message: Mapping[str, Any]) -> dict[str, Any]:
    tool_calls = [
        pd_pb2.ToolCall(
            id=tool_call["id"],
            type=pd_pb2.TOOL_CALL_TYPE_CLIENT_SIDE_TOOL,
            status=pd_pb2.TOOL_CALL_STATUS_COMPLETED,
            function=pd_pb2.FunctionCall(**tool_call["function"]),
        )
        for tool_call in message.get("tool_calls", ())
    ]
    return {"content": message.get("content", ""), "role": pd_pb2.ROLE_ASSISTANT, "tool_calls": tool_calls}


def _make_usage(body: Mapping[str, Any]) -> pd_pb2.SamplingUsage:
    usage = body["usage"]
    return pd_pb2.SamplingUsage(
        prompt_tokens=usage["prompt_tokens"],
        prompt_text_tokens=usage["prompt_tokens"],
        completion_tokens=usage["completion_tokens"],
        total_tokens=usage["total_tokens"],
    )


@dataclass(frozen=True)
class Method:
    """A method's handler, and its name in ACLs; None admits any known key."""

    handler: Callable[[Call, Any], Iterable[Any]]
    acl: str | None


def _show_key(call: Call, request: Any) -> Iterable[Any]:
    key = call.key
    yield pd_pb2.ApiKey(
        redacted_api_key=f"...{key.secret[-4:]}",
        name=key.name,
        team_id=key.team.id,
        acls=key.acls,
        api_key_blocked=key.blocked,
        disabled=key.disabled,
        team_blocked=key.team.blocked,
    )


def _list_models(call: Call, request: Any) -> Iterable[Any]:
    models = [model for model in call.host.list_models(call.key.team) if not model.embedding]
    yield pd_pb2.ListLanguageModelsResponse(models=map(_describe, models))


def _get_model(call: Call, request: pd_pb2.GetModelRequest) -> Iterable[Any]:
    yield _describe(call.host.find(request.name, call.key.team))


def _tokenize(call: Call, request: pd_pb2.TokenizeTextRequest) -> Iterable[Any]:
    tokens = lookups.tokenize(call, request.text, request.model)
    token_messages = (pd_pb2.Token(**{**token, "token_bytes": bytes(token["token_bytes"])}) for token in tokens)
    yield pd_pb2.TokenizeTextResponse(tokens=token_messages, model=request.model)


def _complete(call: Call, request: pd_pb2.GetCompletionsRequest) -> Iterable[Any]:
    yield make_completion(_generate(call, request))


def _complete_in_chunks(call: Call, request: pd_pb2.GetCompletionsRequest) -> Iterable[Any]:
    return make_completion_chunks(_generate(call, request))


def _start_deferred(call: Call, request: pd_pb2.GetCompletionsRequest) -> Iterable[Any]:
    yield pd_pb2.StartDeferredResponse(request_id=completions.defer(call, _generate(call, request, deferred=True)))


def _fetch_deferred(call: Call, request: pd_pb2.GetDeferredRequest) -> Iterable[Any]:
    result = completions.take_result(call, request.request_id)
    if result is None:
        yield pd_pb2.GetDeferredCompletionResponse(status=pd_pb2.PENDING)
    else:
        yield pd_pb2.GetDeferredCompletionResponse(status=pd_pb2.DONE, response=make_completion(result))


METHODS: Mapping[tuple[str, str], Method] = {
    ("Auth", "get_api_key_info"): Method(_show_key, None),
    ("Models", "ListLanguageModels"): Method(_list_models, "models"),
    ("Models", "GetLanguageModel"): Method(_get_model, "models"),
    ("Tokenize", "TokenizeText"): Method(_tokenize, "tokenize"),
    ("Chat", "GetCompletion"): Method(_complete, "chat"),
    ("Chat", "GetCompletionChunk"): Method(_complete_in_chunks, "chat"),
    ("Chat", "StartDeferredCompletion"): Method(_start_deferred, "chat"),
    ("Chat", "GetDeferredCompletion"): Method(_fetch_deferred, "chat"),
}


def _describe(model: Model) -> pd_pb2.LanguageModel:
    message = pd_pb2.LanguageModel(name=model.id)
    message.created.FromSeconds(model.created)
    return message


def _generate(call: Call, request: pd_pb2.GetCompletionsRequest, *, deferred: bool = False) -> dict[str, Any]:
    """Check and generate a completion as the chat endpoint does."""
    unchecked_body = {**read_chat_body(request), "deferred": deferred}
    body = check_object(unchecked_body, CHAT, json.dumps(unchecked_body))
    return completions.describe_completion(call, body, completions.generate_chat_completion(call, body))


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
    unserved: Any = _UnservedMethods(world)
    server.add_generic_rpc_handlers((unserved,))
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


class _UnservedMethods:
    """The generic handler of every method that no other handler serves: it lists the call and refuses it."""

    def __init__(self, world: World) -> None:
        self._world = world

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> grpc.RpcMethodHandler[Any, Any]:
        """Return a handler that reads no message, so that the method may stream or not."""
        path = handler_call_details.method

        async def refuse(_: AsyncIterator[bytes], rpc: RpcContext) -> None:
            metadata = _read_metadata(rpc)
            try:
                context = self._world.open_context("pd", f"GRPC {path}", _select_mock_headers(metadata))
            except MockMisuse as error:
                await _abort(rpc, MISUSE, f"mock_error: {error}")
            context.session.scenario_queue.give_back(context.scenario)
            if context.session.arrivals is not None:
                context.session.arrivals.add(f"GRPC {path}", headers=metadata.items()).served = False
            await _abort(rpc, grpc.StatusCode.UNIMPLEMENTED, f"Method not found: {path}")

        return grpc.stream_stream_rpc_method_handler(refuse)


def _read_metadata(rpc: RpcContext) -> dict[str, str]:
    return {str(name): str(value) for name, value in rpc.invocation_metadata() or ()}


def _select_mock_headers(metadata: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in metadata.items() if name.startswith("x-mock-")}


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
        metadata = _read_metadata(rpc)
        try:
            context = self._world.open_context("pd", f"GRPC {self._path}", _select_mock_headers(metadata))
            self._list_arrival(context, metadata, message)
            await self._delay(context)
            answer = self._serve(self._make_call(context, metadata), message)
            _refuse_unused_scenario(context)
        except MockMisuse as error:
            await _abort(rpc, MISUSE, f"mock_error: {error}")
        except Refusal as refusal:
            context.session.scenario_queue.give_back(context.scenario)
            await _abort(rpc, STATUSES[GRPC_NUMBERS[refusal.row.status]], refusal.message)
        return answer

    def _list_arrival(self, context: Context, metadata: dict[str, str], message: bytes) -> None:
        if context.session.arrivals is None:
            return
        arrival = context.session.arrivals.add(f"GRPC {self._path}", headers=metadata.items())
        try:
            request = self._request_class.FromString(message)
        except DecodeError:
            arrival.body = read_shown_body(message)
        else:
            arrival.body = json_format.MessageToDict(request, preserving_proto_field_name=True)

    def _make_call(self, context: Context, metadata: dict[str, str]) -> Call:
        """Return the call as its HTTP/2 request is: a POST whose headers are the metadata."""
        headers = [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in metadata.items()]
        scope = {"type": "http", "method": "POST", "path": self._path, "headers": headers, "mock": context}
        return Call(request=Request(scope), host=EVERYWHERE)

    def _serve(self, call: Call, message: bytes) -> list[Message]:
        with apply_leniency(self._leniency):
            fault = call.context.take_fault(ENDPOINT, self._path, lambda row: row.status in GRPC_NUMBERS)
            if fault is not None:
                raise fault
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
