"""web_search and web_fetch on a tiny web, where the request decides what goes wrong (2:7.3 "other PA facts").

| what the request does | error_code |
|---|---|
| more directives for the tool than its `max_uses` | max_uses_exceeded |
| `search:` with nothing after it | web_search invalid_tool_input |
| a query of more than 1000 characters | query_too_long |
| domain lists of the tool that are over 8192 bytes together | request_too_large |
| `fetch:` of something that is no http(s) address | web_fetch invalid_tool_input |
| an address of more than 250 characters | url_too_long |
| a bare `host/path` whose https address appears nowhere in the conversation | url_not_in_prior_context |
| a host outside `allowed_domains` or inside `blocked_domains` | url_not_allowed |
| a host under `.invalid` (RFC 2606: never exists) | url_not_accessible |
| a path ending in an extension that holds no text (`.zip`, `.mp4`, ...) | unsupported_content_type |
| a page of `large.example` | content_too_large |
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.generation.tool_outcome import Outcome, Setting, ToolFailure

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_QUERY = 1_000
MAX_DOMAIN_LISTS = 8_192
MAX_URL = 250
LARGE_HOST = "large.example"
UNREADABLE = (".zip", ".gz", ".tar", ".exe", ".mp3", ".mp4", ".png", ".jpg", ".bin")

_BARE_ADDRESS = re.compile(r"[\w-]+(\.[\w-]+)+(/\S*)?")


def search(setting: Setting, query: str) -> Outcome:
    """Search the tiny web: it always finds one page."""
    asked = {"query": query}
    code = search_failure(setting, query)
    if code:
        return ToolFailure(code, asked)
    page = {
        "type": "web_search_result",
        "url": "https://docs.example/page",
        "title": "A page",
        "encrypted_content": setting.call.session.new_id("", 32),
        "page_age": None,
    }
    return Outcome(asked, [page])


def fetch(setting: Setting, address: str) -> Outcome:
    """Fetch a page of the tiny web."""
    url = f"https://{address}" if _BARE_ADDRESS.fullmatch(address) else address
    asked = {"url": url}
    code = fetch_failure(setting, url)
    if code:
        return ToolFailure(code, asked)
    document = {
        "type": "document",
        "source": {"type": "text", "media_type": "text/plain", "data": f"The page at {url}."},
        "title": "A page",
    }
    result = {"type": "web_fetch_result", "url": url, "content": document, "retrieved_at": rfc3339(setting.call.now)}
    return Outcome(asked, result)


def search_failure(setting: Setting, query: str) -> str | None:
    lists = {name: setting.tool.get(name) for name in ("allowed_domains", "blocked_domains")}
    if setting.exhausted:
        return "max_uses_exceeded"
    if not query:
        return "invalid_tool_input"
    if len(query) > MAX_QUERY:
        return "query_too_long"
    return "request_too_large" if len(json.dumps(lists)) > MAX_DOMAIN_LISTS else None


def fetch_failure(setting: Setting, url: str) -> str | None:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "invalid_tool_input"
    host = (parts.hostname or "").lower()
    if setting.exhausted:
        return "max_uses_exceeded"
    if parts.scheme not in ("http", "https") or not host or re.search(r"\s", url):
        return "invalid_tool_input"
    if len(url) > MAX_URL:
        return "url_too_long"
    if url not in json.dumps(setting.body["messages"], ensure_ascii=False):
        return "url_not_in_prior_context"
    if not allowed(setting.tool, host):
        return "url_not_allowed"
    if host.endswith(".invalid"):
        return "url_not_accessible"
    if parts.path.lower().endswith(UNREADABLE):
        return "unsupported_content_type"
    return "content_too_large" if host == LARGE_HOST else None


def allowed(tool: Mapping[str, Any], host: str) -> bool:
    def listed(name: str) -> bool:
        return any(host == domain or host.endswith(f".{domain}") for domain in tool.get(name) or ())

    return (not tool.get("allowed_domains") or listed("allowed_domains")) and not listed("blocked_domains")
