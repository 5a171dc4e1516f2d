"""The tools that a request offers: the provider's and the client's (1:4.1)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

Tool = Mapping[str, Any]

_SERVER_TOOL = re.compile(r"(web_search|web_fetch|code_execution)_\d{8}")


def server_tool(tool: Tool) -> str | None:
    """Return the name of a tool that the provider runs, without its date."""
    match = _SERVER_TOOL.fullmatch(tool.get("type") or "")
    return match[1] if match else None


def server_tools(tools: Sequence[Tool]) -> dict[str, Tool]:
    """Return the server tools among `tools`, by name."""
    return {name: tool for tool in tools if (name := server_tool(tool)) is not None}


def client_tools(tools: Sequence[Tool]) -> dict[str, Any]:
    """Return the input schemas of the client's tools, by name."""
    return {tool["name"]: tool.get("input_schema") for tool in tools if "name" in tool and server_tool(tool) is None}
