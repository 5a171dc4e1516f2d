"""The body of a generateContent request, checked, as a prompt (1:4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.endpoints import files
from catalog_probe.mockserver.pb.errors import NOT_FOUND, PbError
from catalog_probe.mockserver.pb.generation import conversation, settings, tools
from catalog_probe.mockserver.pb.generation.prompt import Prompt
from catalog_probe.mockserver.pb.generation.tokens import count_text, count_turns, count_value

if TYPE_CHECKING:
    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.models import Model

BODY: fields.Fields = {
    "model": fields.string,
    "contents": fields.objects,
    "systemInstruction": fields.mapping,
    "tools": fields.objects,
    "toolConfig": fields.mapping,
    "safetySettings": fields.objects,
    "generationConfig": fields.mapping,
    "cachedContent": fields.string,
    "serviceTier": settings.service_tier,
    "store": fields.boolean,
    "labels": fields.mapping,
}
"""Every field; any other is unknown (2:7.4)."""

SAFETY_SETTING: fields.Fields = {"category": fields.string, "threshold": fields.string, "method": fields.string}


def prompt_of(call: Call, body: dict[str, Any], model: Model) -> Prompt:
    """The prompt in a body; raises the first thing wrong with it."""
    given = fields.read(body, BODY)
    for index, setting in enumerate(given.get("safetySettings", ())):
        fields.read(setting, SAFETY_SETTING, f"safety_settings[{index}]")
    if "cachedContent" in given:
        raise PbError(NOT_FOUND, f"{given['cachedContent']} is not found.")  # nothing here makes any
    may_read = files.reader(call.session, call.project)
    turns = conversation.turns_of(given.get("contents", ()), may_read)
    instruction = given.get("systemInstruction")
    system = conversation.system_text(instruction, may_read) if instruction else ""
    return Prompt(
        model=model,
        turns=turns,
        tokens=count_turns(turns) + count_text(system) + count_value(given.get("tools")),
        settings=settings.of_generate_content(given.get("generationConfig", {}), model),
        tools=tools.of_generate_content(given.get("tools", ()), given.get("toolConfig", {})),
        service_tier=given.get("serviceTier", "standard").lower(),
    )
