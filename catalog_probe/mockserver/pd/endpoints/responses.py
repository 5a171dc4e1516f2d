"""POST /v1/responses: the only place where multi-agent models are accepted (1:4.4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from catalog_probe.mockserver.pd.auth.access import admit_to_model
from catalog_probe.mockserver.pd.errors import denied, invalid
from catalog_probe.mockserver.pd.generation import rules
from catalog_probe.mockserver.pd.generation.generator import Completion, complete, prompt_tokens, said_last
from catalog_probe.mockserver.pd.generation.shape import (
    BOOLEAN,
    INTEGER,
    NUMBER,
    OBJECT,
    OBJECTS,
    STRING,
    STRING_OR_OBJECT,
    STRINGS,
    TEXT_OR_PARTS,
    needed,
    struct,
)
from catalog_probe.mockserver.pd.generation.streaming import response_stream
from catalog_probe.mockserver.pd.limits.rates import admit_generation, settle_generation
from catalog_probe.mockserver.pd.reading import read_object
from catalog_probe.mockserver.schema.wanted import of_response

if TYPE_CHECKING:
    from starlette.requests import Request

    from catalog_probe.mockserver.pd.call import Call

SHAPE = struct(
    model=needed(STRING),
    input=needed(TEXT_OR_PARTS),
    include=STRINGS,
    instructions=STRING,
    max_output_tokens=INTEGER,
    parallel_tool_calls=BOOLEAN,
    previous_response_id=STRING,
    reasoning=struct(effort=STRING),
    store=BOOLEAN,
    stream=BOOLEAN,
    temperature=NUMBER,
    text=OBJECT,
    tool_choice=STRING_OR_OBJECT,
    tools=OBJECTS,
    top_p=NUMBER,
    user=STRING,
)

SERVER_TOOLS = ("web_search", "x_search", "code_interpreter")


async def create(call: Call, request: Request) -> Response:
    """Generate a response, whole or streamed."""
    body = await read_object(request, SHAPE)
    response = _generate(call, body)
    return response_stream(call, request, response) if body.get("stream") else JSONResponse(response)


def _generate(call: Call, body: dict[str, Any]) -> dict[str, Any]:
    rules.require(body, "model", "input")
    model = call.host.find(body["model"], call.key.team)
    admit_to_model(call.key, model)
    messages = _conversation(body["input"])
    rules.check_effort(model, body.get("reasoning", {}).get("effort"))
    rules.within(body, "temperature", 0, 2)
    rules.within(body, "top_p", 0, 1)
    rules.within(body, "max_output_tokens", 1)
    _check_tools(call, body.get("tools", []))
    wanted = rules.wanted(of_response, body, *said_last(messages))
    admit_generation(call, model, prompt_tokens(messages))
    completion = complete(messages, body.get("max_output_tokens"), wanted)
    settle_generation(call, model, completion.completion_tokens)
    return described(call, body, completion)


def _conversation(given: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    messages = [message for item in given if (message := _as_message(item)) is not None]
    rules.check_conversation(messages)
    return messages


def _as_message(item: dict[str, Any]) -> dict[str, Any] | None:
    """An item of the input as a message of a chat would have it; None for what says nothing."""
    match item.get("type", "message"):
        case "message":
            return item
        case "function_call":
            return {"role": "assistant", "tool_calls": [{"function": {"name": item.get("name")}}]}
        case "function_call_output":
            output = item.get("output")
            return {"role": "tool", "content": output if isinstance(output, str) else json.dumps(output)}
        case _:
            return None


def _check_tools(call: Call, tools: list[dict[str, Any]]) -> None:
    """Tools that run at the provider are a feature that a team may lack (2:7.6 row 403)."""
    for tool in tools:
        if tool.get("type") not in (*SERVER_TOOLS, "function", "mcp", "file_search"):
            raise invalid(f"Unknown tool type {tool.get('type')!r}.")
        if tool["type"] in SERVER_TOOLS and not call.key.team.server_tools:
            raise denied(f"The tool {tool['type']} is not enabled for your team.")


def _output(call: Call, completion: Completion, status: str) -> list[dict[str, Any]]:
    """A call of each function that is called, or one message."""
    if completion.calls:
        return [_function_call(call, *each) for each in completion.calls]
    part = {"type": "output_text", "text": completion.text, "annotations": [], "logprobs": []}
    message = {"type": "message", "id": call.session.new_id("msg_"), "role": "assistant", "status": status}
    return [{**message, "content": [part]}]


def _function_call(call: Call, name: str, arguments: str) -> dict[str, Any]:
    ids = {"id": call.session.new_id("fc_"), "call_id": call.session.new_id("call_")}
    return {"type": "function_call", **ids, "name": name, "arguments": arguments, "status": "completed"}


def described(call: Call, body: dict[str, Any], completion: Completion) -> dict[str, Any]:
    """The response with the fields that clients validate."""
    status = "incomplete" if completion.cut else "completed"
    return {
        "id": call.session.new_id("resp_"),
        "object": "response",
        "created_at": int(call.now),
        "completed_at": int(call.now),
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if completion.cut else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "metadata": {},
        "model": body["model"],
        "output": _output(call, completion, status),
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": {"effort": body.get("reasoning", {}).get("effort"), "summary": None},
        "store": body.get("store", True),
        "temperature": body.get("temperature"),
        "text": body.get("text", {"format": {"type": "text"}}),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "top_p": body.get("top_p"),
        "usage": {
            "input_tokens": completion.prompt_tokens,
            "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
            "output_tokens": completion.completion_tokens,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": completion.prompt_tokens + completion.completion_tokens,
        },
    }
