"""Server tools: run when the user's lines ask for it; a failure is a result block with an `error_code`.

A line of the last user message is a directive to the model when the request offers the tool (2:7.3 "other PA facts"):

    search: QUERY       web_search                    run: CODE          code_execution
    fetch: URL          web_fetch                     bash: COMMAND      bash_code_execution
    view: PATH          text_editor_code_execution

`tool_choice` naming a server tool, and a scenario about one, make the model use it without a directive.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pa.generation.code_tools import BASH, RUN, VIEW
from catalog_probe.mockserver.pa.generation.conversation import last_user_text
from catalog_probe.mockserver.pa.generation.tool_uses import Directive, Use
from catalog_probe.mockserver.pa.generation.tools import server_tools
from catalog_probe.mockserver.pa.generation.web_tools import FETCH, SEARCH

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from catalog_probe.mockserver.pa.call import Call

_DIRECTIVE = re.compile(r"^\s*(search|fetch|run|bash|view):[ \t]*(.*?)\s*$", re.MULTILINE)

DIRECTIVES: Mapping[str, Directive] = {
    "search": SEARCH,
    "fetch": FETCH,
    "run": RUN,
    "bash": BASH,
    "view": VIEW,
}

BY_BLOCK: Mapping[str, Directive] = {directive.block: directive for directive in DIRECTIVES.values()}
"""What a tool does that is used without a directive, by the name of its blocks."""

COUNTED = {"web_search": "web_search_requests", "web_fetch": "web_fetch_requests"}
TRANSIENT = {"server_tool_unavailable": "unavailable", "server_tool_rate_limited": "too_many_requests"}
"""The codes of failures on the provider's side, by scenario."""


@dataclass
class Uses:
    """The blocks of all tool uses of one answer, and how many counted as requests."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    usage: dict[str, int] | None = None


def run(call: Call, body: Mapping[str, Any]) -> Uses:
    """Use every server tool that the request asks for and offers."""
    offered = server_tools(body.get("tools", ()))
    if not offered:
        return Uses()
    transient = find_transient_failure(call, offered)
    uses, numbers = Uses(), Counter[str]()
    for directive, argument in _read_directives(body, transient[0] if transient else None):
        if directive.tool not in offered:
            continue
        numbers[directive.tool] += 1
        use = Use(call, body, offered[directive.tool], numbers[directive.tool], argument)
        code = next((failure.code for failure in directive.failures if failure.happens(use)), None)
        if transient and transient[0] == directive.block:
            code = transient[1]
        uses.blocks += _make_blocks(directive, use, code)
    uses.usage = {name: numbers[tool] for tool, name in COUNTED.items() if numbers[tool]} or None
    return uses


def find_transient_failure(call: Call, offered: Collection[str]) -> tuple[str, str] | None:
    """The block name and error code of the scenario, if it is about a tool that is offered."""
    scenario = call.context.scenario
    if scenario is None or scenario.name not in TRANSIENT or BY_BLOCK[scenario.params["tool"]].tool not in offered:
        return None
    call.context.take(scenario.name)
    return scenario.params["tool"], TRANSIENT[scenario.name]


def _read_directives(body: Mapping[str, Any], failing: str | None) -> list[tuple[Directive, str]]:
    """What the user's lines ask for, and the tool that is forced, or that is to fail, where no line names it."""
    text = last_user_text(body["messages"])
    directives = [(DIRECTIVES[match[1]], match[2]) for match in _DIRECTIVE.finditer(text)]
    forced: str = failing or body.get("tool_choice", {}).get("name", "")
    if forced in BY_BLOCK and forced not in {directive.block for directive, _ in directives}:
        directives.append((BY_BLOCK[forced], text))
    return directives


def _make_blocks(directive: Directive, use: Use, code: str | None) -> list[dict[str, Any]]:
    """The pair of blocks: what the model asked of the tool, and what came of it."""
    use_id = use.call.session.new_id("srvtoolu_")
    block = directive.block
    error = {"type": f"{block}_tool_result_error", "error_code": code}
    content = directive.answer(use) if code is None else error
    return [
        {"type": "server_tool_use", "id": use_id, "name": block, "input": directive.read_input(use)},
        {"type": f"{block}_tool_result", "tool_use_id": use_id, "content": content},
    ]
