"""The model behind PD: it repeats what it was told, cut at the number of tokens it may use."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.schema.wanted import Wanted, last_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

BYTES_PER_TOKEN = 4
MAX_ECHO = 200
NOTHING = Wanted()
"""No function, no format."""


@dataclass(frozen=True, slots=True)
class Completion:
    """What was generated, and what it used."""

    text: str
    cut: bool
    prompt_tokens: int
    completion_tokens: int
    calls: tuple[tuple[str, str], ...] = ()
    """Name and arguments, as JSON, of each function that is called; where there are any, nothing is said."""


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


def said_last(messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """The user's last words, and the functions that were called since."""
    return last_words(messages, lambda message: text_of(message.get("content")))


def complete(messages: Sequence[Mapping[str, Any]], max_tokens: int | None, wanted: Wanted = NOTHING) -> Completion:
    """The answer to a conversation."""
    calls = tuple((name, json.dumps(given)) for name, given in wanted.calls())
    text = wanted.text() or f"The mock heard: {_last_heard(messages)[:MAX_ECHO]}"
    spent = tokens_in("".join(map("".join, calls)) if calls else text)
    if calls and (max_tokens is None or spent <= max_tokens):
        return Completion("", False, prompt_tokens(messages), spent, calls)
    cut = max_tokens is not None and tokens_in(text) > max_tokens
    if cut and max_tokens is not None:
        text = text.encode()[: max_tokens * BYTES_PER_TOKEN].decode("utf-8", "ignore")
    return Completion(text, cut, prompt_tokens(messages), tokens_in(text))


def _last_heard(messages: Sequence[Mapping[str, Any]]) -> str:
    """What was heard last: the user, or what a tool of theirs had to say."""
    heard = [text_of(message.get("content")) for message in messages if message.get("role") in ("user", "tool")]
    return heard[-1] if heard else ""
