"""Tools that a request offers: functions of the client, and those that run on the provider's side (1:4.2)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pb import fields
from catalog_probe.mockserver.pb.errors import invalid
from catalog_probe.mockserver.pb.generation.prompt import Tools

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

BUILTIN = ("webSearch", "maps", "codeExecution", "urlContext", "computerUse", "fileSearch", "mcpServers")
"""Tools on the provider's side, which the documents do not name."""

TOOL: fields.Fields = {"functionDeclarations": fields.objects, **dict.fromkeys(BUILTIN, fields.anything)}
FUNCTION: fields.Fields = {
    "name": fields.string,
    "description": fields.string,
    "parameters": fields.mapping,
    "parametersJsonSchema": fields.anything,
    "response": fields.mapping,
    "responseJsonSchema": fields.anything,
    "behavior": fields.string,
}
TOOL_CONFIG: fields.Fields = {
    "functionCallingConfig": fields.mapping,
    "retrievalConfig": fields.mapping,
    "includeServerSideToolInvocations": fields.boolean,
}
CALLING: fields.Fields = {
    "mode": fields.one_of("auto", "any", "none", "validated", "mode_unspecified"),
    "allowedFunctionNames": fields.strings,
    "streamFunctionCallArguments": fields.boolean,
}


def of_generate_content(offered: Sequence[Mapping[str, Any]], config: Mapping[str, Any]) -> Tools:
    """The tools of a generateContent request and whether one must be called."""
    functions: dict[str, Mapping[str, Any]] = {}
    builtin: set[str] = set()
    for index, tool in enumerate(offered):
        given = fields.read(tool, TOOL, f"tools[{index}]")
        for number, declared in enumerate(given.pop("functionDeclarations", ())):
            at = f"tools[{index}].function_declarations[{number}]"
            function = fields.read(declared, FUNCTION, at)
            schema = function.get("parametersJsonSchema") or function.get("parameters") or {}
            add_function(functions, fields.require(function, "name", at), schema, at)
        builtin.update(given)
    calling = fields.read(config, TOOL_CONFIG, "tool_config").get("functionCallingConfig", {})
    calling = fields.read(calling, CALLING, "tool_config.function_calling_config")
    return chosen(functions, builtin, calling.get("allowedFunctionNames"), calling.get("mode", "auto").lower())


def chosen(
    functions: Mapping[str, Mapping[str, Any]], builtin: Collection[str], allowed: Sequence[str] | None, mode: str
) -> Tools:
    """The tools among which the model chooses, or must."""
    must = forced(functions, allowed, must=mode == "any")
    return Tools({} if mode == "none" else functions, frozenset(builtin), must)


def add_function(functions: dict[str, Mapping[str, Any]], name: str, schema: Any, at: str) -> None:
    """Keep a function; its name must be new, its schema an object."""
    if name in functions:
        raise invalid(f"{at}.name: duplicate function declaration {name!r}")
    fields.mapping(f"{at}.parameters", schema)
    functions[name] = schema


def forced(functions: Mapping[str, Any], allowed: Sequence[str] | None, *, must: bool) -> tuple[str, ...]:
    """The functions one of which the model must call."""
    unknown = [name for name in allowed or () if name not in functions]
    if unknown:
        raise invalid(f"tool_config: {unknown[0]!r} is none of the declared functions")
    if must and not functions:
        raise invalid("tool_config: a call is demanded and no function is declared")
    return tuple(allowed or functions) if must else ()
