"""How something long is told in short, a number with its noun, and what somebody's editor or shell wrote is read."""

from __future__ import annotations

import codecs
import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from catalog_probe.catalog.text.json_value import Json

ELLIPSIS = "…"


def brief(value: Json, limit: int) -> str:
    """A value in at most `limit` characters, the last of them `…` where more was left out.

    A string stands as it is, anything else as JSON (what JSON cannot write, as Python shows it).
    """
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}{ELLIPSIS}"


def beside(value: Json, other: Json) -> Json:
    """The value as it stands beside the other: a text that reads like something else (`400`, `null`) in its quotes.

    >>> beside("400", 400), beside("400", "401"), beside("absent", 400)
    ('"400"', '400', 'absent')
    """
    if not isinstance(value, str) or isinstance(other, str):
        return value
    try:
        is_text = isinstance(json.loads(value), str)
    except (ValueError, RecursionError):
        is_text = True
    return value if is_text else json.dumps(value, ensure_ascii=False)


def decoded(raw: bytes, errors: str = "strict") -> str:
    """The text of what a person wrote: in UTF-8, or as its byte order mark says (PowerShell's `>` writes UTF-16).

    Raises:
        UnicodeDecodeError: it is neither, and `errors` is strict.
    """
    is_wide = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    return raw.decode("utf-16" if is_wide else "utf-8-sig", errors)


def count(number: int, one: str, many: str = "") -> str:
    """`1 record`, `2 records`.

    >>> count(2, "entry", "entries")
    '2 entries'
    """
    return f"{number} {one if number == 1 else many or f'{one}s'}"
