"""The model behind the mock: answers a valid request in ways that the request itself decides.

It repeats what the user said, cut at `max_tokens` and at a stop sequence; uses the tool that `tool_choice` forces, with
an input made from its schema; thinks when thinking is on; and runs the server tools that the user's lines ask for (see
`mockserver/pa/server_tools.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mockserver.pa import server_tools
from mockserver.pa.conversation import last_user_text
from mockserver.pa.tokens import BYTES_PER_TOKEN, count_text, count_value
from mockserver.pa.tools import Tool, server_tool

if TYPE_CHECKING:
    from mockserver.pa.call import Call

MAX_ECHO = 200

_EXAMPLES: Mapping[str, Any] = {
    "string": "mock",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
    "null": None,
}


@dataclass
class Completion:
    """What the model said, and why it stopped."""

    content: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: str = "end_turn"
    stop_sequence: str | None = None
    stop_details: dict[str, Any] | None = None
    server_tool_use: dict[str, int] | None = None

    @property
    def output_tokens(self) -> int:
        """Tokens generated; even an empty answer has one."""
        return max(1, sum(map(count_value, self.content)))


def complete(call: Call, body: Mapping[str, Any]) -> Completion:
    """The model's answer to a valid request."""
    refusal = call.context.take("refusal")
    if refusal is not None:
        return _refuse(call, refusal.params["category"])
    completion = Completion()
    if body.get("thinking", {}).get("type") in ("enabled", "adaptive"):
        signature = call.session.new_id("", 32)
        completion.content.append({"type": "thinking", "thinking": "Let me think.", "signature": signature})
    used = server_tools.run(call, body)
    completion.content.extend(used.blocks)
    completion.server_tool_use = used.usage
    tool = _forced_tool(body)
    if tool is not None:
        completion.content.append(_tool_use(call, tool))
        completion.stop_reason = "tool_use"
    else:
        _speak(completion, body)
    return completion


def _refuse(call: Call, category: str) -> Completion:
    """HTTP 200 with stop_reason `refusal`: not an error (1:2.6, 1:6)."""
    details = {
        "type": "refusal",
        "category": category,
        "explanation": "The request was stopped by a safety classifier.",
        "fallback_credit_token": call.session.new_id("fct_"),
    }
    return Completion(stop_reason="refusal", stop_details=details)


def _speak(completion: Completion, body: Mapping[str, Any]) -> None:
    text = f"The mock heard: {last_user_text(body['messages'])[:MAX_ECHO]}"
    for sequence in body.get("stop_sequences", ()):
        before, found, _ = text.partition(sequence) if sequence else (text, "", "")
        if found:
            text, completion.stop_reason, completion.stop_sequence = before, "stop_sequence", sequence
    if count_text(text) > body["max_tokens"]:
        text = text.encode()[: body["max_tokens"] * BYTES_PER_TOKEN].decode("utf-8", "ignore")
        completion.stop_reason, completion.stop_sequence = "max_tokens", None
    completion.content.append({"type": "text", "text": text})


def _forced_tool(body: Mapping[str, Any]) -> Tool | None:
    """The client-side tool that the model must use, if any."""
    choice = body.get("tool_choice") or {}
    mine = [tool for tool in body.get("tools", ()) if server_tool(tool) is None]
    if choice.get("type") == "any" and mine:
        return dict(mine[0])
    if choice.get("type") == "tool":
        return next((tool for tool in mine if tool["name"] == choice["name"]), None)
    return None


def _tool_use(call: Call, tool: Tool) -> dict[str, Any]:
    schema = tool.get("input_schema", {})
    properties = schema.get("properties", {})
    given = {name: _example(properties.get(name, {})) for name in schema.get("required", ())}
    return {"type": "tool_use", "id": call.session.new_id("toolu_"), "name": tool["name"], "input": given}


def _example(schema: Mapping[str, Any]) -> Any:
    if schema.get("enum"):
        return schema["enum"][0]
    return _EXAMPLES.get(str(schema.get("type")))
