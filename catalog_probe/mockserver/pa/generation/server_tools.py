"""Server tools, used when the user's lines say so (2:7.3).

A failure is a result block with an `error_code`.

A line of the last user message uses a tool that the request offers:

    search: QUERY       web_search                    run: CODE          code_execution
    fetch: URL          web_fetch                     bash: COMMAND      bash_code_execution
    view: PATH          text_editor_code_execution

A `tool_choice` that names a server tool, and a scenario about one, use it without such a line.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pa.generation.conversation import last_user_text
from catalog_probe.mockserver.pa.generation.server_tool_rows import SERVER_TOOLS, ServerTool, Use
from catalog_probe.mockserver.pa.generation.tools import server_tools

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from catalog_probe.mockserver.pa.call import Call

_LINE = re.compile(rf"^\s*({'|'.join(SERVER_TOOLS)}):[ \t]*(.*?)\s*$", re.MULTILINE)

BY_BLOCK: Mapping[str, ServerTool] = {tool.block: tool for tool in SERVER_TOOLS.values()}
COUNTED = {"web_search": "web_search_requests", "web_fetch": "web_fetch_requests"}
TRANSIENT = {"server_tool_unavailable": "unavailable", "server_tool_rate_limited": "too_many_requests"}
"""The codes of failures on the provider's side, by scenario."""


@dataclass
class Uses:
    """The blocks of all tool uses of one answer, and how many counted as requests."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    usage: dict[str, int] | None = None


def run(call: Call, body: Mapping[str, Any]) -> Uses:
    """Use every server tool that the request offers and asks for."""
    offered = server_tools(body.get("tools", ()))
    if not offered:
        return Uses()
    failing_block, transient_code = find_transient_failure(call, offered) or ("", None)
    uses, numbers = Uses(), Counter[str]()
    for tool, argument in _find_uses(body, failing_block):
        if tool.type not in offered:
            continue
        numbers[tool.type] += 1
        use = Use(call, body, offered[tool.type], numbers[tool.type], argument)
        code = next((failure.code for failure in tool.failures if failure.happens(use)), None)
        uses.blocks += _make_blocks(tool, use, transient_code if tool.block == failing_block else code)
    uses.usage = {name: numbers[tool] for tool, name in COUNTED.items() if numbers[tool]} or None
    return uses


def find_transient_failure(call: Call, offered: Collection[str]) -> tuple[str, str] | None:
    """Return the block and error code of the scenario, if it is about an offered tool."""
    scenario = call.context.scenario
    if scenario is None or scenario.name not in TRANSIENT or BY_BLOCK[scenario.params["tool"]].type not in offered:
        return None
    call.context.take(scenario.name)
    return scenario.params["tool"], TRANSIENT[scenario.name]


def _find_uses(body: Mapping[str, Any], failing_block: str) -> list[tuple[ServerTool, str]]:
    """Return the tools and arguments of the user's lines.

    A forced or failing tool is added if no line names it.
    """
    text = last_user_text(body["messages"])
    uses = [(SERVER_TOOLS[line[1]], line[2]) for line in _LINE.finditer(text)]
    forced = failing_block or body.get("tool_choice", {}).get("name", "")
    if forced in BY_BLOCK and forced not in {tool.block for tool, _ in uses}:
        uses.append((BY_BLOCK[forced], text))
    return uses


def _make_blocks(tool: ServerTool, use: Use, code: str | None) -> list[dict[str, Any]]:
    """Make the pair of blocks: what the model asked of the tool, and the result."""
    use_id = use.call.session.new_id("srvtoolu_")
    error = {"type": f"{tool.block}_tool_result_error", "error_code": code}
    return [
        {"type": "server_tool_use", "id": use_id, "name": tool.block, "input": tool.read_input(use)},
        {
            "type": f"{tool.block}_tool_result",
            "tool_use_id": use_id,
            "content": tool.answer(use) if code is None else error,
        },
    ]
