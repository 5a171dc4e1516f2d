"""Server tools: rows by `error_code`, used when the user's lines say so (2:7.3).

The documents name the codes and no bounds, so bounds, hosts and file types are ours. The request decides what fails.

A failure is a result block with an `error_code`.

A line of the last user message uses a tool that the request offers, by a word or by a sentence as users write it:

    search: QUERY       Search the web for QUERY      web_search
    fetch: URL          Fetch the page URL            web_fetch
    run: CODE           Run this code: CODE           code_execution
    bash: COMMAND       Run this command: COMMAND     bash_code_execution
    view: PATH          View the file PATH            text_editor_code_execution

A `tool_choice` that names a server tool, and a scenario about one, use it without such a line.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import SplitResult, urlsplit

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.conversation import last_user_text, server_tools

if TYPE_CHECKING:
    from collections.abc import Collection

    from catalog_probe.mockserver.pa.call import Call


MAX_QUERY = 1_000  # characters
MAX_DOMAIN_LISTS = 8_192  # characters of JSON
MAX_URL = 250  # characters
MAX_SECONDS = 60
LARGE_HOST = "large.example"
NO_HOST = ".invalid"  # never exists (RFC 2606)
UNREADABLE = (".zip", ".gz", ".tar", ".exe", ".mp3", ".mp4", ".png", ".jpg", ".bin")

_BARE_ADDRESS = re.compile(r"[\w-]+(\.[\w-]+)+(/\S*)?")
_SLEEP = re.compile(r"\bsleep[ (]\s*(\d+)")
_ENDLESS = re.compile(r"\bwhile\s+(True|true)\b")
_GIGABYTES = re.compile(r"\b\d+G\b")


@dataclass(frozen=True)
class Use:
    """One use of a server tool.

    Args:
        tool: the tool as the request offers it.
        number: how many uses of the tool the request had, with this one.
        argument: the rest of the user's line: a query, an address, code or a path.
    """

    call: Call
    body: Mapping[str, Any]
    tool: Mapping[str, Any]
    number: int
    argument: str

    @property
    def is_exhausted(self) -> bool:
        """Whether the request's `max_uses` is already spent."""
        limit = self.tool.get("max_uses")
        return limit is not None and self.number > limit

    @cached_property
    def url(self) -> str:
        """The address to fetch; the model adds the scheme if the user left it out."""
        return f"https://{self.argument}" if _BARE_ADDRESS.fullmatch(self.argument) else self.argument

    @cached_property
    def url_parts(self) -> SplitResult:
        """The parts of the address, all empty if it is none."""
        try:
            return urlsplit(self.url)
        except ValueError:
            return SplitResult("", "", "", "", "")

    @property
    def host(self) -> str:
        """The host of the address."""
        return (self.url_parts.hostname or "").lower()

    @property
    def is_web_address(self) -> bool:
        """Whether the address is one of http(s)."""
        return self.url_parts.scheme in ("http", "https") and bool(self.host) and not re.search(r"\s", self.url)

    @property
    def is_in_conversation(self) -> bool:
        """Whether the address stands in a message.

        That of a bare `host/path` does not, because its scheme is missing there.
        """
        return self.url in json.dumps(self.body["messages"], ensure_ascii=False)

    @property
    def is_host_allowed(self) -> bool:
        """Whether the tool's domain lists let it go to the host."""
        allowed, blocked = self.tool.get("allowed_domains"), self.tool.get("blocked_domains")
        return (not allowed or self._is_listed(allowed)) and not self._is_listed(blocked or ())

    @property
    def takes_too_long(self) -> bool:
        """Whether the code sleeps for longer than it may run, or loops for ever."""
        sleep = _SLEEP.search(self.argument)
        return bool(_ENDLESS.search(self.argument)) or (sleep is not None and int(sleep[1]) > MAX_SECONDS)

    def _is_listed(self, domains: Any) -> bool:
        return any(self.host == domain or self.host.endswith(f".{domain}") for domain in domains)


class Failure(NamedTuple):
    """The `error_code` of the result block, and whether a use comes to it."""

    code: str
    happens: Callable[[Use], bool]


class ServerTool(NamedTuple):
    """A server tool, or a form of one.

    Args:
        type: the tool that the request must offer.
        block: the name of its blocks.
        failures: the first that happens decides.
        read_input: makes the input of the use's block.
        answer: makes the content of the result's block.
    """

    type: str
    block: str
    failures: tuple[Failure, ...]
    read_input: Callable[[Use], dict[str, Any]]
    answer: Callable[[Use], Any]


EXHAUSTED = Failure("max_uses_exceeded", lambda use: use.is_exhausted)
NO_INPUT = Failure("invalid_tool_input", lambda use: not use.argument)
TOO_LONG = Failure("execution_time_exceeded", lambda use: use.takes_too_long)

