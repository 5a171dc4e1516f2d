"""Documented beside observed, line by line, with what differs marked; DeepDiff tells it for structured values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.phrases import quote_if_ambiguous
from catalog_probe.reports.exchanges.json_lines import parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from catalog_probe.catalog.model import Json
    from catalog_probe.reports.exchanges.json_lines import Pointer

MAX_LINES = 160
MAX_CHARACTERS = 4000


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that differs from the other side, or does not."""

    text: str
    marked: bool = False


Line = tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of each side; None where a side has no such line."""

    documented: Line | None
    observed: Line | None


def side_by_side(documented: Json, observed: Json) -> list[Row]:
    """The two values in rows; pure, and bounded however large they are."""
    if isinstance(documented, dict | list) and type(documented) is type(observed):
        rows = list(_structured(documented, observed))
    elif isinstance(documented, str) and isinstance(observed, str):
        left, right = _strings(documented[:MAX_CHARACTERS], observed[:MAX_CHARACTERS])
        rows = [Row(left, right)]
    else:
        rows = list(
            _paired(_whole(quote_if_ambiguous(documented, observed)), _whole(quote_if_ambiguous(observed, documented)))
        )
    if len(rows) <= MAX_LINES:
        return rows
    more = (Piece(f"… {len(rows) - MAX_LINES} more lines, in the exchange"),)
    return [*rows[:MAX_LINES], Row(more, more)]


def shown(value: Json) -> str:
    """A value as a person reads it: text without quotes, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _structured(documented: Json, observed: Json) -> Iterator[Row]:
    changed_left, changed_right = _changed(documented, observed)
    left, right = (
        [((pointer, kind), text) for pointer, kind, text in parts(side, in_order_of_names=True)]
        for side in (documented, observed)
    )
    matcher = SequenceMatcher(None, [key for key, _ in left], [key for key, _ in right], autojunk=False)
    for _, low, high, other_low, other_high in matcher.get_opcodes():
        for offset in range(max(high - low, other_high - other_low)):
            yield Row(
                _line(left, low + offset, high, changed_left),
                _line(right, other_low + offset, other_high, changed_right),
            )


def _line(lines: Sequence[tuple[tuple[Pointer, str], str]], index: int, end: int, changed: set[Pointer]) -> Line | None:
    if index >= end:
        return None
    (pointer, _), text = lines[index]
    indent = len(text) - len(text.lstrip())
    marked = any(pointer[: len(each)] == each for each in changed)
    return (Piece(text[:indent]), Piece(text[indent:], marked))


def _changed(documented: Json, observed: Json) -> tuple[set[Pointer], set[Pointer]]:
    """Where each side holds something that the other does not."""
    from deepdiff import DeepDiff  # 0.1 s to import; most bodies do not differ

    left: set[Pointer] = set()
    right: set[Pointer] = set()
    for kind, levels in DeepDiff(
        documented, observed, view="tree", verbose_level=0, threshold_to_diff_deeper=0
    ).items():
        for level in levels:
            pointer = tuple(level.path(output_format="list"))
            if not kind.endswith("_added"):
                left.add(pointer)
            if not kind.endswith("_removed"):
                right.add(pointer)
    return left, right


def _strings(documented: str, observed: str) -> tuple[Line, Line]:
    """Two texts with the part that differs marked, where they share enough for that to help."""
    head = 0
    while head < min(len(documented), len(observed)) and documented[head] == observed[head]:
        head += 1
    tail = 0
    while tail < min(len(documented), len(observed)) - head and documented[-1 - tail] == observed[-1 - tail]:
        tail += 1
    if head + tail < min(len(documented), len(observed)) / 3:
        head = tail = 0
    return _marked(documented, head, tail), _marked(observed, head, tail)


def _marked(text: str, head: int, tail: int) -> Line:
    end = len(text) - tail
    pieces = (Piece(text[:head]), Piece(text[head:end], marked=True), Piece(text[end:]))
    return tuple(piece for piece in pieces if piece.text) or (Piece("(empty)"),)


def _whole(value: Json) -> list[Line]:
    return [(Piece(text, marked=True),) for text in shown(value)[:MAX_CHARACTERS].split("\n")]


def _paired(left: Sequence[Line], right: Sequence[Line]) -> Iterator[Row]:
    for number in range(max(len(left), len(right))):
        yield Row(
            left[number] if number < len(left) else None,
            right[number] if number < len(right) else None,
        )
