"""The model behind PC: it repeats what it heard, or counts as far as it is asked to, and stops where it must."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.echo import BYTES_PER_TOKEN, count_tokens, echo_text
from catalog_probe.mockserver.core.streams import split_text
from catalog_probe.mockserver.pc.causes import FILTER, MESSAGES

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pc.models import Model
    from catalog_probe.mockserver.schema.requested_output import RequestedOutput

REASONING_TOKENS = 8
"""What a reasoning model thinks before it speaks; it counts as output."""

COUNT = re.compile(r"\bcount to (\d{1,4})\b", re.IGNORECASE)
"""What makes a response long enough to be cut off, or steered while it is still active."""


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


def generate(context: Context, model: Model, prompt_text: str, limit: int | None, wanted: RequestedOutput) -> Generated:
    """Answer a prompt in at most `limit` tokens, unless a filter or the limit of messages stops it first."""
    reasoning = REASONING_TOKENS if model.reasoning else 0
    calls = tuple((name, json.dumps(arguments)) for name, arguments in wanted.make_calls())
    text, stopped = "", None
    for piece in ["".join(map("".join, calls))] if calls else _pieces(prompt_text, wanted):
        if limit is not None and reasoning + count_tokens(text + piece) > limit:
            stopped = "max_output_tokens"
            break
        text += piece
    if context.take(FILTER) is not None:
        stopped = "content_filter"
    elif context.take(MESSAGES) is not None:
        stopped = "max_messages"
    if calls:
        spent = reasoning + count_tokens(text)
        return Generated("", stopped, count_tokens(prompt_text), spent, reasoning, () if stopped else calls)
    text = text.rstrip() if stopped is None else text
    return Generated(text, stopped, count_tokens(prompt_text), reasoning + count_tokens(text), reasoning)


def _pieces(prompt_text: str, wanted: RequestedOutput) -> Iterable[str]:
    """What there is to say, a token or so at a time."""
    text = wanted.make_text()
    if text is not None:
        return split_text(text, BYTES_PER_TOKEN)
    count = COUNT.search(prompt_text)
    words = map(str, range(1, int(count[1]) + 1)) if count is not None else echo_text(prompt_text).split()
    return (f"{word} " for word in words)