SEARCH_FAILURES = (
    EXHAUSTED,
    NO_INPUT,
    Failure("query_too_long", lambda use: len(use.argument) > MAX_QUERY),
    Failure("request_too_large", lambda use: _size_of_domain_lists(use) > MAX_DOMAIN_LISTS),
)
FETCH_FAILURES = (
    EXHAUSTED,
    Failure("invalid_tool_input", lambda use: not use.is_web_address),
    Failure("url_too_long", lambda use: len(use.url) > MAX_URL),
    Failure("url_not_in_prior_context", lambda use: not use.is_in_conversation),
    Failure("url_not_allowed", lambda use: not use.is_host_allowed),
    Failure("url_not_accessible", lambda use: use.host.endswith(NO_HOST)),
    Failure("unsupported_content_type", lambda use: use.url_parts.path.lower().endswith(UNREADABLE)),
    Failure("content_too_large", lambda use: use.host == LARGE_HOST),
)
RUN_FAILURES = (NO_INPUT, TOO_LONG)
BASH_FAILURES = (
    Failure("output_file_too_large", lambda use: bool(_GIGABYTES.search(use.argument))),
    NO_INPUT,
    TOO_LONG,
)
VIEW_FAILURES = (NO_INPUT, Failure("file_not_found", lambda use: True))  # the container has no files


def _size_of_domain_lists(use: Use) -> int:
    return len(json.dumps([use.tool.get("allowed_domains"), use.tool.get("blocked_domains")]))


def _search(use: Use) -> list[dict[str, Any]]:
    page = {"type": "web_search_result", "url": "https://docs.example/page", "title": "A page", "page_age": None}
    return [{**page, "encrypted_content": use.call.session.new_id("", 32)}]


def _fetch(use: Use) -> dict[str, Any]:
    source = {"type": "text", "media_type": "text/plain", "data": f"The page at {use.url}."}
    document = {"type": "document", "source": source, "title": "A page"}
    return {"type": "web_fetch_result", "url": use.url, "content": document, "retrieved_at": rfc3339(use.call.now)}


def _code_tool(block: str, failures: tuple[Failure, ...], read_input: Callable[[Use], dict[str, Any]]) -> ServerTool:
    result = {"type": f"{block}_result", "stdout": "", "stderr": "", "return_code": 0, "content": []}
    return ServerTool("code_execution", block, failures, read_input, lambda use: result)


# by the verb of the user's line that uses it
SERVER_TOOLS: Mapping[str, ServerTool] = {
    "search": ServerTool("web_search", "web_search", SEARCH_FAILURES, lambda use: {"query": use.argument}, _search),
    "fetch": ServerTool("web_fetch", "web_fetch", FETCH_FAILURES, lambda use: {"url": use.url}, _fetch),
    "run": _code_tool("code_execution", RUN_FAILURES, lambda use: {"code": use.argument}),
    "bash": _code_tool("bash_code_execution", BASH_FAILURES, lambda use: {"command": use.argument}),
    "view": _code_tool(
        "text_editor_code_execution", VIEW_FAILURES, lambda use: {"command": "view", "path": use.argument}
    ),
}


SENTENCES = {
    "Search the web for": "search",
    "Fetch the page": "fetch",
    "Run this code:": "run",
    "Run this command:": "bash",
    "View the file": "view",
}
"""Beginning of a sentence -> the verb of the tool that it uses."""

_BEGINNINGS = "|".join((*(f"{verb}:" for verb in SERVER_TOOLS), *SENTENCES))
_LINE = re.compile(rf"^\s*({_BEGINNINGS})[ \t]*(.*?)\s*$", re.MULTILINE)

BY_BLOCK: Mapping[str, ServerTool] = {tool.block: tool for tool in SERVER_TOOLS.values()}
COUNTED = {"web_search": "web_search_requests", "web_fetch": "web_fetch_requests"}
TRANSIENT = {"server_tool_unavailable": "unavailable", "server_tool_rate_limited": "too_many_requests"}
"""The codes of failures on the provider's side, by scenario."""

CODES = frozenset({failure.code for tool in SERVER_TOOLS.values() for failure in tool.failures} | {*TRANSIENT.values()})
"""Every `error_code`."""


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
    failing_block, scenario_code = find_scenario_failure(call, offered) or ("", None)
    uses, numbers = Uses(), Counter[str]()
    for tool, argument in _find_uses(body, failing_block):
        if tool.type not in offered:
            continue
        numbers[tool.type] += 1
        use = Use(call, body, offered[tool.type], numbers[tool.type], argument)
        code = next((failure.code for failure in tool.failures if failure.happens(use)), None)
        uses.blocks += _make_blocks(tool, use, scenario_code if tool.block == failing_block else code)
    uses.usage = {name: numbers[tool] for tool, name in COUNTED.items() if numbers[tool]} or None
    return uses


def find_scenario_failure(call: Call, offered: Collection[str]) -> tuple[str, str] | None:
    """Return the block and error code of the scenario, if it is about an offered tool."""
    scenario = call.context.scenario
    is_about_a_tool = scenario is not None and scenario.name in (*TRANSIENT, "server_tool_failed")
    if scenario is None or not is_about_a_tool or BY_BLOCK[scenario.params["tool"]].type not in offered:
        return None
    call.context.take(scenario.name)
    return scenario.params["tool"], TRANSIENT.get(scenario.name) or scenario.params["code"]


def _find_uses(body: Mapping[str, Any], failing_block: str) -> list[tuple[ServerTool, str]]:
    """Return the tools and arguments of the user's lines.

    A forced or failing tool is added if no line names it.
    """
    text = last_user_text(body["messages"])
    uses = [(SERVER_TOOLS[SENTENCES.get(line[1]) or line[1][:-1]], line[2]) for line in _LINE.finditer(text)]
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
