"""Server tools: run when the user's lines ask for it; a failure is a result block with an `error_code`.

A line of the last user message is a directive to the model when the request offers the tool (2:7.3 "other PA facts"):

    search: QUERY       web_search                    run: CODE          code_execution
    fetch: URL          web_fetch                     bash: COMMAND      bash_code_execution
    create: PATH TEXT   text_editor_code_execution    view: PATH         text_editor_code_execution

`tool_choice` naming a server tool, and a scenario about one, make the model use it without a directive. What each
argument leads to is in `web_tools.py` and `code_tools.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pa.generation import code_tools, web_tools
from catalog_probe.mockserver.pa.generation.conversation import last_user_text
from catalog_probe.mockserver.pa.generation.tool_outcome import Outcome, Setting, ToolFailure
from catalog_probe.mockserver.pa.generation.tools import server_tools

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from catalog_probe.mockserver.pa.call import Call

_DIRECTIVE = re.compile(r"^\s*(search|fetch|run|bash|view|create):[ \t]*(.*?)\s*$", re.MULTILINE)

_VERBS: Mapping[str, tuple[str, str, Any]] = {
    "search": ("web_search", "web_search", web_tools.search),
    "fetch": ("web_fetch", "web_fetch", web_tools.fetch),
    "run": ("code_execution", "code_execution", code_tools.run),
    "bash": ("code_execution", "bash_code_execution", code_tools.bash),
    "view": ("code_execution", "text_editor_code_execution", code_tools.view),
    "create": ("code_execution", "text_editor_code_execution", code_tools.create),
}
"""Verb -> the tool that must be offered, the name its blocks carry, and what runs it."""

_DEFAULT_VERBS = {block: verb for verb, (_, block, _) in reversed(list(_VERBS.items()))}
_COUNTED = {"web_search": "web_search_requests", "web_fetch": "web_fetch_requests"}
TRANSIENT = {"server_tool_unavailable": "unavailable", "server_tool_rate_limited": "too_many_requests"}


@dataclass
class Used:
    """The blocks of all tool uses of one answer, and how many counted as requests."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    usage: dict[str, int] | None = None


def run(call: Call, body: Mapping[str, Any]) -> Used:
    """Use every server tool that the request asks for and offers."""
    offered = server_tools(body.get("tools", ()))
    if not offered:
        return Used()
    transient = transient_failure(call, offered.keys())
    used = Used()
    uses: Counter[str] = Counter()
    for verb, argument in _directives(body, transient):
        tool, block, simulate = _VERBS[verb]
        if tool not in offered:
            continue
        uses[tool] += 1
        setting = Setting(call, body, offered[tool], uses[tool])
        failure = transient[1] if transient and transient[0] == block else None
        used.blocks.extend(_use(call, block, simulate(setting, argument) if not failure else ToolFailure(failure)))
    used.usage = {name: uses[tool] for tool, name in _COUNTED.items() if uses[tool]} or None
    return used


def transient_failure(call: Call, offered: Any) -> tuple[str, str] | None:
    """The block name and error code of the scenario, if it is about a tool that is offered."""
    scenario = call.context.scenario
    if scenario is None or scenario.name not in TRANSIENT:
        return None
    block = scenario.params["tool"]
    if _VERBS[_DEFAULT_VERBS[block]][0] not in offered:
        return None
    call.context.take(scenario.name)
    return block, TRANSIENT[scenario.name]


def _directives(body: Mapping[str, Any], transient: tuple[str, str] | None) -> Iterator[tuple[str, str]]:
    text = last_user_text(body["messages"])
    found = [(match[1], match[2]) for match in _DIRECTIVE.finditer(text)]
    choice = body.get("tool_choice") or {}
    forced = transient[0] if transient else choice.get("name")
    if forced in _DEFAULT_VERBS and forced not in {_VERBS[verb][1] for verb, _ in found}:
        found.append((_DEFAULT_VERBS[forced], text))
    return iter(found)


def _use(call: Call, block: str, outcome: Outcome) -> list[dict[str, Any]]:
    """The pair of blocks: what the model asked of the tool, and what came of it."""
    use_id = call.session.new_id("srvtoolu_")
    content = outcome.content
    if isinstance(outcome, ToolFailure):
        content = {"type": f"{block}_tool_result_error", "error_code": outcome.code}
    return [
        {"type": "server_tool_use", "id": use_id, "name": block, "input": outcome.input},
        {"type": f"{block}_tool_result", "tool_use_id": use_id, "content": content},
    ]
