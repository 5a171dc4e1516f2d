"""The model behind PC: it repeats what it heard, or counts as far as it is asked to, and stops where it must."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.pc.causes import FILTER, MESSAGES
from catalog_probe.mockserver.pc.errors import CONTEXT_LENGTH_EXCEEDED
from catalog_probe.mockserver.pc.generation.echo import BYTES_PER_TOKEN, pieces, tokens
from catalog_probe.mockserver.schema.wanted import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pc.models import Model

NOTHING = Wanted()
"""No function, no format."""

REASONING_TOKENS = 8
"""What a reasoning model thinks before it speaks; it counts as output."""


@dataclass(frozen=True)
class Generated:
    """What was said, or which functions are called. `stopped`: why that is not all, by a reason of 1:3, or None."""

    text: str
    stopped: str | None
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int = 0
    calls: tuple[tuple[str, str], ...] = ()
    """Name and arguments of each; where there are any, nothing is said."""


def generate(context: Context, model: Model, heard: str, limit: int | None, wanted: Wanted = NOTHING) -> Generated:
    """Answer `heard` in at most `limit` tokens, unless a filter or the limit of messages stops it first."""
    reasoning = REASONING_TOKENS if model.reasoning else 0
    calls = tuple((name, json.dumps(given)) for name, given in wanted.calls())
    said, stopped = "", None
    for piece in ["".join(map("".join, calls))] if calls else _pieces(heard, wanted):
        if limit is not None and reasoning + tokens(said + piece) > limit:
            stopped = "max_output_tokens"
            break
        said += piece
    if context.take(FILTER) is not None:
        stopped = "content_filter"
    elif context.take(MESSAGES) is not None:
        stopped = "max_messages"
    spent = reasoning + tokens(said)
    if calls:
        return Generated("", stopped, tokens(heard), spent, reasoning, () if stopped else calls)
    said = said.rstrip() if stopped is None else said
    return Generated(said, stopped, tokens(heard), reasoning + tokens(said), reasoning)


def _pieces(heard: str, wanted: Wanted) -> Iterable[str]:
    """What there is to say, a token or so at a time."""
    text = wanted.text()
    if text is None:
        return pieces(heard)
    return (text[start : start + BYTES_PER_TOKEN] for start in range(0, len(text), BYTES_PER_TOKEN))


def check_window(model: Model, heard: str, limit: int | None, param: str) -> int:
    """The tokens of the prompt, or 400 where they and the output would not fit into the window (2:7.5).

    The documents show no words of it; these are what clients look for who tell it from other refusals.
    """
    prompt = tokens(heard)
    if prompt + (limit or 0) > model.context_window:
        message = (
            f"This model's maximum context length is {model.context_window} tokens, and your input exceeds the context "
            f"window of this model: {prompt} tokens, with {limit or 0} for the output. Please shorten one of them."
        )
        raise CONTEXT_LENGTH_EXCEEDED(message, param)
    return prompt
