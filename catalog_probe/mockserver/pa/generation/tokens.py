"""The token counts of requests and answers (2:8.2 "total input")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

PER_MESSAGE = 3
PER_MEDIA = 1_500  # an image or document by reference, whose text the mock cannot count

# fields that no model reads
_NOT_TEXT = frozenset({"type", "role", "id", "tool_use_id", "signature", "encrypted_content", "cache_control"})

_COUNTED_FIELDS = ("system", "messages", "tools", "tool_choice", "thinking")


def count_input(body: Mapping[str, Any]) -> int:
    """Count the input tokens of a request."""
    overhead = PER_MESSAGE * len(body["messages"])
    return overhead + sum(count_value(body[name]) for name in _COUNTED_FIELDS if name in body)


def count_value(value: Any) -> int:
    """Count the tokens of every text inside a JSON value."""
    if isinstance(value, str):
        return count_tokens(value)
    if isinstance(value, list):
        return sum(map(count_value, value))
    if isinstance(value, dict):
        if value.get("type") in ("base64", "file", "url"):
            return PER_MEDIA
        return sum(count_value(item) for key, item in value.items() if key not in _NOT_TEXT)
    return 1 if isinstance(value, (int, float)) and not isinstance(value, bool) else 0
