"""How something long is told in short, and a number with its noun."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog.model.json_value import Json

ELLIPSIS = "…"


def brief(value: Json, limit: int) -> str:
    """A value in at most `limit` characters, the last of them `…` where more was left out.

    A string stands as it is, anything else as JSON (what JSON cannot write, as Python shows it).
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}{ELLIPSIS}"


def count(number: int, one: str, many: str = "") -> str:
    """`1 record`, `2 records`.

    >>> count(2, "entry", "entries")
    '2 entries'
    """
    return f"{number} {one if number == 1 else many or f'{one}s'}"
