"""Replacements for how PA's server tools fail (2:7.3 "other PA facts")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OTHER = "failed"
"""A code that no tool has."""

Transient = Callable[..., "tuple[str, str] | None"]


def _fails_otherwise(tool: str, code: str) -> Callable[[Transient], Transient]:
    def replacement(transient: Transient) -> Transient:
        def replacement(*args: Any) -> tuple[str, str] | None:
            found = transient(*args)
            return (tool, OTHER) if found == (tool, code) else found

        return replacement

    return replacement


web_search_not_unavailable = _fails_otherwise("web_search", "unavailable")
web_search_not_too_many_requests = _fails_otherwise("web_search", "too_many_requests")
web_fetch_not_unavailable = _fails_otherwise("web_fetch", "unavailable")
web_fetch_not_too_many_requests = _fails_otherwise("web_fetch", "too_many_requests")
code_execution_not_unavailable = _fails_otherwise("code_execution", "unavailable")
code_execution_not_too_many_requests = _fails_otherwise("code_execution", "too_many_requests")
