"""Line and column of values in a JSON text, for PD's 422 (2:7.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from json import JSONDecoder

_DECODER = JSONDecoder()
_SPACE = re.compile(r"[ \t\r\n]*")


def find_end(text: str, path: Sequence[str | int]) -> int:
    """Return the offset behind the value at `path`, or behind its last parent."""
    start = _skip_space(text, 0)
    for step in path:
        # the last member of a name wins, as it does for the parser
        start = dict(_iterate_children(text, start)).get(step, start)
    return _find_value_end(text, start)


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Return line and column of the character before `offset`, both counted from 1."""
    line_start = text.rfind("\n", 0, offset) + 1
    return text.count("\n", 0, offset) + 1, max(1, offset - line_start)


def _iterate_children(text: str, start: int) -> Iterator[tuple[str | int, int]]:
    """Yield the name or index of each child, and the offset at which its value begins."""
    is_object = text[start] == "{"
    at, index = _skip_space(text, start + 1), 0
    while text[at] not in "]}":
        step: str | int = index
        if is_object:
            step, at = _DECODER.raw_decode(text, at)
            at = _skip_space(text, _skip_space(text, at) + 1)  # behind the colon
        yield step, at
        at = _skip_space(text, _find_value_end(text, at))
        if text[at] == ",":
            at = _skip_space(text, at + 1)
        index += 1


def _find_value_end(text: str, start: int) -> int:
    end: int = _DECODER.raw_decode(text, start)[1]
    return end


def _skip_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at
