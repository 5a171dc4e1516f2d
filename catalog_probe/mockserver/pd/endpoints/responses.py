"""PD's responses, the only endpoint for multi-agent models (1:4.4)."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse

from catalog_probe.mockserver.core.completions import (
    make_output,
    make_response_events,
    make_response_usage,
    number_events,
)
from catalog_probe.mockserver.core.streams import encode_typed
from catalog_probe.mockserver.pd.access import admit_to_model
from catalog_probe.mockserver.pd.bodies import read_object
from catalog_probe.mockserver.pd.errors import NO_SUCH_FEATURE, NOT_OFFERED
from catalog_probe.mockserver.pd.fields import RESPONSE
from catalog_probe.mockserver.pd.generation import (
    Completion,
    complete,
    count_prompt_tokens,
    refuse_effort,
    text_of,
)
from catalog_probe.mockserver.pd.limits import admit_generation, settle_generation
from catalog_probe.mockserver.pd.scenarios import make_stream
from catalog_probe.mockserver.schema.requested_output import find_user_text, read_responses_request

if TYPE_CHECKING:
    from starlette.responses import Response

    from catalog_probe.mockserver.pd.gateway import Call

SERVER_TOOLS = ("web_search", "x_search", "code_interpreter")
"""Tools that run at the provider. A team may lack them: the documents do not say which features are restricted
(2:7.6 row 403)."""


async def create_response(call: Call) -> Response:
    """Generate a response, as one body or as a stream."""
    body = await read_object(call, RESPONSE)
    response = describe_response(call, body, generate(call, body))
    if not body.get("stream"):
        return JSONResponse(response)
    return make_stream(call, map(encode_typed, number_events(make_response_events(response))))


def generate(call: Call, body: dict[str, Any]) -> Completion:
    """Generate the answer to a checked body, within rights and limits."""
    model = call.host.find(body["model"], call.key.team)
    admit_to_model(call.key, model)
    refuse_effort(model, body.get("reasoning", {}).get("effort"))
    for tool in body.get("tools", ()):
        if tool.get("type") in SERVER_TOOLS and not call.key.team.server_tools:
            raise NO_SUCH_FEATURE(tool=tool["type"])
    messages = _read_messages(body["input"])
    requested = read_responses_request(body, *find_user_text(messages, text_of), NOT_OFFERED)
    admit_generation(call, model, count_prompt_tokens(messages))
    completion = complete(messages, body.get("max_output_tokens"), requested)
    settle_generation(call, model, completion.completion_tokens)
    return completion


def _read_messages(value: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    return [message for item in value if (message := _read_message(item)) is not None]


def _read_message(item: dict[str, Any]) -> dict[str, Any] | None:
    """Convert an item to a chat message; None if it has no text and no call."""
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


def describe_response(call: Call, body: dict[str, Any], completion: Completion) -> dict[str, Any]:
    """Return the response with the fields that clients need."""
    status = "incomplete" if completion.is_truncated else "completed"
    return {
        "id": call.session.new_id("resp_"),
        "object": "response",
        "created_at": int(call.now),
        "status": status,
        "error": None,
        "incomplete_details": {"reason": "max_output_tokens"} if completion.is_truncated else None,
        "model": body["model"],
        "output": make_output(call.session, completion.text, completion.calls, status),
        "parallel_tool_calls": body.get("parallel_tool_calls", True),
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools", []),
        "usage": make_response_usage(completion.prompt_tokens, completion.completion_tokens),
    }
