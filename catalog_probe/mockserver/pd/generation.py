"""The model behind PD: what it may be asked, and what it answers to a conversation."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.core.echo import count_tokens, echo_text, truncate_text
from catalog_probe.mockserver.pd.errors import MULTI_AGENT, NOT_OFFERED, UNSUPPORTED_EFFORT
from catalog_probe.mockserver.schema.requested_output import FunctionNotOffered, RequestedOutput, find_user_text

if TYPE_CHECKING:
    from catalog_probe.mockserver.pd.models import Model

Message = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Completion:
    """What was generated, and what it used."""

    text: str
    cut: bool
    prompt_tokens: int
    completion_tokens: int
    calls: tuple[tuple[str, str], ...] = ()
    """Name and arguments, as JSON, of each function that is called; where there are any, nothing is said."""


def refuse_effort(model: Model, effort: str | None) -> None:
    """`reasoning_effort` is a parameter of some models only (1:4.4)."""
    if effort is not None and not model.reasoning_effort:
        raise UNSUPPORTED_EFFORT(model=model.id)


def refuse_multi_agent(model: Model) -> None:
    """Multi-agent models are accepted by the responses endpoint alone (1:4.4)."""
    if model.multi_agent:
        raise MULTI_AGENT(model=model.id)


def read_wanted(
    read: Callable[[Message, str, Collection[str]], RequestedOutput], body: Message, messages: Sequence[Message]
) -> RequestedOutput:
    """What a body wants of the functions that it offers, and of the text."""
    try:
        return read(body, *find_user_text(messages, text_of))
    except FunctionNotOffered as error:
        raise NOT_OFFERED(name=str(error)) from None


def text_of(message: Message) -> str:
    """The text of a message: it is a string, or it is in parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text", "")) for part in content or ())


def prompt_tokens(messages: Sequence[Message]) -> int:
    """The tokens of a conversation."""
    return sum(max(1, count_tokens(text_of(message))) for message in messages)


def complete(messages: Sequence[Message], max_tokens: int | None, wanted: RequestedOutput) -> Completion:
    """The answer to a conversation: calls of functions where they fit, else a text, cut where it does not."""
    calls = tuple((name, json.dumps(given)) for name, given in wanted.make_calls())
    spent = count_tokens("".join(map("".join, calls)))
    if calls and (max_tokens is None or spent <= max_tokens):
        return Completion("", False, prompt_tokens(messages), spent, calls)
    whole = wanted.make_text() or echo_text(_last_heard(messages))
    text = truncate_text(whole, max_tokens)
    return Completion(text, text != whole, prompt_tokens(messages), max(1, count_tokens(text)))


def _last_heard(messages: Sequence[Message]) -> str:
    """What was heard last: the user, or what a tool of theirs had to say."""
    heard = [text_of(message) for message in messages if message.get("role") in ("user", "tool")]
    return heard[-1] if heard else ""
