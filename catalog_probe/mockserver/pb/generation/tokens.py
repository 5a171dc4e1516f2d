"""Counting tokens: deterministic, proportional to the text, and the same wherever a count is shown (1:2.6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.mockserver.pb.generation.prompt import Turn

PER_MEDIA = 258
"""An image or file by reference: its content is not text that the mock could count."""


def count_value(value: Any) -> int:
    """Tokens of every text inside a JSON value."""
    if isinstance(value, str):
        return count_tokens(value)
    if isinstance(value, list):
        return sum(map(count_value, value))
    return sum(map(count_value, value.values())) if isinstance(value, dict) else 0


def count_turns(turns: Iterable[Turn]) -> int:
    """Tokens of a conversation."""
    return sum(map(_count_turn, turns))


def _count_turn(turn: Turn) -> int:
    called = sum(count_tokens(call.name) + count_value(dict(call.args)) for call in turn.calls)
    return count_tokens(turn.text) + called + sum(map(count_tokens, turn.results)) + turn.media * PER_MEDIA
