"""What the input of a response says: its text, the user's last words, its images, its tools (1:4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Item = dict[str, Any]


def items_of(value: Any) -> list[Item]:
    """An input as items: a text is what a user says."""
    return [{"role": "user", "content": value}] if isinstance(value, str) else value or []


def text_of(value: Any) -> str:
    """The text of an input, whichever shape it has."""
    return " ".join(str(part.get("text") or "") for part in _parts(items_of(value))).strip()


def last_words(value: Any) -> tuple[str, list[str]]:
    """The user's last words in an input, and the functions that were called since."""
    called: list[str] = []
    for item in reversed(items_of(value)):
        kind = item.get("type") or "message"
        if kind == "message" and item.get("role") == "user":
            return text_of([item]), called
        if kind == "function_call":
            called.append(str(item.get("name")))
    return "", called


def images_of(value: Any) -> list[Mapping[str, Any]]:
    """The images of an input."""
    return [part for part in _parts(items_of(value)) if part.get("type") == "input_image"]


def searches_files(body: Mapping[str, Any]) -> bool:
    """Whether the model may look into vector stores."""
    return any(tool["type"] == "file_search" for tool in body.get("tools", ()))


def _parts(items: list[Item]) -> Iterator[Mapping[str, Any]]:
    for item in items:
        content = item.get("output") if item.get("type") == "function_call_output" else item.get("content")
        if isinstance(content, str):
            yield {"type": "input_text", "text": content}
        elif isinstance(content, list):
            yield from (part for part in content if isinstance(part, dict))  # the output of a tool may be anything
