"""PD's simulated model: what a request may ask of it, and what it answers."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens, echo_text, truncate_text
from catalog_probe.mockserver.pd.errors import MULTI_AGENT, UNSUPPORTED_EFFORT

if TYPE_CHECKING:
    from catalog_probe.mockserver.pd.models import Model
    from catalog_probe.mockserver.schema.requested_output import RequestedOutput

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Completion:
    """A generated answer and its token counts."""

    text: str
    is_truncated: bool
    prompt_tokens: int
    completion_tokens: int
    calls: tuple[tuple[str, str], ...] = ()  # name and JSON arguments of each called function; then `text` is empty


def refuse_effort(model: Model, effort: str | None) -> None:
    """Refuse `reasoning_effort` for a model that does not take it (1:4.4)."""
    if effort is not None and not model.reasoning_effort:
        raise UNSUPPORTED_EFFORT(model=model.id)


def refuse_multi_agent(model: Model) -> None:
    """Refuse a multi-agent model: only the responses endpoint accepts it (1:4.4)."""
    if model.multi_agent:
        raise MULTI_AGENT(model=model.id)


def text_of(message: Message) -> str:
    """Return the text of a message, whose content is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return " ".join(str(part["text"]) for part in content or () if part.get("text"))


def count_prompt_tokens(messages: Sequence[Message]) -> int:
    """Count the tokens of a conversation; a message has at least one."""
    return sum(max(1, count_tokens(text_of(message))) for message in messages)


def complete(messages: Sequence[Message], max_tokens: int | None, requested: RequestedOutput) -> Completion:
    """Answer with function calls if they fit, else with a truncated text."""
    calls = tuple((name, json.dumps(arguments)) for name, arguments in requested.make_calls())
    call_tokens = count_tokens("".join(map("".join, calls)))
    prompt_tokens = count_prompt_tokens(messages)
    if calls and (max_tokens is None or call_tokens <= max_tokens):
        return Completion("", False, prompt_tokens, call_tokens, calls)
    full_text = requested.make_text() or echo_text(_find_last_input(messages))
    text = truncate_text(full_text, max_tokens)
    return Completion(text, text != full_text, prompt_tokens, max(1, count_tokens(text)))


def _find_last_input(messages: Sequence[Message]) -> str:
    """Return the text of the last message of a user or a tool."""
    inputs = [text_of(message) for message in messages if message.get("role") in ("user", "tool")]
    return inputs[-1] if inputs else ""
