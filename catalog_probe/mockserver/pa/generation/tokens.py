"""Counting tokens of a request and of an answer: the same wherever a count is shown (2:8.2 "total input")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

PER_MESSAGE = 3
PER_MEDIA = 1_500
"""An image or a document by reference: its content is not text that the mock could count."""

_NOT_TEXT = frozenset({"type", "role", "id", "tool_use_id", "signature", "encrypted_content", "cache_control"})
"""Fields that say how a text is carried; no model reads them."""

_COUNTED_FIELDS = ("system", "messages", "tools", "tool_choice", "thinking")


def count_input(body: Mapping[str, Any]) -> int:
    """Tokens of everything a request puts before the model."""
    overhead = PER_MESSAGE * len(body["messages"])
    return overhead + sum(count_value(body[name]) for name in _COUNTED_FIELDS if name in body)


def count_value(value: Any) -> int:
    """Tokens of every text inside a JSON value."""
    if isinstance(value, str):
        return count_tokens(value)
    if isinstance(value, list):
        return sum(map(count_value, value))
    if isinstance(value, dict):
        if value.get("type") in ("base64", "file", "url"):
            return PER_MEDIA
        return sum(count_value(item) for key, item in value.items() if key not in _NOT_TEXT)
    return 1 if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
