"""Conversion between gRPC messages and the JSON bodies of the chat endpoint."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core import strict_json
from catalog_probe.mockserver.core.completions import make_chat_chunks
from catalog_probe.mockserver.pd.errors import NO_SCHEMA
from catalog_probe.mockserver.pd.grpc.generated import pd_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from google.protobuf.timestamp_pb2 import Timestamp

ROLES: Mapping[int, str] = {
    pb.ROLE_USER: "user",
    pb.ROLE_ASSISTANT: "assistant",
    pb.ROLE_SYSTEM: "system",
    pb.ROLE_FUNCTION: "function",
    pb.ROLE_TOOL: "tool",
    pb.ROLE_DEVELOPER: "developer",
}
EFFORTS: Mapping[int, str] = {
    pb.EFFORT_LOW: "low",
    pb.EFFORT_MEDIUM: "medium",
    pb.EFFORT_HIGH: "high",
    pb.EFFORT_NONE: "none",
}
TOOL_MODES: Mapping[int, str] = {
    pb.TOOL_MODE_AUTO: "auto",
    pb.TOOL_MODE_NONE: "none",
    pb.TOOL_MODE_REQUIRED: "required",
}
FINISH_REASONS: Mapping[str | None, pb.FinishReason] = {
    None: pb.REASON_INVALID,
    "stop": pb.REASON_STOP,
    "length": pb.REASON_MAX_LEN,
    "tool_calls": pb.REASON_TOOL_CALLS,
}
SCALAR_FIELDS = ("max_tokens", "n", "parallel_tool_calls", "temperature", "top_p")
"""Fields of a completion request that have the same name and value in JSON."""


def read_chat_body(request: pb.GetCompletionsRequest) -> dict[str, Any]:
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
    if request.response_format.format_type == pb.FORMAT_TYPE_JSON_OBJECT:
        body["response_format"] = {"type": "json_object"}
    elif request.response_format.format_type == pb.FORMAT_TYPE_JSON_SCHEMA:
        schema = _parse_json(request.response_format.schema, "response_format.schema")
        body["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
    return body


def _read_message(message: pb.Message) -> dict[str, Any]:
    body = {"role": ROLES.get(message.role, ""), "content": [{"text": part.text} for part in message.content]}
    if message.tool_calls:
        body["tool_calls"] = [{"function": {"name": tool_call.function.name}} for tool_call in message.tool_calls]
    return body


def _read_tool(function: pb.Function) -> dict[str, Any]:
    parameters = _parse_json(function.parameters or "{}", f"tools: the parameters of {function.name!r}")
    return {"type": "function", "function": {"name": function.name, "parameters": parameters}}


def _parse_json(text: str, field: str) -> Any:
    try:
        return strict_json.loads(text)
    except ValueError as error:
        raise NO_SCHEMA(field=field, reason=error) from None


def make_completion(body: Mapping[str, Any]) -> pb.GetChatCompletionResponse:
    """Convert a chat completion to one message."""
    response = pb.GetChatCompletionResponse(
        id=body["id"],
        model=body["model"],
        outputs=[
            pb.CompletionOutput(
                finish_reason=FINISH_REASONS[choice["finish_reason"]],
                index=choice["index"],
                message=pb.CompletionMessage(**_make_message_fields(choice["message"])),
            )
            for choice in body["choices"]
        ],
        usage=_make_usage(body),
    )
    _set_created(response.created, body)
    return response


def make_completion_chunks(body: dict[str, Any]) -> Iterator[pb.GetChatCompletionChunk]:
    """Convert a completion to chunks; the last of a choice has the usage."""
    for chunk in make_chat_chunks(body, whole_calls=True):
        (choice,) = chunk["choices"]
        output = pb.CompletionOutputChunk(
            delta=pb.Delta(**_make_message_fields(choice["delta"])),
            index=choice["index"],
            finish_reason=FINISH_REASONS[choice["finish_reason"]],
        )
        message = pb.GetChatCompletionChunk(id=body["id"], model=body["model"], outputs=[output])
        if choice["finish_reason"] is not None:
            message.usage.CopyFrom(_make_usage(body))
        _set_created(message.created, body)
        yield message


def _set_created(timestamp: Timestamp, body: Mapping[str, Any]) -> None:
    timestamp.FromSeconds(body["created"])


def _make_message_fields(message: Mapping[str, Any]) -> dict[str, Any]:
    tool_calls = [
        pb.ToolCall(
            id=tool_call["id"],
            type=pb.TOOL_CALL_TYPE_CLIENT_SIDE_TOOL,
            status=pb.TOOL_CALL_STATUS_COMPLETED,
            function=pb.FunctionCall(**tool_call["function"]),
        )
        for tool_call in message.get("tool_calls", ())
    ]
    return {"content": message.get("content", ""), "role": pb.ROLE_ASSISTANT, "tool_calls": tool_calls}


def _make_usage(body: Mapping[str, Any]) -> pb.SamplingUsage:
    usage = body["usage"]
    return pb.SamplingUsage(
        prompt_tokens=usage["prompt_tokens"],
        prompt_text_tokens=usage["prompt_tokens"],
        completion_tokens=usage["completion_tokens"],
        total_tokens=usage["total_tokens"],
    )
