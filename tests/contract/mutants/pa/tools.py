"""What stands in the place of how PA's server tools fail (2:7.3 "other PA facts")."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pa.generation.tool_outcome import Outcome, ToolFailure

if TYPE_CHECKING:
    from catalog_probe.mockserver.pa.generation.server_tools import Used

OTHER = "failed"
"""A code that no tool has."""

Run = Callable[..., "Used"]
Say = Callable[..., "str | Outcome | None"]
Transient = Callable[..., "tuple[str, str] | None"]


def _not(code: str) -> Callable[[Say], Say]:
    """Fails as before, but for one failure, which has another code."""

    def otherwise(fails: Say) -> Say:
        def failure(*of: Any) -> str | Outcome | None:
            found = fails(*of)
            if isinstance(found, ToolFailure):
                return ToolFailure(OTHER, found.input) if found.code == code else found
            return OTHER if found == code else found

        return failure

    return otherwise


not_invalid_tool_input = _not("invalid_tool_input")
not_max_uses_exceeded = _not("max_uses_exceeded")
not_query_too_long = _not("query_too_long")
not_request_too_large = _not("request_too_large")
not_url_too_long = _not("url_too_long")
not_url_not_allowed = _not("url_not_allowed")
not_url_not_in_prior_context = _not("url_not_in_prior_context")
not_url_not_accessible = _not("url_not_accessible")
not_unsupported_content_type = _not("unsupported_content_type")
not_content_too_large = _not("content_too_large")
not_execution_time_exceeded = _not("execution_time_exceeded")
not_output_file_too_large = _not("output_file_too_large")
not_file_not_found = _not("file_not_found")


def _fails_otherwise(tool: str, code: str) -> Callable[[Transient], Transient]:
    def otherwise(transient: Transient) -> Transient:
        def failure(*of: Any) -> tuple[str, str] | None:
            found = transient(*of)
            return (tool, OTHER) if found == (tool, code) else found

        return failure

    return otherwise


web_search_not_unavailable = _fails_otherwise("web_search", "unavailable")
web_search_not_too_many_requests = _fails_otherwise("web_search", "too_many_requests")
web_fetch_not_unavailable = _fails_otherwise("web_fetch", "unavailable")
web_fetch_not_too_many_requests = _fails_otherwise("web_fetch", "too_many_requests")
code_execution_not_unavailable = _fails_otherwise("code_execution", "unavailable")
code_execution_not_too_many_requests = _fails_otherwise("code_execution", "too_many_requests")
