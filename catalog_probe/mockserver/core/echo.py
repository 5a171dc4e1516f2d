"""The model behind every provider: it repeats the prompt."""

from __future__ import annotations

BYTES_PER_TOKEN = 4
MAX_REPEATED = 200  # characters


def count_tokens(text: str) -> int:
    """Count the tokens of a text, in proportion to its bytes; an empty text has none."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)


def echo_text(prompt: str) -> str:
    """Return the model's answer to a prompt."""
    return f"The mock heard: {prompt[:MAX_REPEATED]}"


def truncate_text(text: str, tokens: int | None) -> str:
    """Cut a text at a number of tokens; None leaves it whole."""
    if tokens is None or count_tokens(text) <= tokens:
        return text
    return text.encode("utf-8", "replace")[: tokens * BYTES_PER_TOKEN].decode("utf-8", "ignore")
