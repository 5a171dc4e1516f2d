"""Text for XML 1.0."""

from __future__ import annotations

import re

from catalog_probe.catalog.text.sanitizing import sanitize

# The illegal characters, because they are few: a class of all legal ones takes ten times as long to compile.
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


def to_xml_text(text: str) -> str:
    """Sanitize a text, and replace the characters that XML 1.0 does not allow."""
    return _ILLEGAL.sub("\ufffd", sanitize(text))
