"""Where a value is in a JSON text: line and column, which PD's 422 names (2:7.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from json import JSONDecoder

_DECODER = JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


def end_of(text: str, path: Sequence[str | int]) -> int:
    """The offset just behind the value at `path` of a valid JSON text, or behind the last parent that is there."""
    start = _after_space(text, 0)
    for step in path:
        # the last member of a name wins, as it does for the parser
        start = dict(_children(text, start)).get(step, start)
    return _end(text, start)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Both counted from 1, the column that of the last character before `offset`."""
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, max(1, offset - line_start)


def _children(text: str, start: int) -> Iterator[tuple[str | int, int]]:
    """The name of each member, or the index of each item, and the offset at which its value begins."""
    is_object = text[start] == "{"
    at, index = _after_space(text, start + 1), 0
    while text[at] not in "]}":
        step: str | int = index
        if is_object:
            step, at = _DECODER.raw_decode(text, at)
            at = _after_space(text, _after_space(text, at) + 1)  # behind the colon
        yield step, at
        at = _after_space(text, _end(text, at))
        if text[at] == ",":
            at = _after_space(text, at + 1)
        index += 1


def _end(text: str, start: int) -> int:
    end: int = _DECODER.raw_decode(text, start)[1]
    return end


def _after_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at
