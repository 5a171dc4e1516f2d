"""PA's model: answers a valid request in ways that the request itself decides.

It repeats the user's text, cut at `max_tokens` and at a stop sequence. It uses the tools that `tool_choice` forces or
the user names, with an input made from their schema. It follows a schema of the text, thinks if thinking is on, and
uses the server tools that the user's lines ask for (`server_tools.py`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens, echo_text, truncate_text
from catalog_probe.mockserver.pa.generation import server_tools
from catalog_probe.mockserver.pa.generation.conversation import last_user_text, tools_used_since
from catalog_probe.mockserver.pa.generation.tokens import count_value
from catalog_probe.mockserver.pa.generation.tools import client_tools
from catalog_probe.mockserver.schema.requested_output import RequestedOutput

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.pa.call import Call


@dataclass
class Completion:
    """The content of an answer, and why the model stopped."""

    content: list[dict[str, Any]] = field(default_factory=list)
    stop_reason: str = "end_turn"
    stop_sequence: str | None = None
    stop_details: dict[str, Any] | None = None
    server_tool_use: dict[str, int] | None = None

    @property
    def output_tokens(self) -> int:
        """The tokens generated; even an empty answer has one."""
        return max(1, sum(map(count_value, self.content)))


def complete(call: Call, body: Mapping[str, Any]) -> Completion:
    """Make the model's answer to a valid request."""
    refusal = call.context.take("refusal")
    if refusal is not None:
        return refuse(call, refusal.params["category"])
    completion = Completion()
    if body.get("thinking", {}).get("type") in ("enabled", "adaptive"):
        signature = call.session.new_id("", 32)
        completion.content.append({"type": "thinking", "thinking": "Let me think.", "signature": signature})
    uses = server_tools.run(call, body)
    completion.content.extend(uses.blocks)
    completion.server_tool_use = uses.usage
    output = _read_requested_output(body)
    completion.content += [_make_tool_use(call, name, arguments) for name, arguments in output.make_calls()]
    text = output.make_text() or echo_text(output.user_text)
    if completion.content and completion.content[-1]["type"] == "tool_use":
        completion.stop_reason = "tool_use"
    else:
        _add_text(completion, text, body)
    return completion


def refuse(call: Call, category: str) -> Completion:
    """Make the answer with stop_reason `refusal`, which is no error (1:2.6, 1:6)."""
    details = {
        "type": "refusal",
        "category": category,
        "explanation": "The request was stopped by a safety classifier.",
        "fallback_credit_token": call.session.new_id("fct_"),
    }
    return Completion(stop_reason="refusal", stop_details=details)


def _add_text(completion: Completion, text: str, body: Mapping[str, Any]) -> None:
    for sequence in body.get("stop_sequences", ()):
        before, stop, _ = text.partition(sequence) if sequence else (text, "", "")
        if stop:
            text, completion.stop_reason, completion.stop_sequence = before, "stop_sequence", sequence
    if count_tokens(text) > body["max_tokens"]:
        text = truncate_text(text, body["max_tokens"])
        completion.stop_reason, completion.stop_sequence = "max_tokens", None
    completion.content.append({"type": "text", "text": text})


def _read_requested_output(body: Mapping[str, Any]) -> RequestedOutput:
    """Read `tools`, `tool_choice` and `output_config.format`."""
    schemas = client_tools(body.get("tools", ()))
    choice = body.get("tool_choice", {"type": "auto"})
    required: tuple[str, ...] = ()
    match choice["type"]:
        case "any":
            required = tuple(schemas)
        case "tool" if choice.get("name") in schemas:
            required = (choice["name"],)
        case "none":
            schemas = {}
    text_format = body.get("output_config", {}).get("format") or {}
    return RequestedOutput(
        functions=schemas,
        required=required,
        parallel=not choice.get("disable_parallel_tool_use"),
        text_schema=text_format.get("schema") if text_format.get("type") == "json_schema" else None,
        user_text=last_user_text(body["messages"]),
        called=tools_used_since(body["messages"]),
    )


def _make_tool_use(call: Call, name: str, arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call.session.new_id("toolu_"), "name": name, "input": arguments}
