"""The model behind PD: it repeats what it was told, cut at the number of tokens it may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

BYTES_PER_TOKEN = 4
MAX_ECHO = 200


@dataclass(frozen=True, slots=True)
class Completion:
    """What was generated, and what it used."""

    text: str
    cut: bool
    prompt_tokens: int
    completion_tokens: int


def tokens_in(text: str) -> int:
    """A rough count; even an empty text has one."""
    return max(1, -(-len(text.encode()) // BYTES_PER_TOKEN))


def pieces(text: str) -> list[str]:
    """The text in the tokens of this mock: `BYTES_PER_TOKEN` characters each."""
    return [text[start : start + BYTES_PER_TOKEN] for start in range(0, len(text), BYTES_PER_TOKEN)]


def text_of(content: str | Sequence[Mapping[str, Any]] | None) -> str:
    """The text of a message: it is a string, or it is in parts."""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text", "")) for part in content or ())


def prompt_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    """The tokens of a conversation."""
    return sum(tokens_in(text_of(message.get("content"))) for message in messages)


def complete(messages: Sequence[Mapping[str, Any]], max_tokens: int | None) -> Completion:
    """The answer to a conversation."""
    said = [text_of(message.get("content")) for message in messages if message.get("role") == "user"]
    text = f"The mock heard: {said[-1][:MAX_ECHO] if said else ''}"
    cut = max_tokens is not None and tokens_in(text) > max_tokens
    if cut and max_tokens is not None:
        text = text.encode()[: max_tokens * BYTES_PER_TOKEN].decode("utf-8", "ignore")
    return Completion(text, cut, prompt_tokens(messages), tokens_in(text))
