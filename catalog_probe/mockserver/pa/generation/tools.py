"""Tools that a request offers: their shapes, and which of them run on the provider's side."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from catalog_probe.mockserver.pa import fields
from catalog_probe.mockserver.pa.errors import invalid

Tool = Mapping[str, Any]

_SERVER_TOOL = re.compile(r"(web_search|web_fetch|code_execution)_\d{8}")
_CLIENT_TOOL = re.compile(r"(bash|text_editor|computer|memory|tool_search_tool_\w+)_\d{8}")


def server_tool(tool: Tool) -> str | None:
    """`web_search`, `web_fetch` or `code_execution` if the tool runs on the provider's side (1:4.1 "server tools")."""
    match = _SERVER_TOOL.fullmatch(str(tool.get("type", "")))
    return match[1] if match else None


def server_tools(tools: Sequence[Tool]) -> dict[str, Tool]:
    """The server tools among `tools`, by name."""
    return {name: tool for tool in tools if (name := server_tool(tool)) is not None}


def check_tools(tools: Sequence[Any], choice: Mapping[str, Any] | None) -> None:
    """Raise the first thing wrong with the tools or the choice among them."""
    for index, tool in enumerate(tools):
        _check_tool(f"tools.{index}", tool)
    names = [tool["name"] for tool in tools]
    if len(set(names)) < len(names):
        raise invalid("tools: Tool names must be unique.")
    if choice is None:
        return
    if not tools and choice["type"] in ("any", "tool"):
        raise invalid("tool_choice: tool_choice may only be specified while providing tools.")
    if choice["type"] == "tool" and choice.get("name") not in names:
        raise invalid(f"tool_choice.name: tool {choice.get('name')!r} not found in provided tools")


def refuse_server_tools(tools: Sequence[Tool]) -> None:
    """Server tools are allowed in messages, and rejected by count_tokens (1:4.1)."""
    named = server_tools(tools)
    if named:
        raise invalid(f"tools: Server tools are not supported in the count_tokens endpoint: {', '.join(named)}")


def _check_tool(at: str, tool: Any) -> None:
    if not isinstance(tool, dict):
        raise invalid(f"{at}: Input should be a valid dictionary")
    kind, name = tool.get("type", "custom"), server_tool(tool)
    if name:
        checks: Mapping[str, fields.Check] = {**_SERVER_FIELDS, "name": fields.one_of(name)}
    elif kind == "custom":
        checks = _CUSTOM_FIELDS
    elif _CLIENT_TOOL.fullmatch(str(kind)):
        checks = _NAMED
    else:
        raise invalid(f"{at}: Input tag {kind!r} found using 'type' does not match any of the expected tags")
    required = [field for field in ("name", "input_schema") if field in checks]
    fields.check_fields(tool, checks, required, at=f"{at}.{kind}.", extra=True)


_NAMED: Mapping[str, fields.Check] = {"name": fields.string}
_CUSTOM_FIELDS: Mapping[str, fields.Check] = {**_NAMED, "input_schema": fields.dictionary}
_DOMAINS = fields.either(fields.null, fields.strings)
_SERVER_FIELDS: Mapping[str, fields.Check] = {
    "max_uses": fields.either(fields.null, fields.integer(minimum=1)),
    "allowed_domains": _DOMAINS,
    "blocked_domains": _DOMAINS,
}
"""Fields that decide something here; the others of a tool are let through."""
