"""What is said over gRPC of a completion, as the bodies of the chat endpoint have it, and back."""

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
MODES: Mapping[int, str] = {
    pb.TOOL_MODE_AUTO: "auto",
    pb.TOOL_MODE_NONE: "none",
    pb.TOOL_MODE_REQUIRED: "required",
}
FINISHED: Mapping[str | None, pb.FinishReason] = {
    None: pb.REASON_INVALID,
    "stop": pb.REASON_STOP,
    "length": pb.REASON_MAX_LEN,
    "tool_calls": pb.REASON_TOOL_CALLS,
}
PLAIN = ("max_tokens", "n", "parallel_tool_calls", "temperature", "top_p")
"""Fields of a completion request that mean the same in JSON."""


def body_of(request: pb.GetCompletionsRequest) -> dict[str, Any]:
    """The body of a completion request.

    Raises:
        Refusal: a schema in it is no JSON.
    """
    body: dict[str, Any] = {name: getattr(request, name) for name in PLAIN if request.HasField(name)}
    if request.model:
        body["model"] = request.model
    if request.HasField("reasoning_effort"):
        body["reasoning_effort"] = EFFORTS.get(request.reasoning_effort, "")
    body["messages"] = [_message(message) for message in request.messages]
    if request.tools:
        body["tools"] = [_tool(tool.function) for tool in request.tools if tool.HasField("function")]
    if request.HasField("tool_choice"):
        named = {"type": "function", "function": {"name": request.tool_choice.function_name}}
        body["tool_choice"] = MODES.get(request.tool_choice.mode, "auto") if request.tool_choice.mode else named
    if request.response_format.format_type == pb.FORMAT_TYPE_JSON_OBJECT:
        body["response_format"] = {"type": "json_object"}
    elif request.response_format.format_type == pb.FORMAT_TYPE_JSON_SCHEMA:
        schema = _json(request.response_format.schema, "response_format.schema")
        body["response_format"] = {"type": "json_schema", "json_schema": {"schema": schema}}
    return body


def _message(message: pb.Message) -> dict[str, Any]:
    calls = [{"function": {"name": each.function.name}} for each in message.tool_calls]
    said = {"role": ROLES.get(message.role, ""), "content": [{"text": part.text} for part in message.content]}
    return {**said, "tool_calls": calls} if calls else said


def _tool(function: pb.Function) -> dict[str, Any]:
    parameters = _json(function.parameters or "{}", f"tools: the parameters of {function.name!r}")
    return {"type": "function", "function": {"name": function.name, "parameters": parameters}}


def _json(text: str, where: str) -> Any:
    try:
        return strict_json.loads(text)
    except ValueError as error:
        raise NO_SCHEMA(field=where, reason=error) from None


def completion(described: Mapping[str, Any]) -> pb.GetChatCompletionResponse:
    """A chat completion as one message."""
    whole = pb.GetChatCompletionResponse(
        **_head(described),
        outputs=[
            pb.CompletionOutput(
                finish_reason=FINISHED[choice["finish_reason"]],
                index=choice["index"],
                message=pb.CompletionMessage(**_said(choice["message"])),
            )
            for choice in described["choices"]
        ],
        usage=_usage(described),
    )
    _date(whole.created, described)
    return whole


def completion_chunks(described: dict[str, Any]) -> Iterator[pb.GetChatCompletionChunk]:
    """The same in the chunks in which it is streamed over HTTP; where one ends, it says what was used."""
    for chunk in make_chat_chunks(described, whole_calls=True):
        (choice,) = chunk["choices"]
        output = pb.CompletionOutputChunk(
            delta=pb.Delta(**_said(choice["delta"])),
            index=choice["index"],
            finish_reason=FINISHED[choice["finish_reason"]],
        )
        part = pb.GetChatCompletionChunk(**_head(described), outputs=[output])
        if choice["finish_reason"] is not None:
            part.usage.CopyFrom(_usage(described))
        _date(part.created, described)
        yield part


def _head(described: Mapping[str, Any]) -> dict[str, Any]:
    return {name: described[name] for name in ("id", "model")}


def _date(created: Timestamp, described: Mapping[str, Any]) -> None:
    created.FromSeconds(described["created"])


def _said(message: Mapping[str, Any]) -> dict[str, Any]:
    calls = [
        pb.ToolCall(
            id=each["id"],
            type=pb.TOOL_CALL_TYPE_CLIENT_SIDE_TOOL,
            status=pb.TOOL_CALL_STATUS_COMPLETED,
            function=pb.FunctionCall(**each["function"]),
        )
        for each in message.get("tool_calls", ())
    ]
    return {"content": message.get("content", ""), "role": pb.ROLE_ASSISTANT, "tool_calls": calls}


def _usage(described: Mapping[str, Any]) -> pb.SamplingUsage:
    used = described["usage"]
    return pb.SamplingUsage(
        prompt_tokens=used["prompt_tokens"],
        prompt_text_tokens=used["prompt_tokens"],
        completion_tokens=used["completion_tokens"],
        total_tokens=used["total_tokens"],
    )
