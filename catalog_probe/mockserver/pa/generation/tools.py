"""Tools that a request offers, and which of them run on the provider's side (1:4.1 "server tools")."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

Tool = Mapping[str, Any]

_SERVER_TOOL = re.compile(r"(web_search|web_fetch|code_execution)_\d{8}")


def server_tool(tool: Tool) -> str | None:
    """`web_search`, `web_fetch` or `code_execution` if the tool runs on the provider's side."""
    match = _SERVER_TOOL.fullmatch(tool.get("type") or "")
    return match[1] if match else None


def server_tools(tools: Sequence[Tool]) -> dict[str, Tool]:
    """The server tools among `tools`, by name."""
    return {name: tool for tool in tools if (name := server_tool(tool)) is not None}


def client_tools(tools: Sequence[Tool]) -> dict[str, Any]:
    """The schemas of those tools that the client runs, by name; one of a known type needs none."""
    return {tool["name"]: tool.get("input_schema") for tool in tools if "name" in tool and server_tool(tool) is None}
