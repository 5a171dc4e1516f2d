"""Values and numbers as they are written in messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.text.json_value import Json

ELLIPSIS = "…"


def shorten(value: Json, limit: int) -> str:
    """Return a value in at most `limit` characters, of which the last is `…` if some were cut off.

    A string is kept as it is; anything else becomes JSON, and what JSON cannot express becomes Python's `str`.
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}{ELLIPSIS}"


def quote_if_ambiguous(value: Json, other: Json) -> Json:
    """Put a string into quotes if it reads like another JSON type (`400`, `null`) and is shown beside a non-string.

    >>> quote_if_ambiguous("400", 400), quote_if_ambiguous("400", "401"), quote_if_ambiguous("absent", 400)
    ('"400"', '400', 'absent')
    """
    if not isinstance(value, str) or isinstance(other, str):
        return value
    try:
        is_plain_text = isinstance(json.loads(value), str)
    except (ValueError, RecursionError):
        is_plain_text = True
    return value if is_plain_text else json.dumps(value, ensure_ascii=False)


def format_count(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun: `1 record`, `2 records`.

    >>> format_count(2, "entry", "entries")
    '2 entries'
    """
    return f"{number} {singular if number == 1 else plural or f'{singular}s'}"
