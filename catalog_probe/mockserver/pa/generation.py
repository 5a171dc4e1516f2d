"""PA's model: answers a valid request in ways that the request itself decides.

It repeats the user's text, cut at `max_tokens` and at a stop sequence. It uses the tools that `tool_choice` forces or
the user names, with an input made from their schema. It follows a schema of the text, thinks if thinking is on, and
uses the server tools that the user's lines ask for (`server_tools.py`).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.generation import count_tokens, echo_text, encode_typed, split_text, truncate_text
from catalog_probe.mockserver.pa import server_tools
from catalog_probe.mockserver.pa.conversation import client_tools, count_value, last_user_text, tools_used_since
from catalog_probe.mockserver.pa.errors import make_envelope
from catalog_probe.mockserver.requested_output import RequestedOutput

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.mockserver.core.errors import Refusal
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


Event = dict[str, Any]


def encode_message(message: Mapping[str, Any], failure: Refusal | None) -> Iterator[bytes]:
    """Write the events of a message; a failure ends them after the first delta."""
    for event in _make_events(message):
        yield encode_typed(event)
        if failure is not None and event["type"] == "content_block_delta":
            break
    if failure is not None:
        yield encode_typed(make_envelope(failure))


def _make_events(message: Mapping[str, Any]) -> Iterator[Event]:
    """Make the events: message start, each block with its deltas, message end."""
    started = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "stop_details": None}
    started["usage"] = {**message["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": started}
    for index, block in enumerate(message["content"]):
        empty, deltas = _split(block)
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {name: message[name] for name in ("stop_reason", "stop_sequence", "stop_details")}
    yield {"type": "message_delta", "delta": stop, "usage": message["usage"]}
    yield {"type": "message_stop"}


def _split(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the block as it starts, and the deltas that complete it."""
    match block["type"]:
        case "text":
            return {**block, "text": ""}, [{"type": "text_delta", "text": part} for part in split_text(block["text"])]
        case "thinking":
            deltas = [{"type": "thinking_delta", "thinking": part} for part in split_text(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {**block, "thinking": "", "signature": ""}, deltas
        case "tool_use" | "server_tool_use":
            parts = split_text(json.dumps(block["input"]))
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": part} for part in parts]
        case _:
            return dict(block), []
