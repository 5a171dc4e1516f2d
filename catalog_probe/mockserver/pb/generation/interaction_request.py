"""Reading a request for an interaction: its prompt and options (1:4.2).

The documents show no shape of the input; this is the one of official clients.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb.errors import MISSING_FIELD, NO_RESOURCE, UNSTORED_BACKGROUND
from catalog_probe.mockserver.pb.generation.prompt import MODEL, USER, FunctionCall, Prompt, Tools, Turn, choose_tools
from catalog_probe.mockserver.pb.generation.settings import read_settings
from catalog_probe.mockserver.pb.generation.tokens import count_turns, count_value
from catalog_probe.mockserver.pb.models import GENERATE, find_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.models import Model

Step = dict[str, Any]

CONTENT_TYPES = ("text", "image", "audio", "document", "video")  # content types of a user's input that has no steps


@dataclass(frozen=True)
class InteractionRequest:
    """A checked request for an interaction."""

    prompt: Prompt
    steps: Sequence[Step]
    background: bool
    stream: bool
    store: bool
    previous: str | None


def find_requested_model(call: Call, body: Mapping[str, Any]) -> Model:
    """Return the model that a body names; the mock has no agents."""
    if "agent" in body:
        raise NO_RESOURCE(id=f"agent {body['agent']}")
    if "model" not in body:
        raise MISSING_FIELD(path="model")
    return find_model(body["model"], call.version, call.project, GENERATE)


def read_interaction(call: Call, body: Mapping[str, Any], earlier: Sequence[Step]) -> InteractionRequest:
    """Read a checked body; `earlier` are the steps that it continues."""
    background, store = body.get("background", False), body.get("store", True)
    if background and not store:
        raise UNSTORED_BACKGROUND()
    model, steps = find_requested_model(call, body), [*earlier, *read_steps(body["input"])]
    turns, config = read_turns(steps), body.get("generationConfig", {})
    all_turns = (Turn(USER, text=body.get("systemInstruction", "")), *turns)
    prompt = Prompt(
        model=model,
        turns=turns,
        tokens=count_turns(all_turns) + count_value(body.get("tools")),
        settings=read_settings({**config, **_read_output_config(body)}, model),
        tools=read_tools(body.get("tools", ()), config.get("toolChoice", "auto")),
        service_tier=body.get("serviceTier", "standard").lower(),
    )
    return InteractionRequest(
        prompt, steps, background, body.get("stream", False), store, body.get("previousInteractionId")
    )


def read_steps(content: Any) -> list[Step]:
    """Read the input as steps; it is a text, a content or step, or several."""
    if isinstance(content, str):
        content = {"type": "text", "text": content}
    items = content if isinstance(content, list) else [content]
    if all(item["type"] in CONTENT_TYPES for item in items):
        return [{"type": "user_input", "content": items}]
    return items


def read_turns(steps: Sequence[Step]) -> tuple[Turn, ...]:
    """Read the steps as turns.

    The signature of a thought belongs to the call that follows it. Consecutive calls are one turn.
    """
    turns: list[Turn] = []
    signature: str | None = None
    for step in steps:
        content = step.get("content", ())
        text = "\n".join(item.get("text", "") for item in content if item["type"] == "text")
        match step["type"]:
            case "user_input":
                turns.append(Turn(USER, text=text, media=sum(item["type"] != "text" for item in content)))
            case "model_output":
                turns.append(Turn(MODEL, text=text))
            case "function_call":
                calls = turns.pop().calls if turns and turns[-1].calls else ()
                call = FunctionCall(step.get("name", ""), step.get("arguments", {}), signature)
                turns.append(Turn(MODEL, calls=(*calls, call)))
            case "function_result":
                turns.append(Turn(USER, results=(step.get("name", ""),)))
        signature = step.get("signature") if step["type"] == "thought" else None
    return tuple(turns)


def read_tools(tools: Sequence[Mapping[str, Any]], choice: str | Mapping[str, Any]) -> Tools:
    """Read the tools; a choice is a mode, or a mode with allowed functions."""
    functions = {
        tool["name"]: tool.get("parameters") or {} for tool in tools if tool["type"] == "function" and "name" in tool
    }
    allowed = choice.get("allowedTools", {}) if not isinstance(choice, str) else {"mode": choice}
    builtin = any(tool["type"] != "function" for tool in tools)
    return choose_tools(functions, allowed.get("mode", "auto"), allowed.get("tools"), builtin=builtin)


def _read_output_config(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of the output as a generation config names them."""
    config = {"responseModalities": body.get("responseModalities", [])}
    schema = body.get("responseFormat")
    if isinstance(schema, dict):
        media_type = body.get("responseMimeType", schema.get("mime_type", "application/json"))
        config |= {"responseJsonSchema": schema.get("schema", schema), "responseMimeType": media_type}
    return config
