"""A JSON value as the lines that a person reads, each with the pointer of what it shows."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

Pointer = tuple[str | int, ...]

Part = tuple[Pointer, str, str]
"""A line: its pointer, whether it opens, closes or is a value, and its text."""

_text = json.JSONEncoder(ensure_ascii=False, default=str).encode


def json_lines(value: Json) -> list[tuple[Pointer, str]]:
    """The lines of a value, indented by two blanks a level.

    >>> [line for _, line in json_lines({"a": [1]})]
    ['{', '  "a": [', '    1', '  ]', '}']
    """
    return [(pointer, text) for pointer, _, text in parts(value)]


def parts(value: Json, *, in_order_of_names: bool = False) -> list[Part]:
    """The same lines, each with what it is."""
    found: list[Part] = []
    _add(found, value, (), "", "", "", in_order_of_names)
    return found


def _add(found: list[Part], value: Json, pointer: Pointer, pad: str, name: str, comma: str, in_order: bool) -> None:
    """Add the lines of a value: a list that grows, for a page has a hundred thousand of them."""
    if not value or not isinstance(value, dict | list):
        found.append((pointer, "value", f"{pad}{name}{_text(value)}{comma}"))
        return
    opens, closes = "{}" if isinstance(value, dict) else "[]"
    found.append((pointer, "open", f"{pad}{name}{opens}"))
    inner, left = f"{pad}  ", len(value)
    if isinstance(value, dict):
        for key, item in sorted(value.items()) if in_order else value.items():
            left -= 1
            _add(found, item, (*pointer, key), inner, f"{_text(key)}: ", "," if left else "", in_order)
    else:
        for number, item in enumerate(value):
            left -= 1
            _add(found, item, (*pointer, number), inner, "", "," if left else "", in_order)
    found.append((pointer, "close", f"{pad}{closes}{comma}"))
