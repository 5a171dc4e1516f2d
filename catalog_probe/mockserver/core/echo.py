"""The model behind every provider: it repeats what it heard, in as many tokens as it may use."""

from __future__ import annotations

BYTES_PER_TOKEN = 4
MOST_REPEATED = 200
"""Characters."""


def count_tokens(text: str) -> int:
    """Tokens of a text: deterministic, proportional to its bytes; an empty text has none."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def repeat(heard: str) -> str:
    """What the model says to that."""
    return f"The mock heard: {heard[:MOST_REPEATED]}"


def cut_to(text: str, tokens: int | None) -> str:
    """As much of the text as fits into so many tokens; all of it where there is no limit."""
    if tokens is None or count_tokens(text) <= tokens:
        return text
    return text.encode("utf-8", "replace")[: tokens * BYTES_PER_TOKEN].decode("utf-8", "ignore")
