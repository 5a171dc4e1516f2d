"""The conversation of a request: content, tool pairs, token counts (1:4.1)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

from catalog_probe.mockserver.core.generation import count_tokens
from catalog_probe.mockserver.pa.call import check_fields
from catalog_probe.mockserver.pa.errors import UNANSWERED_TOOL_USE
from catalog_probe.mockserver.pa.fields import BLOCKS

if TYPE_CHECKING:
    from catalog_probe.mockserver.core.sessions import Session


Tool = Mapping[str, Any]

_SERVER_TOOL = re.compile(r"(web_search|web_fetch|code_execution)_\d{8}")


def server_tool(tool: Tool) -> str | None:
    """Return the name of a tool that the provider runs, without its date."""
    match = _SERVER_TOOL.fullmatch(tool.get("type") or "")
    return match[1] if match else None


def server_tools(tools: Sequence[Tool]) -> dict[str, Tool]:
    """Return the server tools among `tools`, by name."""
    return {name: tool for tool in tools if (name := server_tool(tool)) is not None}


def client_tools(tools: Sequence[Tool]) -> dict[str, Any]:
    """Return the input schemas of the client's tools, by name."""
    return {tool["name"]: tool.get("input_schema") for tool in tools if "name" in tool and server_tool(tool) is None}


Block = Mapping[str, Any]


def blocks_of(message: Block) -> list[Block]:
    """Return the message's content as blocks; a string is one text block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def last_user_text(messages: Sequence[Block]) -> str:
    """Return the text of the last user message, or else its tool results."""
    users = [message for message in messages if message["role"] == "user"]
    if not users:
        return ""
    blocks = blocks_of(users[-1])
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    return "\n".join(texts or [_result_text(block) for block in blocks if block["type"] == "tool_result"])


def tools_used_since(messages: Sequence[Block]) -> frozenset[str]:
    """Return the tools that the model used since the last text of the user."""
    names: set[str] = set()
    for message in reversed(messages):
        if message["role"] == "user" and any(block["type"] == "text" for block in blocks_of(message)):
            break
        names.update(_list_values(message, "tool_use", "name"))
    return frozenset(names)


def check_blocks(messages: Sequence[Block]) -> None:
    """Raise the first violation of a content block."""
    for index, message in enumerate(messages):
        for number, block in enumerate(blocks_of(message)):
            if block["type"] in BLOCKS:
                check_fields(block, BLOCKS[block["type"]], path=("messages", index, "content", number))


def check_tool_pairs(messages: Sequence[Block]) -> None:
    """Raise that a tool_use is not answered by a tool_result in the next message."""
    for index, message in enumerate(messages):
        following = messages[index + 1] if index + 1 < len(messages) else {"content": []}
        answered = set(_list_values(following, "tool_result", "tool_use_id"))
        unanswered = [use_id for use_id in _list_values(message, "tool_use", "id") if use_id not in answered]
        if unanswered:
            raise UNANSWERED_TOOL_USE(index=index, ids=", ".join(unanswered))


def _result_text(block: Block) -> str:
    content = block.get("content")
    if isinstance(content, str):
        return content
    texts = (part.get("text") for part in (content if isinstance(content, list) else ()) if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _list_values(message: Block, kind: str, name: str) -> Iterator[str]:
    return (block[name] for block in blocks_of(message) if block["type"] == kind)


PER_MESSAGE = 3
PER_MEDIA = 1_500  # an image or document by reference, whose text the mock cannot count

# fields that no model reads
_NOT_TEXT = frozenset({"type", "role", "id", "tool_use_id", "signature", "encrypted_content", "cache_control"})

_COUNTED_FIELDS = ("system", "messages", "tools", "tool_choice", "thinking")


def count_input(body: Mapping[str, Any]) -> int:
    """Count the input tokens of a request."""
    overhead = PER_MESSAGE * len(body["messages"])
    return overhead + sum(count_value(body[name]) for name in _COUNTED_FIELDS if name in body)


def count_value(value: Any) -> int:
    """Count the tokens of every text inside a JSON value."""
    if isinstance(value, str):
        return count_tokens(value)
    if isinstance(value, list):
        return sum(map(count_value, value))
    if isinstance(value, dict):
        if value.get("type") in ("base64", "file", "url"):
            return PER_MEDIA
        return sum(count_value(item) for key, item in value.items() if key not in _NOT_TEXT)
    return 1 if isinstance(value, (int, float)) and not isinstance(value, bool) else 0


class InputTokens(NamedTuple):
    """The input of a request in tokens: not cached, written, and read."""

    fresh: int
    created: int
    read: int
    hourly: bool = False  # whether what is written is kept for an hour, not for five minutes


class Prefix(NamedTuple):
    """A prompt prefix that this session has marked with `cache_control`."""

    tokens: int


def measure(session: Session, body: Mapping[str, Any], input_tokens: int) -> InputTokens:
    """Split the input: up to the last `cache_control` it is written, later read."""
    prefix = _find_marked_prefix(body)
    if not prefix:
        return InputTokens(input_tokens, 0, 0)
    digest = blake2b(json.dumps([body["model"], prefix]).encode(), digest_size=16).hexdigest()
    cache = session.store(Prefix)
    tokens = count_value(prefix)
    if digest in cache:
        return InputTokens(input_tokens - tokens, 0, tokens)
    cache[digest] = Prefix(tokens)
    return InputTokens(input_tokens - tokens, tokens, 0, _is_kept_for_an_hour(prefix[-1]))


def _find_marked_prefix(body: Mapping[str, Any]) -> list[Any]:
    parts = [*body.get("tools", ()), *_list_blocks(body.get("system", ""))]
    for message in body["messages"]:
        parts.extend(_list_blocks(message["content"]))
    marked = [index for index, part in enumerate(parts) if isinstance(part, dict) and part.get("cache_control")]
    return parts[: marked[-1] + 1] if marked else []


def _is_kept_for_an_hour(block: Any) -> bool:
    control = block.get("cache_control") if isinstance(block, dict) else None
    return isinstance(control, dict) and control.get("ttl") == "1h"


def _list_blocks(content: str | list[Any]) -> list[Any]:
    return content if isinstance(content, list) else [content]
