"""Text as XML 1.0 can carry it."""

from __future__ import annotations

import re

from catalog.model.visible import visible

_ILLEGAL = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufdcf\ufdf0-\ufffd\U00010000-\U0010ffff]")


def legal(text: str) -> str:
    """The text visible, and without the characters that XML 1.0 cannot carry."""
    return _ILLEGAL.sub("\ufffd", visible(text))
