"""The body of POST interactions, checked, as a prompt and what else the caller wants (1:4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.errors import NOT_FOUND, UNKNOWN_FIELD, PbError, invalid
from catalog_probe.mockserver.pb.generation import settings, tools
from catalog_probe.mockserver.pb.generation.interaction_input import Step, steps_of, turns_of
from catalog_probe.mockserver.pb.generation.interaction_store import Interactions
from catalog_probe.mockserver.pb.generation.prompt import Prompt, Tools
from catalog_probe.mockserver.pb.generation.tokens import count_text, count_turns, count_value
from catalog_probe.mockserver.pb.models import GENERATE, find_model

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.mockserver.pb.call import Call

BODY: fields.Fields = {
    "model": fields.string,
    "agent": fields.string,
    "agentConfig": fields.mapping,
    "input": fields.anything,
    "background": fields.boolean,
    "stream": fields.boolean,
    "store": fields.boolean,
    "previousInteractionId": fields.string,
    "systemInstruction": fields.string,
    "generationConfig": fields.mapping,
    "responseFormat": fields.anything,
    "responseMimeType": fields.string,
    "responseModalities": settings.modality_list,
    "safetySettings": fields.objects,
    "serviceTier": settings.service_tier,
    "tools": fields.objects,
    "labels": fields.mapping,
    "cachedContent": fields.string,
    "continuationToken": fields.string,
    "environment": fields.anything,
    "webhookConfig": fields.mapping,
}
"""Every field; any other is unknown (2:7.4 `parameter_unknown`)."""

BUILTIN = ("code_execution", "url_context", "computer_use", "mcp_server")
BUILTIN_ENDS = ("_search", "_maps", "retrieval")
CHOICES = ("auto", "any", "none", "validated")


@dataclass(frozen=True)
class Asked:
    """A checked request for an interaction."""

    prompt: Prompt
    steps: Sequence[Step]
    background: bool
    stream: bool
    store: bool
    previous: str | None


def asked_of(call: Call, body: Mapping[str, Any]) -> Asked:
    """What the body asks for; raises the first thing wrong with it."""
    given = fields.read(body, BODY)
    if "agent" in given:
        raise PbError(NOT_FOUND, f"agent {given['agent']!r} is not found.")
    model = find_model(fields.require(given, "model"), call.version, call.project, GENERATE)
    steps = steps_of(fields.require(given, "input"))
    previous = given.get("previousInteractionId")
    if previous is not None:
        earlier = call.session.state(Interactions).find(previous, call.project)
        steps = [*earlier.steps, *steps]
    config = given.get("generationConfig", {})
    if given.get("background") and given.get("store") is False:
        raise invalid("background: an interaction that runs in the background must be stored.")
    turns = turns_of(steps)
    prompt = Prompt(
        model=model,
        turns=turns,
        tokens=count_turns(turns) + count_text(given.get("systemInstruction", "")) + count_value(given.get("tools")),
        settings=settings.of_interaction(config, given, model),
        tools=_tools(given.get("tools", ()), config),
        service_tier=given.get("serviceTier", "standard").lower(),
    )
    return Asked(
        prompt,
        steps,
        background=given.get("background", False),
        stream=given.get("stream", False),
        store=given.get("store", True),
        previous=previous,
    )


def _tools(offered: Sequence[Mapping[str, Any]], config: Mapping[str, Any]) -> Tools:
    functions: dict[str, Mapping[str, Any]] = {}
    builtin: set[str] = set()
    for index, tool in enumerate(offered):
        at = f"tools[{index}]"
        kind = fields.require(tool, "type", at)
        if kind == "function":
            name = fields.require(tool, "name", at)
            fields.string(f"{at}.name", name)
            tools.add_function(functions, name, tool.get("parameters") or {}, at)
        elif isinstance(kind, str) and (kind in BUILTIN or kind.endswith(BUILTIN_ENDS)):
            builtin.add(kind)
        else:
            raise invalid(f"{at}.type: {kind!r} is no type of tool")
    choice, allowed = _choice(config.get("tool_choice", config.get("toolChoice", "auto")))
    return tools.chosen(functions, builtin, allowed, choice)


def _choice(choice: Any) -> tuple[str, list[str] | None]:
    """How calls are chosen, and among which functions: `"any"`, or `{allowed_tools: {mode, tools}}`."""
    allowed = None
    if isinstance(choice, dict):
        inner = choice.get("allowed_tools")
        if not isinstance(inner, dict) or not choice.keys() <= {"allowed_tools"}:
            raise PbError(UNKNOWN_FIELD, "generation_config.tool_choice: only allowed_tools is known")
        choice, allowed = inner.get("mode", "auto"), inner.get("tools")
        if allowed is not None:
            fields.strings("generation_config.tool_choice.allowed_tools.tools", allowed)
    if choice not in CHOICES:
        raise invalid(f"generation_config.tool_choice: should be one of {', '.join(CHOICES)}")
    return str(choice), allowed
