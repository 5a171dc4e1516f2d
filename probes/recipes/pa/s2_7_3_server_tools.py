"""2:7.3 "Other PA facts" and 1:6: what PA tells inside or after a 200: failed server tools, refusals, stream errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .requests import SERVER_TOOL, create_message, user_turn

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls import Call

FETCH = {"type": "web_fetch_20250910", "name": "web_fetch"}
CODE = {"type": "code_execution_20250825", "name": "code_execution"}

FAMILY = Family("pa/errors/server_tools")
TOKENS = 400
"""Upper bound for a message that uses a server tool once."""

TOOL_PREFIXES = ("web_search_", "web_fetch_", "code_execution_text_editor_")

MODELS_CHOICE = (ReasonCode.PROVIDER_ONLY_CAUSE, "what a live model asks of its server tool is its own choice")


def use_tool(tool: dict[str, Any], prompt: str, **fields: Json) -> Call:
    return create_message(max_tokens=64, messages=user_turn(prompt), tools=[{**tool, **fields}])


def tool_error_recipe(slug: str, call: Call) -> Recipe:
    """A generated message, which costs, in which a server tool fails."""
    return FAMILY.recipe(slug, call, cost=Cost.BILLABLE, tokens=TOKENS, not_live=MODELS_CHOICE)


def natural_recipe(slug: str, call: Call) -> Recipe:
    """A generated message, which costs, in which the user's own request leaves the tool no other result.

    The address is too long, dead or outside `allowed_domains`, the uses are spent, or the file does not exist. The
    error may not come, because the model need not use its tool. Example: the code of `web_fetch_url_too_long` is
    `url_too_long`.
    """
    code = next(slug.removeprefix(tool) for tool in TOOL_PREFIXES if slug.startswith(tool))
    return FAMILY.recipe(slug, call.replace(may_not_come=code), cost=Cost.BILLABLE, tokens=TOKENS)


def outage_recipe(slug: str, tool: dict[str, Any], name: str, cause: str) -> Recipe:
    """A failure of the tool's own service, which only a scenario brings about."""
    return tool_error_recipe(slug, use_tool(tool, "use the tool").with_scenario(f"{cause};tool={name}"))


LONG_TEXT = "x" * 1_200
MANY_DOMAINS = [f"host-{number:04}.example" for number in range(600)]

RECIPES: tuple[Recipe, ...] = (
    # 1:6 "refusal stop: not an error: HTTP 200 with stop_reason `refusal` and stop_details.category"
    Family("pa/errors/outcomes").recipe(
        "refusal", create_message(max_tokens=64).with_scenario("refusal"), cost=Cost.BILLABLE, tokens=TOKENS
    ),
    # 1:6 "after HTTP 200 the stream may emit an event named `error`"
    Family("pa/errors/stream").recipe(
        "overloaded",
        create_message(stream=True, max_tokens=16).replace(stream=True).with_scenario("overloaded_mid_stream"),
        cost=Cost.BILLABLE,
        tokens=TOKENS,
    ),
    # "web_search (invalid_tool_input, unavailable, max_uses_exceeded, too_many_requests, query_too_long,
    # request_too_large)"
    tool_error_recipe("web_search_invalid_tool_input", use_tool(SERVER_TOOL, "Search the web for")),
    outage_recipe("web_search_unavailable", SERVER_TOOL, "web_search", "server_tool_unavailable"),
    natural_recipe(
        "web_search_max_uses_exceeded",
        use_tool(SERVER_TOOL, "Search the web for one\nSearch the web for two", max_uses=1),
    ),
    outage_recipe("web_search_too_many_requests", SERVER_TOOL, "web_search", "server_tool_rate_limited"),
    tool_error_recipe("web_search_query_too_long", use_tool(SERVER_TOOL, f"Search the web for {LONG_TEXT}")),
    tool_error_recipe(
        "web_search_request_too_large", use_tool(SERVER_TOOL, "Search the web for one", allowed_domains=MANY_DOMAINS)
    ),
    # "web_fetch (invalid_tool_input, url_too_long, url_not_allowed, url_not_in_prior_context, url_not_accessible,
    # unsupported_content_type, too_many_requests, max_uses_exceeded, unavailable, content_too_large)"
    tool_error_recipe("web_fetch_invalid_tool_input", use_tool(FETCH, "Fetch the page not an address")),
    natural_recipe("web_fetch_url_too_long", use_tool(FETCH, f"Fetch the page https://docs.example/{LONG_TEXT}")),
    natural_recipe(
        "web_fetch_url_not_allowed",
        use_tool(FETCH, "Fetch the page https://other.example/", allowed_domains=["docs.example"]),
    ),
    tool_error_recipe("web_fetch_url_not_in_prior_context", use_tool(FETCH, "Fetch the page docs.example/page")),
    natural_recipe("web_fetch_url_not_accessible", use_tool(FETCH, "Fetch the page https://nothing.invalid/page")),
    tool_error_recipe(
        "web_fetch_unsupported_content_type", use_tool(FETCH, "Fetch the page https://docs.example/archive.zip")
    ),
    outage_recipe("web_fetch_too_many_requests", FETCH, "web_fetch", "server_tool_rate_limited"),
    natural_recipe(
        "web_fetch_max_uses_exceeded",
        use_tool(FETCH, "Fetch the page https://docs.example/1\nFetch the page https://docs.example/2", max_uses=1),
    ),
    outage_recipe("web_fetch_unavailable", FETCH, "web_fetch", "server_tool_unavailable"),
    tool_error_recipe("web_fetch_content_too_large", use_tool(FETCH, "Fetch the page https://large.example/page")),
    # "code_execution (invalid_tool_input, unavailable, too_many_requests, execution_time_exceeded, plus
    # output_file_too_large for bash and file_not_found for the text editor)"
    tool_error_recipe("code_execution_invalid_tool_input", use_tool(CODE, "Run this code:")),
    outage_recipe("code_execution_unavailable", CODE, "code_execution", "server_tool_unavailable"),
    outage_recipe("code_execution_too_many_requests", CODE, "code_execution", "server_tool_rate_limited"),
    tool_error_recipe("code_execution_execution_time_exceeded", use_tool(CODE, "Run this code: while True: pass")),
    tool_error_recipe(
        "code_execution_bash_output_file_too_large", use_tool(CODE, "Run this command: truncate -s 10G out.bin")
    ),
    natural_recipe("code_execution_text_editor_file_not_found", use_tool(CODE, "View the file /no/such/file.txt")),
)
