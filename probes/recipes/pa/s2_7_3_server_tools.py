"""2:7.3 "Other PA facts" and 1:6: what PA tells inside or after a 200: failed server tools, refusals, stream errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.probes.recipes.recipe import Family, Recipe
from catalog_probe.probes.targets.target import Cost

from .requests import SERVER_TOOL as SEARCH
from .requests import message, said

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json
    from catalog_probe.probes.calls.call import Call

FETCH = {"type": "web_fetch_20250910", "name": "web_fetch"}
CODE = {"type": "code_execution_20250825", "name": "code_execution"}

FAMILY = Family("pa/errors/server_tools")
TOKENS = 400
"""An upper bound for a message that uses a server tool once."""

MODELS_CHOICE = (ReasonCode.PROVIDER_ONLY_CAUSE, "what a live model asks of its server tool is its own choice")


def using(tool: dict[str, Any], prompt: str, **fields: Json) -> Call:
    """A message that offers one server tool and asks for its use."""
    return message(max_tokens=64, messages=said(prompt), tools=[{**tool, **fields}])


def tool_error(slug: str, call: Call) -> Recipe:
    """A message that is generated, so it costs, in which a server tool fails."""
    return FAMILY.recipe(slug, call, cost=Cost.BILLABLE, tokens=TOKENS, not_live=MODELS_CHOICE)


def transient(slug: str, tool: dict[str, Any], name: str, cause: str) -> Recipe:
    """A failure of the tool's own service, which no request brings about."""
    return tool_error(slug, using(tool, "use the tool").with_scenario(f"{cause};tool={name}"))


LONG = "x" * 1_200
WIDE = [f"host-{number:04}.example" for number in range(600)]

RECIPES: tuple[Recipe, ...] = (
    # 1:6 "refusal stop: not an error: HTTP 200 with stop_reason `refusal` and stop_details.category"
    Family("pa/errors/outcomes").recipe(
        "refusal",
        message(max_tokens=64).with_scenario("refusal"),
        cost=Cost.BILLABLE,
        tokens=TOKENS,
    ),
    # 1:6 "after HTTP 200 the stream may emit an event named `error`"
    Family("pa/errors/stream").recipe(
        "overloaded",
        message(stream=True, max_tokens=16).replace(stream=True).with_scenario("overloaded_mid_stream"),
        cost=Cost.BILLABLE,
        tokens=TOKENS,
    ),
    # "web_search (invalid_tool_input, unavailable, max_uses_exceeded, too_many_requests, query_too_long,
    # request_too_large)"
    tool_error("web_search_invalid_tool_input", using(SEARCH, "search:")),
    transient("web_search_unavailable", SEARCH, "web_search", "server_tool_unavailable"),
    tool_error("web_search_max_uses_exceeded", using(SEARCH, "search: one\nsearch: two", max_uses=1)),
    transient("web_search_too_many_requests", SEARCH, "web_search", "server_tool_rate_limited"),
    tool_error("web_search_query_too_long", using(SEARCH, f"search: {LONG}")),
    tool_error("web_search_request_too_large", using(SEARCH, "search: one", allowed_domains=WIDE)),
    # "web_fetch (invalid_tool_input, url_too_long, url_not_allowed, url_not_in_prior_context, url_not_accessible,
    # unsupported_content_type, too_many_requests, max_uses_exceeded, unavailable, content_too_large)"
    tool_error("web_fetch_invalid_tool_input", using(FETCH, "fetch: not an address")),
    tool_error("web_fetch_url_too_long", using(FETCH, f"fetch: https://docs.example/{LONG}")),
    tool_error(
        "web_fetch_url_not_allowed", using(FETCH, "fetch: https://other.example/", allowed_domains=["docs.example"])
    ),
    tool_error("web_fetch_url_not_in_prior_context", using(FETCH, "fetch: docs.example/page")),
    tool_error("web_fetch_url_not_accessible", using(FETCH, "fetch: https://nothing.invalid/page")),
    tool_error("web_fetch_unsupported_content_type", using(FETCH, "fetch: https://docs.example/archive.zip")),
    transient("web_fetch_too_many_requests", FETCH, "web_fetch", "server_tool_rate_limited"),
    tool_error(
        "web_fetch_max_uses_exceeded",
        using(FETCH, "fetch: https://docs.example/1\nfetch: https://docs.example/2", max_uses=1),
    ),
    transient("web_fetch_unavailable", FETCH, "web_fetch", "server_tool_unavailable"),
    tool_error("web_fetch_content_too_large", using(FETCH, "fetch: https://large.example/page")),
    # "code_execution (invalid_tool_input, unavailable, too_many_requests, execution_time_exceeded, plus
    # output_file_too_large for bash and file_not_found for the text editor)"
    tool_error("code_execution_invalid_tool_input", using(CODE, "run:")),
    transient("code_execution_unavailable", CODE, "code_execution", "server_tool_unavailable"),
    transient("code_execution_too_many_requests", CODE, "code_execution", "server_tool_rate_limited"),
    tool_error("code_execution_execution_time_exceeded", using(CODE, "run: while True: pass")),
    tool_error("code_execution_bash_output_file_too_large", using(CODE, "bash: truncate -s 10G out.bin")),
    tool_error("code_execution_text_editor_file_not_found", using(CODE, "view: /no/such/file.txt")),
)
