"""PD over gRPC beyond what the records compare: chunks, deferred results, tools, misuse (1:4.4, 2:7.6)."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import grpc
import grpc.aio
import pytest
from google.protobuf import message_factory

from catalog_probe.mockserver.app import create_app
from catalog_probe.mockserver.pd.generated import pd_pb2 as pb
from catalog_probe.mockserver.pd.provider import listen

if TYPE_CHECKING:
    from collections.abc import Iterator


COMPLETION = pb.GetCompletionsRequest(
    model="mock-small", messages=[pb.Message(role=pb.ROLE_USER, content=[pb.Content(text="Hello")])]
)


class Unreadable:
    """Serializes to bytes that are no message."""

    def SerializeToString(self) -> bytes:  # noqa: N802
        return b"\xff\xff"


class Rpc:
    """Calls methods one by one, as `Service/Method`, on a mock of its own."""

    def __init__(self, loop: asyncio.Runner, host: str) -> None:
        self._loop = loop
        self._host = host

    def call(
        self,
        path: str,
        request: Any = None,
        *,
        key: str | None = "mock-pd-inference",
        package: str = "pd_api",
        **mock: str,
    ) -> list[Any]:
        """Every message of the answer."""
        return self._loop.run(self._call(path, request, key, package, mock))

    def status(self, *args: Any, **kwargs: Any) -> int:
        """The status number of a call that is refused."""
        with pytest.raises(grpc.aio.AioRpcError) as raised:
            self.call(*args, **kwargs)
        return int(raised.value.code().value[0])

    async def _call(self, path: str, request: Any, key: str | None, package: str, mock: dict[str, str]) -> list[Any]:
        service, name = path.split("/")
        method = pb.DESCRIPTOR.services_by_name[service].methods_by_name[name]
        metadata = [(f"x-mock-{header}", value) for header, value in mock.items()]
        metadata += [("authorization", f"Bearer {key}")] if key is not None else []
        request = request or message_factory.GetMessageClass(method.input_type)()
        answer = message_factory.GetMessageClass(method.output_type)
        async with grpc.aio.insecure_channel(self._host) as channel:
            make: Any = channel.unary_stream if method.server_streaming else channel.unary_unary
            rpc = make(f"/{package}.{path}", lambda message: message.SerializeToString(), answer.FromString)
            call = rpc(request, metadata=tuple(metadata), timeout=10)
            return [message async for message in call] if method.server_streaming else [await call]


@pytest.fixture
def rpc() -> Iterator[Rpc]:
    with asyncio.Runner() as loop:
        world = create_app(only=["pd"]).world
        yield Rpc(loop, loop.run(listen(world, "127.0.0.1"))["grpc_host"])
        loop.run(world.close())


def test_it_shows_the_key(rpc: Rpc) -> None:
    (key,) = rpc.call("Auth/get_api_key_info", key="mock-pd-blocked")
    assert (key.api_key_blocked, key.disabled, key.team_blocked) == (True, False, False)


def test_a_completion_comes_at_once_and_in_chunks(rpc: Rpc) -> None:
    (completion,) = rpc.call("Chat/GetCompletion", COMPLETION)
    assert completion.outputs[0].message.content == "The mock heard: Hello"
    chunks = rpc.call("Chat/GetCompletionChunk", COMPLETION)
    assert "".join(chunk.outputs[0].delta.content for chunk in chunks) == "The mock heard: Hello"
    assert chunks[-1].usage.total_tokens == completion.usage.total_tokens


def test_a_deferred_result_is_pending_then_ready_once(rpc: Rpc) -> None:
    (started,) = rpc.call("Chat/StartDeferredCompletion", COMPLETION)
    fetch = pb.GetDeferredRequest(request_id=started.request_id)
    assert rpc.call("Chat/GetDeferredCompletion", fetch)[0].status == pb.PENDING
    (done,) = rpc.call("Chat/GetDeferredCompletion", fetch, clock="+1m")
    assert (done.status, done.response.outputs[0].finish_reason) == (pb.DONE, pb.REASON_STOP)
    assert rpc.status("Chat/GetDeferredCompletion", fetch, clock="+1m") == 5


@pytest.mark.parametrize(("key", "status"), [("mock-pd-inference", 3), (None, 16)])
def test_bytes_that_are_no_message_are_an_invalid_argument_of_who_has_a_key(
    rpc: Rpc, key: str | None, status: int
) -> None:
    assert rpc.status("Chat/GetCompletion", Unreadable(), key=key) == status


def test_another_package_has_no_methods(rpc: Rpc) -> None:
    assert rpc.status("Models/ListLanguageModels", package="another") == 12


def test_a_limit_lets_one_through_and_sessions_have_their_own(rpc: Rpc) -> None:
    for session in ("one", "two"):
        assert rpc.call("Chat/GetCompletion", COMPLETION, key="mock-pd-tight", session=session)
        assert rpc.status("Chat/GetCompletion", COMPLETION, key="mock-pd-tight", session=session) == 8


@pytest.mark.parametrize(
    "mock", [{"scenario": "no_such_scenario"}, {"scenario": "close_without_answer"}, {"clock": "yesterday"}]
)
def test_misuse_of_the_mock_is_none_of_the_documented_statuses(rpc: Rpc, mock: dict[str, str]) -> None:
    with pytest.raises(grpc.aio.AioRpcError, match="mock_error") as raised:
        rpc.call("Models/ListLanguageModels", **mock)
    assert raised.value.code() is grpc.StatusCode.FAILED_PRECONDITION


WEATHER = '{"type": "object", "properties": {"unit": {"enum": ["c"]}}, "required": ["unit"]}'
OFFERED = [pb.Tool(function=pb.Function(name=name, parameters=WEATHER)) for name in ("sun", "rain")]
CALLED = [("sun", {"unit": "c"}), ("rain", {"unit": "c"})]


def ask(text: str, **fields: Any) -> pb.GetCompletionsRequest:
    message = pb.Message(role=pb.ROLE_USER, content=[pb.Content(text=text)])
    return pb.GetCompletionsRequest(model="mock-small", messages=[message], **fields)


def complete(rpc: Rpc, request: pb.GetCompletionsRequest) -> tuple[list[tuple[str, Any]], str, int]:
    """Return calls, text and finish reason of a completion, which are the same as one message and in chunks."""
    (completion,) = rpc.call("Chat/GetCompletion", request)
    outputs = [output for chunk in rpc.call("Chat/GetCompletionChunk", request) for output in chunk.outputs]
    functions = [tool_call.function for tool_call in completion.outputs[0].message.tool_calls]
    calls = [(function.name, json.loads(function.arguments)) for function in functions]
    streamed = [tool_call.function for output in outputs for tool_call in output.delta.tool_calls]
    assert [(function.name, json.loads(function.arguments)) for function in streamed] == calls
    text = completion.outputs[0].message.content
    assert "".join(output.delta.content for output in outputs) == text
    assert outputs[-1].finish_reason == completion.outputs[0].finish_reason
    return calls, text, completion.outputs[0].finish_reason


@pytest.mark.parametrize(
    ("text", "fields", "calls"),
    [
        ("sun and rain", {}, CALLED),
        ("sun and rain", {"parallel_tool_calls": False}, CALLED[:1]),
        ("sun and rain", {"tool_choice": pb.ToolChoice(mode=pb.TOOL_MODE_NONE)}, []),
        ("hello", {"tool_choice": pb.ToolChoice(mode=pb.TOOL_MODE_REQUIRED)}, CALLED[:1]),
        ("hello", {"tool_choice": pb.ToolChoice(function_name="rain")}, CALLED[1:]),
    ],
)
def test_the_request_decides_which_functions_are_called(rpc: Rpc, text: str, fields: Any, calls: Any) -> None:
    actual_calls, answer, finish_reason = complete(rpc, ask(text, tools=OFFERED, **fields))
    assert actual_calls == calls
    assert (answer == "", finish_reason) == ((True, pb.REASON_TOOL_CALLS) if calls else (False, pb.REASON_STOP))


def test_after_the_results_of_a_tool_the_model_speaks_of_them(rpc: Rpc) -> None:
    request = ask("sun", tools=OFFERED)
    tool_call = pb.Message(role=pb.ROLE_ASSISTANT, tool_calls=[pb.ToolCall(function=pb.FunctionCall(name="sun"))])
    result = pb.Message(role=pb.ROLE_TOOL, content=[pb.Content(text="it shines")])
    request.messages.extend([tool_call, result])
    assert complete(rpc, request) == ([], "The mock heard: it shines", pb.REASON_STOP)


@pytest.mark.parametrize(
    ("response_format", "keys"),
    [
        (pb.ResponseFormat(format_type=pb.FORMAT_TYPE_JSON_SCHEMA, schema=WEATHER), {"unit"}),
        (pb.ResponseFormat(format_type=pb.FORMAT_TYPE_JSON_OBJECT), {"heard"}),
    ],
)
def test_structured_output_follows_the_schema(rpc: Rpc, response_format: pb.ResponseFormat, keys: set[str]) -> None:
    _, text, _ = complete(rpc, ask("hello", response_format=response_format))
    assert json.loads(text).keys() == keys


@pytest.mark.parametrize(
    "fields",
    [
        {"tools": [pb.Tool(function=pb.Function(name="sun", parameters="{"))]},
        {"tools": OFFERED, "tool_choice": pb.ToolChoice(function_name="snow")},
        {"response_format": pb.ResponseFormat(format_type=pb.FORMAT_TYPE_JSON_SCHEMA, schema="no JSON")},
    ],
)
def test_a_schema_that_is_none_is_an_invalid_argument(rpc: Rpc, fields: dict[str, Any]) -> None:
    assert rpc.status("Chat/GetCompletion", ask("sun", **fields)) == 3
