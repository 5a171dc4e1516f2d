"""The conversation of a messages request: shape of each message, and tool_use answered by tool_result (1:4.1)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from catalog_probe.mockserver.pa.errors import invalid

Block = Mapping[str, Any]

REQUIRED_BY_BLOCK: dict[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("source",),
    "document": ("source",),
    "search_result": ("source", "title", "content"),
    "container_upload": ("file_id",),
    "thinking": ("thinking", "signature"),
    "redacted_thinking": ("data",),
    "tool_use": ("id", "name", "input"),
    "tool_result": ("tool_use_id",),
    "server_tool_use": ("id", "name", "input"),
    "web_search_tool_result": ("tool_use_id", "content"),
    "web_fetch_tool_result": ("tool_use_id", "content"),
    "code_execution_tool_result": ("tool_use_id", "content"),
    "bash_code_execution_tool_result": ("tool_use_id", "content"),
    "text_editor_code_execution_tool_result": ("tool_use_id", "content"),
}
"""The content blocks that a message may hold, and the fields each must have."""


def check_messages(messages: Sequence[Any]) -> None:
    """Raise the first thing wrong with the messages."""
    refuse_no_messages(messages)
    for index, message in enumerate(messages):
        _check_message(f"messages.{index}", message, last=index == len(messages) - 1)
    check_tool_pairs(messages)


def refuse_no_messages(messages: Sequence[Any]) -> None:
    """Raise that there is nothing to answer."""
    if not messages:
        raise invalid("messages: at least one message is required")


def ends_with_assistant(messages: Sequence[Block]) -> bool:
    """Whether the client has begun the model's answer itself: a prefill."""
    return bool(messages[-1]["role"] == "assistant")


def blocks_of(message: Block) -> list[Block]:
    """The message's content as blocks; a string is one text block."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def last_user_text(messages: Sequence[Block]) -> str:
    """The text of the last user message; where that brings results of tools alone, the results."""
    users = [message for message in messages if message["role"] == "user"]
    if not users:
        return ""
    blocks = blocks_of(users[-1])
    texts = [block["text"] for block in blocks if block["type"] == "text"]
    return "\n".join(texts or [_result_text(block) for block in blocks if block["type"] == "tool_result"])


def tools_used_since(messages: Sequence[Block]) -> frozenset[str]:
    """The tools that the model used since the user last said something."""
    used: set[str] = set()
    for message in reversed(messages):
        if message["role"] == "user" and any(block["type"] == "text" for block in blocks_of(message)):
            break
        used.update(_values(message, "tool_use", "name"))
    return frozenset(used)


def _result_text(block: Block) -> str:
    content = block.get("content")
    if isinstance(content, str):
        return content
    texts = (part.get("text") for part in (content if isinstance(content, list) else ()) if isinstance(part, Mapping))
    return "\n".join(text for text in texts if isinstance(text, str))


def _check_message(at: str, message: Any, *, last: bool) -> None:
    if not isinstance(message, dict):
        raise invalid(f"{at}: Input does not match the expected shape.")
    for name in ("role", "content"):
        if name not in message:
            raise invalid(f"{at}.{name}: Field required")
    for name in message:
        if name not in ("role", "content"):
            raise invalid(f"{at}.{name}: Extra inputs are not permitted")
    if message["role"] not in ("user", "assistant"):
        raise invalid(f"{at}.role: Input should be 'user' or 'assistant'")
    content = message["content"]
    if not isinstance(content, (str, list)):
        raise invalid(f"{at}.content: Input should be a valid list")
    if not content and not (last and message["role"] == "assistant"):
        raise invalid(f"{at}: all messages must have non-empty content except for the optional final assistant message")
    for number, block in enumerate(content if isinstance(content, list) else ()):
        _check_block(f"{at}.content.{number}", block)


def _check_block(at: str, block: Any) -> None:
    if not isinstance(block, dict):
        raise invalid(f"{at}: Input should be a valid dictionary")
    kind = block.get("type")
    required = REQUIRED_BY_BLOCK.get(kind) if isinstance(kind, str) else None
    if required is None:
        expected = ", ".join(map(repr, REQUIRED_BY_BLOCK))
        raise invalid(
            f"{at}: Input tag {kind!r} found using 'type' does not match any of the expected tags: {expected}"
        )
    for name in required:
        if name not in block:
            raise invalid(f"{at}.{kind}.{name}: Field required")
    if kind == "text" and not isinstance(block["text"], str):
        raise invalid(f"{at}.text.text: Input should be a valid string")
    if kind == "text" and not block["text"]:
        raise invalid(f"{at}: text content blocks must be non-empty")


def check_tool_pairs(messages: Sequence[Block]) -> None:
    """Each tool_use is answered in the next message, and each tool_result answers the message before it."""
    asked: list[str] = []
    for index, message in enumerate(messages):
        answered = list(_values(message, "tool_result", "tool_use_id"))
        unanswered = [asking for asking in asked if asking not in answered]
        if unanswered:
            raise _unanswered(index - 1, unanswered)
        stray = [answer for answer in answered if answer not in asked]
        if stray:
            raise invalid(
                f"messages.{index}.content: unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(stray)}."
                " Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
            )
        asked = list(_values(message, "tool_use", "id"))
    if asked:
        raise _unanswered(len(messages) - 1, asked)


def _unanswered(index: int, ids: Sequence[str]) -> Exception:
    return invalid(
        f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(ids)}."
        " Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )


def _values(message: Block, kind: str, name: str) -> Iterator[str]:
    return (str(block[name]) for block in blocks_of(message) if block["type"] == kind)
