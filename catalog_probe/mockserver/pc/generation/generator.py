"""PC's simulated model, which echoes the prompt or counts on request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from catalog_probe.mockserver.core.echo import BYTES_PER_TOKEN, count_tokens, echo_text
from catalog_probe.mockserver.core.streams import split_text
from catalog_probe.mockserver.pc.scenarios import FILTER, MESSAGES

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.world import Context
    from catalog_probe.mockserver.pc.models import Model
    from catalog_probe.mockserver.schema.requested_output import RequestedOutput

REASONING_TOKENS = 8  # of a reasoning model for each answer; they count as output

COUNT = re.compile(r"\bcount to (\d{1,4})\b", re.IGNORECASE)
"""A request for an answer that is long enough to be truncated, or steered while it is active."""


@dataclass(frozen=True)
class Generated:
    """A generated text, or function calls.

    Args:
        incomplete_reason: why it is incomplete, as 1:3 names it; None for a complete one.
        calls: name and JSON arguments of each called function; then `text` is empty.
    """

    text: str
    incomplete_reason: str | None
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int = 0
    calls: tuple[tuple[str, str], ...] = ()


def generate(
    context: Context, model: Model, prompt_text: str, limit: int | None, requested: RequestedOutput
) -> Generated:
    """Answer a prompt in at most `limit` tokens, unless a scenario stops it."""
    reasoning = REASONING_TOKENS if model.reasoning else 0
    calls = tuple((name, json.dumps(arguments)) for name, arguments in requested.make_calls())
    pieces = ["".join(map("".join, calls))] if calls else _make_pieces(prompt_text, requested)
    text, reason = "", None
    for piece in pieces:
        if limit is not None and reasoning + count_tokens(text + piece) > limit:
            reason = "max_output_tokens"
            break
        text += piece
    if context.take(FILTER) is not None:
        reason = "content_filter"
    elif context.take(MESSAGES) is not None:
        reason = "max_messages"
    if reason is None and not calls:
        text = text.rstrip()
    input_tokens, output_tokens = count_tokens(prompt_text), reasoning + count_tokens(text)
    if calls:
        return Generated("", reason, input_tokens, output_tokens, reasoning, () if reason else calls)
    return Generated(text, reason, input_tokens, output_tokens, reasoning)


def _make_pieces(prompt_text: str, requested: RequestedOutput) -> Iterable[str]:
    """Return the answer in pieces of about a token."""
    text = requested.make_text()
    if text is not None:
        return split_text(text, BYTES_PER_TOKEN)
    count = COUNT.search(prompt_text)
    words = map(str, range(1, int(count[1]) + 1)) if count is not None else echo_text(prompt_text).split()
    return (f"{word} " for word in words)
