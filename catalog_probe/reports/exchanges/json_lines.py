"""A JSON value as indented lines, each with its JSON pointer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

Pointer = tuple[str | int, ...]

JsonLine = tuple[Pointer, str, str]
"""A pointer, `open`, `close` or `value`, and the text."""

_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode


def format_json_lines(value: Json) -> list[tuple[Pointer, str]]:
    """Return the lines of a value, indented by two blanks per level.

    >>> [line for _, line in format_json_lines({"a": [1]})]
    ['{', '  "a": [', '    1', '  ]', '}']
    """
    return [(pointer, text) for pointer, _, text in split_json(value)]


def split_json(value: Json, *, sort_names: bool = False) -> list[JsonLine]:
    """Return the lines of a value, each with its type."""
    lines: list[JsonLine] = []
    _add_lines(lines, value, (), "", "", "", sort_names)
    return lines


def _add_lines(
    lines: list[JsonLine], value: Json, pointer: Pointer, indent: str, name: str, comma: str, sort_names: bool
) -> None:
    """Append the lines of a value to a list: faster than a generator, and a page has a hundred thousand lines."""
    if not value or not isinstance(value, dict | list):
        lines.append((pointer, "value", f"{indent}{name}{_encode(value)}{comma}"))
        return
    if isinstance(value, dict):
        opening, closing = "{", "}"
        members = sorted(value.items()) if sort_names else value.items()
        children = [(key, f"{_encode(key)}: ", child) for key, child in members]
    else:
        opening, closing = "[", "]"
        children = [(index, "", child) for index, child in enumerate(value)]
    lines.append((pointer, "open", f"{indent}{name}{opening}"))
    last = len(children) - 1
    for position, (key, child_name, child) in enumerate(children):
        child_comma = "," if position < last else ""
        _add_lines(lines, child, (*pointer, key), f"{indent}  ", child_name, child_comma, sort_names)
    lines.append((pointer, "close", f"{indent}{closing}{comma}"))
