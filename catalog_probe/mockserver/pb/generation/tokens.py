"""Token counts: deterministic, and the same wherever they are shown (1:2.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.mockserver.pb.generation.prompt import Turn

MEDIA_TOKENS = 258  # of an image or file, which has no text to count


def count_value(value: Any) -> int:
    """Count the tokens of every string in a JSON value."""
    if isinstance(value, str):
        return count_tokens(value)
    if isinstance(value, list):
        return sum(map(count_value, value))
    return sum(map(count_value, value.values())) if isinstance(value, dict) else 0


def count_turns(turns: Iterable[Turn]) -> int:
    """Count the tokens of a conversation."""
    return sum(map(_count_turn, turns))


def _count_turn(turn: Turn) -> int:
    call_tokens = sum(count_tokens(call.name) + count_value(dict(call.args)) for call in turn.calls)
    return count_tokens(turn.text) + call_tokens + sum(map(count_tokens, turn.results)) + turn.media * MEDIA_TOKENS
