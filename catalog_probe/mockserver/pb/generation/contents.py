"""Reading the prompt of a generateContent request (1:4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb.endpoints.files import check_readable
from catalog_probe.mockserver.pb.errors import NO_RESOURCE
from catalog_probe.mockserver.pb.generation.prompt import MODEL, USER, FunctionCall, Prompt, Tools, Turn, choose_tools
from catalog_probe.mockserver.pb.generation.settings import read_settings
from catalog_probe.mockserver.pb.generation.tokens import count_turns, count_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.mockserver.pb.call import Call
    from catalog_probe.mockserver.pb.models import Model

Json = dict[str, Any]


def read_prompt(call: Call, body: Json, model: Model) -> Prompt:
    """Read the prompt of a checked body."""
    if "cachedContent" in body:
        raise NO_RESOURCE(id=body["cachedContent"])  # the mock creates no cached content
    system = body.get("systemInstruction", {"parts": []})
    for content in (system, *body["contents"]):
        for part in content["parts"]:
            if "fileData" in part:
                check_readable(part["fileData"]["fileUri"], call.session, call.project)
    turns = tuple(read_turn(content) for content in body["contents"])
    return Prompt(
        model=model,
        turns=turns,
        tokens=count_turns((*turns, read_turn(system))) + count_value(body.get("tools")),
        settings=read_settings(body.get("generationConfig", {}), model),
        tools=read_tools(body.get("tools", ()), body.get("toolConfig", {})),
        service_tier=body.get("serviceTier", "standard").lower(),
    )


def read_turn(content: Json) -> Turn:
    """Read a content as a turn; any role but the model's is the user's."""
    parts = content["parts"]
    return Turn(
        role=MODEL if content.get("role") == MODEL else USER,
        text="\n".join(part["text"] for part in parts if "text" in part and not part.get("thought")),
        calls=tuple(_read_call(part) for part in parts if "functionCall" in part),
        results=tuple(part["functionResponse"]["name"] for part in parts if "functionResponse" in part),
        media=sum("inlineData" in part or "fileData" in part for part in parts),
    )


def _read_call(part: Json) -> FunctionCall:
    function_call = part["functionCall"]
    return FunctionCall(function_call["name"], function_call.get("args", {}), part.get("thoughtSignature"))


def read_tools(tools: Sequence[Json], config: Mapping[str, Any]) -> Tools:
    """Read the tools of a request, and which of them must be called."""
    functions = {
        function["name"]: function.get("parametersJsonSchema") or function.get("parameters") or {}
        for tool in tools
        for function in tool.get("functionDeclarations", ())
    }
    builtin = any(tool.keys() - {"functionDeclarations"} for tool in tools)
    calling = config.get("functionCallingConfig", {})
    mode = calling.get("mode", "auto").lower()
    return choose_tools(functions, mode, calling.get("allowedFunctionNames"), builtin=builtin)
