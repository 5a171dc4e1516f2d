"""Where a value stands in a JSON text: line and column, which PD's 422 names (2:7.6)."""

from __future__ import annotations

from json import JSONDecoder
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_DECODER = JSONDecoder()
_SPACE = " \t\r\n"


def end_of(text: str, path: Sequence[str | int]) -> int:
    """The offset just behind the value at `path` of a valid JSON text, or behind the last parent that is there."""
    start = _after_space(text, 0)
    for step in path:
        found = _member(text, start, step) if isinstance(step, str) else _item(text, start, step)
        if found is None:
            break
        start = found
    return _end(text, start)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Both counted from 1, the column that of the last character before `offset`."""
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, max(1, offset - line_start)


def _member(text: str, start: int, name: str) -> int | None:
    """Where the value of a member begins; the last one wins, as it does for the parser."""
    if text[start] != "{":
        return None
    found, at = None, _after_space(text, start + 1)
    while text[at] == '"':
        key, at = _DECODER.raw_decode(text, at)
        at = _after_space(text, _after_space(text, at) + 1)
        found = at if key == name else found
        at = _next(text, at)
    return found


def _item(text: str, start: int, index: int) -> int | None:
    if text[start] != "[":
        return None
    at = _after_space(text, start + 1)
    while text[at] != "]":
        if index == 0:
            return at
        index, at = index - 1, _next(text, at)
    return None


def _next(text: str, at: int) -> int:
    """The beginning of what follows the value at `at` and its comma."""
    at = _after_space(text, _end(text, at))
    return _after_space(text, at + 1) if text[at] == "," else at


def _end(text: str, start: int) -> int:
    end: int = _DECODER.raw_decode(text, start)[1]
    return end


def _after_space(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at
