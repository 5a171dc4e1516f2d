"""A JSON value as the lines that a person reads, each with the pointer of what it shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog.model import Json

Pointer = tuple[str | int, ...]


def json_lines(value: Json, *, in_order_of_names: bool = False) -> Iterator[tuple[Pointer, str]]:
    """The lines of a value, indented by two blanks a level.

    >>> [line for _, line in json_lines({"a": [1]})]
    ['{', '  "a": [', '    1', '  ]', '}']
    """
    for pointer, _, text in parts(value, in_order_of_names=in_order_of_names):
        yield pointer, text


def parts(
    value: Json,
    pointer: Pointer = (),
    indent: int = 0,
    before: str = "",
    comma: str = "",
    *,
    in_order_of_names: bool = False,
) -> Iterator[tuple[Pointer, str, str]]:
    """Each line's pointer, whether it opens, closes or is a value, and its text."""
    pad = "  " * indent + before
    if not isinstance(value, dict | list) or not value:
        text = json.dumps(value, ensure_ascii=False, default=str)
        yield pointer, "value", f"{pad}{text}{comma}"
        return
    mapping = isinstance(value, dict)
    members = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    if mapping and in_order_of_names:
        members.sort()
    yield pointer, "open", f"{pad}{'{' if mapping else '['}"
    for number, (key, item) in enumerate(members):
        name = f"{json.dumps(key, ensure_ascii=False)}: " if mapping else ""
        more = "," if number < len(members) - 1 else ""
        yield from parts(item, (*pointer, key), indent + 1, name, more, in_order_of_names=in_order_of_names)
    yield pointer, "close", f"{'  ' * indent}{'}' if mapping else ']'}{comma}"
