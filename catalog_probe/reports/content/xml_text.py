"""Text as XML 1.0 can carry it."""

from __future__ import annotations

import re

from catalog_probe.catalog.text.sanitizing import sanitize

# What cannot is named, for it is little: a class of all that can takes ten times as long to compile.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def legal(text: str) -> str:
    """The text harmless, and without the characters that XML 1.0 cannot carry."""
    return _ILLEGAL.sub("\ufffd", sanitize(text))
