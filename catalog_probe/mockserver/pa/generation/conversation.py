"""The conversation of a request: content blocks and tool pairs (1:4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from catalog_probe.mockserver.pa.bodies import check_fields
from catalog_probe.mockserver.pa.errors import UNANSWERED_TOOL_USE
from catalog_probe.mockserver.pa.fields import BLOCKS

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
