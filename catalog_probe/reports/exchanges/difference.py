"""Documented and observed side by side, line by line, with what differs marked. DeepDiff compares JSON values."""

from __future__ import annotations

import json
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest
from typing import TYPE_CHECKING

from catalog_probe.catalog.text.readable_text import quote_if_ambiguous
from catalog_probe.reports.exchanges.json_lines import split_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from catalog_probe.catalog.model import Json
    from catalog_probe.reports.exchanges.json_lines import JsonLine, Pointer

MAX_LINES = 160
_MAX_CHARACTERS = 4000  # of each side, if it is no JSON


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of a line; marked if it differs from the other side."""

    text: str
    marked: bool = False


Line = tuple[TextPiece, ...]


@dataclass(frozen=True, slots=True)
class DifferenceRow:
    """One line of each side; None if a side has no such line."""

    documented: Line | None
    observed: Line | None


def compare_side_by_side(documented: Json, observed: Json) -> list[DifferenceRow]:
    """Return two values as rows, at most `MAX_LINES` of them and one that counts the rest. Pure."""
    if isinstance(documented, dict | list) and type(documented) is type(observed):
        rows = list(_compare_json(documented, observed))
    elif isinstance(documented, str) and isinstance(observed, str):
        rows = [_compare_strings(documented[:_MAX_CHARACTERS], observed[:_MAX_CHARACTERS])]
    else:
        left = _mark_all(quote_if_ambiguous(documented, observed))
        right = _mark_all(quote_if_ambiguous(observed, documented))
        rows = [DifferenceRow(*lines) for lines in zip_longest(left, right)]
    if len(rows) <= MAX_LINES:
        return rows
    note = (TextPiece(f"… {len(rows) - MAX_LINES} more lines, in the exchange"),)
    return [*rows[:MAX_LINES], DifferenceRow(note, note)]


def _compare_json(documented: Json, observed: Json) -> Iterator[DifferenceRow]:
    """Align the lines of two JSON values by their pointers."""
    left_changes, right_changes = _find_changes(documented, observed)
    left, right = (split_json(side, sort_names=True) for side in (documented, observed))
    left_keys, right_keys = ([(pointer, kind) for pointer, kind, _ in lines] for lines in (left, right))
    matcher = SequenceMatcher(None, left_keys, right_keys, autojunk=False)
    for _, left_start, left_end, right_start, right_end in matcher.get_opcodes():
        left_lines = (_mark_line(line, left_changes) for line in left[left_start:left_end])
        right_lines = (_mark_line(line, right_changes) for line in right[right_start:right_end])
        yield from (DifferenceRow(*lines) for lines in zip_longest(left_lines, right_lines))


def _mark_line(line: JsonLine, changes: set[Pointer]) -> Line:
    pointer, _, text = line
    indent = len(text) - len(text.lstrip())
    is_changed = any(pointer[: len(change)] == change for change in changes)
    return (TextPiece(text[:indent]), TextPiece(text[indent:], is_changed))


def _find_changes(documented: Json, observed: Json) -> tuple[set[Pointer], set[Pointer]]:
    """Return for each side the pointers to what the other side does not have."""
    from deepdiff import DeepDiff  # 0.1 s to import; most bodies do not differ

    left: set[Pointer] = set()
    right: set[Pointer] = set()
    # With the usual threshold DeepDiff reports two very different objects as one change, without their members.
    changes = DeepDiff(documented, observed, view="tree", verbose_level=0, threshold_to_diff_deeper=0)
    for kind, levels in changes.items():
        for level in levels:
            pointer = tuple(level.path(output_format="list"))
            if not kind.endswith("_added"):
                left.add(pointer)
            if not kind.endswith("_removed"):
                right.add(pointer)
    return left, right


def _compare_strings(documented: str, observed: str) -> DifferenceRow:
    """Mark the part between the common beginning and end, or all if these are less than a third of the shorter text."""
    shorter = min(len(documented), len(observed))
    head = 0
    while head < shorter and documented[head] == observed[head]:
        head += 1
    tail = 0
    while tail < shorter - head and documented[-1 - tail] == observed[-1 - tail]:
        tail += 1
    if head + tail < shorter / 3:
        head = tail = 0
    return DifferenceRow(_mark_middle(documented, head, tail), _mark_middle(observed, head, tail))


def _mark_middle(text: str, head: int, tail: int) -> Line:
    end = len(text) - tail
    pieces = (TextPiece(text[:head]), TextPiece(text[head:end], marked=True), TextPiece(text[end:]))
    return tuple(piece for piece in pieces if piece.text) or (TextPiece("(empty)"),)


def _mark_all(value: Json) -> list[Line]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
    return [(TextPiece(line, marked=True),) for line in text[:_MAX_CHARACTERS].split("\n")]
