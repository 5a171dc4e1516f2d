"""web_search and web_fetch on a tiny web, where the request decides what goes wrong (2:7.3 "other PA facts")."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, urlsplit

from catalog_probe.mockserver.core.clock import rfc3339
from catalog_probe.mockserver.pa.generation.tool_uses import Directive, Failure, Use

# the documents name the codes and no bounds: these are ours
MAX_QUERY = 1_000
MAX_DOMAIN_LISTS = 8_192
MAX_URL = 250
LARGE_HOST = "large.example"
NO_HOST = ".invalid"
"""Never exists (RFC 2606)."""
UNREADABLE = (".zip", ".gz", ".tar", ".exe", ".mp3", ".mp4", ".png", ".jpg", ".bin")

_BARE_ADDRESS = re.compile(r"[\w-]+(\.[\w-]+)+(/\S*)?")


def url_of(use: Use) -> str:
    """The address that is fetched; the model adds the scheme where the user left it out."""
    return f"https://{use.argument}" if _BARE_ADDRESS.fullmatch(use.argument) else use.argument


def _split(use: Use) -> SplitResult:
    try:
        return urlsplit(url_of(use))
    except ValueError:
        return SplitResult("", "", "", "", "")


def _host(use: Use) -> str:
    return (_split(use).hostname or "").lower()


def is_web_address(use: Use) -> bool:
    """Whether what is fetched has an http(s) address."""
    is_web = _split(use).scheme in ("http", "https") and bool(_host(use))
    return is_web and not re.search(r"\s", url_of(use))


def is_allowed(tool: Mapping[str, Any], host: str) -> bool:
    """Whether the domain lists of a tool let it go to a host."""

    def is_listed(name: str) -> bool:
        return any(host == domain or host.endswith(f".{domain}") for domain in tool.get(name) or ())

    return (not tool.get("allowed_domains") or is_listed("allowed_domains")) and not is_listed("blocked_domains")


def _size_of_domain_lists(use: Use) -> int:
    return len(json.dumps([use.tool.get("allowed_domains"), use.tool.get("blocked_domains")]))


SEARCH_FAILURES = (
    Failure("max_uses_exceeded", lambda use: use.is_exhausted),
    Failure("invalid_tool_input", lambda use: not use.argument),
    Failure("query_too_long", lambda use: len(use.argument) > MAX_QUERY),
    Failure("request_too_large", lambda use: _size_of_domain_lists(use) > MAX_DOMAIN_LISTS),
)

FETCH_FAILURES = (
    Failure("max_uses_exceeded", lambda use: use.is_exhausted),
    Failure("invalid_tool_input", lambda use: not is_web_address(use)),
    Failure("url_too_long", lambda use: len(url_of(use)) > MAX_URL),
    # a bare host/path, whose https address appears nowhere in the conversation
    Failure(
        "url_not_in_prior_context",
        lambda use: url_of(use) not in json.dumps(use.body["messages"], ensure_ascii=False),
    ),
    Failure("url_not_allowed", lambda use: not is_allowed(use.tool, _host(use))),
    Failure("url_not_accessible", lambda use: _host(use).endswith(NO_HOST)),
    Failure("unsupported_content_type", lambda use: _split(use).path.lower().endswith(UNREADABLE)),
    Failure("content_too_large", lambda use: _host(use) == LARGE_HOST),
)


def _search(use: Use) -> list[dict[str, Any]]:
    """Search the tiny web: it always finds one page."""
    return [
        {
            "type": "web_search_result",
            "url": "https://docs.example/page",
            "title": "A page",
            "encrypted_content": use.call.session.new_id("", 32),
            "page_age": None,
        }
    ]


def _fetch(use: Use) -> dict[str, Any]:
    url = url_of(use)
    source = {"type": "text", "media_type": "text/plain", "data": f"The page at {url}."}
    document = {"type": "document", "source": source, "title": "A page"}
    return {"type": "web_fetch_result", "url": url, "content": document, "retrieved_at": rfc3339(use.call.now)}


SEARCH = Directive("web_search", "web_search", SEARCH_FAILURES, lambda use: {"query": use.argument}, _search)
FETCH = Directive("web_fetch", "web_fetch", FETCH_FAILURES, lambda use: {"url": url_of(use)}, _fetch)
