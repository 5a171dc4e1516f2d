"""The model behind a socket: it repeats what it heard, or counts as far as it is asked to, a piece at a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

COUNT = re.compile(r"\bcount to (\d{1,4})\b", re.IGNORECASE)
"""What makes a response long enough to be steered while it is still active."""

MAX_ECHO = 200
BYTES_PER_TOKEN = 4


def pieces(heard: str) -> Iterator[str]:
    """What it says, one token or so at a time."""
    count = COUNT.search(heard)
    if count is not None:
        yield from (f"{number} " for number in range(1, int(count[1]) + 1))
        return
    for word in f"The mock heard: {heard[:MAX_ECHO]}".split():
        yield f"{word} "


def tokens(text: str) -> int:
    """Tokens of a text; an empty text has none."""
    return -(-len(text.encode("utf-8", "replace")) // BYTES_PER_TOKEN)
