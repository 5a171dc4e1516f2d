"""Token counts, and the input that prompt caching writes and reads (2:8.2)."""

from __future__ import annotations

import json
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog_probe.mockserver.core.echo import count_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.mockserver.core.sessions import Session

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


class InputTokens(NamedTuple):
    """The input of a request in tokens: not cached, written, and read."""

    fresh: int
    created: int
    read: int
    hourly: bool = False  # whether what is written is kept for an hour, not for five minutes


class Prefix(NamedTuple):
    """A prompt prefix that this session has marked with `cache_control`."""

    tokens: int


def measure(session: Session, body: Mapping[str, Any], input_tokens: int) -> InputTokens:
    """Split the input: up to the last `cache_control` it is written, later read."""
    prefix = _find_marked_prefix(body)
    if not prefix:
        return InputTokens(input_tokens, 0, 0)
    digest = blake2b(json.dumps([body["model"], prefix]).encode(), digest_size=16).hexdigest()
    cache = session.store(Prefix)
    tokens = count_value(prefix)
    if digest in cache:
        return InputTokens(input_tokens - tokens, 0, tokens)
    cache[digest] = Prefix(tokens)
    return InputTokens(input_tokens - tokens, tokens, 0, _is_kept_for_an_hour(prefix[-1]))


def _find_marked_prefix(body: Mapping[str, Any]) -> list[Any]:
    parts = [*body.get("tools", ()), *_list_blocks(body.get("system", ""))]
    for message in body["messages"]:
        parts.extend(_list_blocks(message["content"]))
    marked = [index for index, part in enumerate(parts) if isinstance(part, dict) and part.get("cache_control")]
    return parts[: marked[-1] + 1] if marked else []


def _is_kept_for_an_hour(block: Any) -> bool:
    control = block.get("cache_control") if isinstance(block, dict) else None
    return isinstance(control, dict) and control.get("ttl") == "1h"


def _list_blocks(content: str | list[Any]) -> list[Any]:
    return content if isinstance(content, list) else [content]
