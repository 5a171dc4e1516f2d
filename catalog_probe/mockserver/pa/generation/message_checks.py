"""What a messages or count_tokens body must be beyond the rows of its fields (1:4.1, 2:7.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from catalog_probe.mockserver.pa.bodies import check_fields
from catalog_probe.mockserver.pa.errors import (
    NO_SAMPLING,
    NO_THREADS,
    PROMPT_TOO_LONG,
    SERVER_TOOLS_UNCOUNTED,
    TOO_MANY_TOKENS,
)
from catalog_probe.mockserver.pa.fields import COUNT_TOKENS, MESSAGES
from catalog_probe.mockserver.pa.generation.conversation import check_blocks, check_tool_pairs
from catalog_probe.mockserver.pa.generation.tokens import count_input
from catalog_probe.mockserver.pa.generation.tools import server_tools
from catalog_probe.mockserver.pa.models import Model, find_model, refuse_unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.mockserver.core.fields import Value
    from catalog_probe.mockserver.pa.generation.tools import Tool

Body = dict[str, Any]

WITHOUT_SAMPLING = "2026-10-21"
"""From this version on a request may not say how tokens are drawn: no document, but official clients know it."""
SAMPLING = ("temperature", "top_k", "top_p")


def check_message(body: Body, *, ignore_unknown: bool = False) -> tuple[Model, int]:
    """Raise the first thing wrong with a messages body, or return its model and input tokens."""
    model, input_tokens = _check(body, MESSAGES, ignore_unknown=ignore_unknown)
    refuse_too_many_tokens(body, model)
    return model, input_tokens


def check_count(body: Body, *, ignore_unknown: bool = False) -> tuple[Model, int]:
    """Raise the first thing wrong with a count_tokens body, or return its model and input tokens."""
    model, input_tokens = _check(body, COUNT_TOKENS, ignore_unknown=ignore_unknown)
    refuse_server_tools(body.get("tools", ()))
    return model, input_tokens


def refuse_too_many_tokens(body: Body, model: Model) -> None:
    """Raise that `max_tokens` is above the model's maximum."""
    if body["max_tokens"] > model.max_output_tokens:
        raise TOO_MANY_TOKENS(max_tokens=body["max_tokens"], maximum=model.max_output_tokens, model=model.id)


def refuse_server_tools(tools: Sequence[Tool]) -> None:
    """Server tools are allowed in messages, and rejected by count_tokens (1:4.1)."""
    offered = server_tools(tools)
    if offered:
        raise SERVER_TOOLS_UNCOUNTED(tools=", ".join(offered))


def refuse_sampling(body: Body, version: str) -> None:
    """Raise that a message says how tokens are drawn, under a version in which none may."""
    named = next((name for name in SAMPLING if name in body), None)
    if named is not None and version >= WITHOUT_SAMPLING:
        raise NO_SAMPLING(name=named, version=WITHOUT_SAMPLING)


def refuse_threads(body: Body) -> None:
    """Raise that no conversation is kept here: official clients send the whole again."""
    if "thread" in body:
        raise NO_THREADS(extra={"unsupported": ["thread"]})


def _check(body: Body, table: Value, *, ignore_unknown: bool) -> tuple[Model, int]:
    check_fields(body, table, ignore_unknown=ignore_unknown)
    check_blocks(body["messages"])
    check_tool_pairs(body["messages"])
    model = find_model(body["model"])
    refuse_unsupported(body, model)
    input_tokens = count_input(body)
    if input_tokens > model.max_input_tokens:
        raise PROMPT_TOO_LONG(input_tokens=input_tokens, maximum=model.max_input_tokens)
    return model, input_tokens
