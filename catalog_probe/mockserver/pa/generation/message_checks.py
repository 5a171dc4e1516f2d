"""The checks of a messages body beyond its field table (1:4.1, 2:7.3)."""

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
from catalog_probe.mockserver.pa.fields import COUNT_TOKENS, MESSAGE_FIELDS
from catalog_probe.mockserver.pa.generation.conversation import check_blocks, check_tool_pairs
from catalog_probe.mockserver.pa.generation.tokens import count_input
from catalog_probe.mockserver.pa.generation.tools import server_tools
from catalog_probe.mockserver.pa.models import Model, find_model, refuse_unsupported

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.mockserver.core.fields import Value
    from catalog_probe.mockserver.pa.generation.tools import Tool

Body = dict[str, Any]

# from this version on sampling parameters are refused: no document says so, official clients know it
WITHOUT_SAMPLING = "2026-10-21"
SAMPLING = ("temperature", "top_k", "top_p")


def check_message(body: Body, *, ignore_unknown: bool = False) -> tuple[Model, int]:
    """Return the model and input tokens of a messages body, or raise its first error."""
    model, input_tokens = _check(body, MESSAGE_FIELDS, ignore_unknown=ignore_unknown)
    refuse_too_many_tokens(body, model)
    return model, input_tokens


def check_count(body: Body, *, ignore_unknown: bool = False) -> tuple[Model, int]:
    """Return the model and input tokens of a count_tokens body, or raise."""
    model, input_tokens = _check(body, COUNT_TOKENS, ignore_unknown=ignore_unknown)
    refuse_server_tools(body.get("tools", ()))
    return model, input_tokens


def refuse_too_many_tokens(body: Body, model: Model) -> None:
    """Refuse `max_tokens` above the model's maximum."""
    if body["max_tokens"] > model.max_output_tokens:
        raise TOO_MANY_TOKENS(max_tokens=body["max_tokens"], maximum=model.max_output_tokens, model=model.id)


def refuse_server_tools(tools: Sequence[Tool]) -> None:
    """Refuse server tools: they are allowed in messages, not in count_tokens (1:4.1)."""
    offered = server_tools(tools)
    if offered:
        raise SERVER_TOOLS_UNCOUNTED(tools=", ".join(offered))


def refuse_sampling(body: Body, version: str) -> None:
    """Refuse sampling parameters under a version that has none."""
    names = [name for name in SAMPLING if name in body]
    if names and version >= WITHOUT_SAMPLING:
        raise NO_SAMPLING(name=names[0], version=WITHOUT_SAMPLING)


def refuse_threads(body: Body) -> None:
    """Refuse threads: official clients then send the whole conversation."""
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
