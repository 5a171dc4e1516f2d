"""Reading the input of a response (1:4.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Item = dict[str, Any]


def _read_items(value: Any) -> list[Item]:
    """Return an input as items; a string is a message of the user."""
    return [{"role": "user", "content": value}] if isinstance(value, str) else value or []


def text_of(value: Any) -> str:
    """Return the text of an input of any shape."""
    return " ".join(str(part.get("text") or "") for part in _iterate_parts(_read_items(value))).strip()


def find_user_text(value: Any) -> tuple[str, list[str]]:
    """Return the last text of the user, and the functions called since."""
    called: list[str] = []
    for item in reversed(_read_items(value)):
        kind = item.get("type") or "message"
        if kind == "message" and item.get("role") == "user":
            return text_of([item]), called
        if kind == "function_call":
            called.append(str(item.get("name")))
    return "", called


def images_of(value: Any) -> list[Mapping[str, Any]]:
    """Return the images of an input."""
    return [part for part in _iterate_parts(_read_items(value)) if part.get("type") == "input_image"]


def searches_files(body: Mapping[str, Any]) -> bool:
    """Return whether the model may search vector stores."""
    return any(tool["type"] == "file_search" for tool in body.get("tools", ()))


def _iterate_parts(items: list[Item]) -> Iterator[Mapping[str, Any]]:
    for item in items:
        content = item.get("output") if item.get("type") == "function_call_output" else item.get("content")
        if isinstance(content, str):
            yield {"type": "input_text", "text": content}
        elif isinstance(content, list):
            yield from (part for part in content if isinstance(part, dict))  # the output of a tool may be anything
