"""XML 1.0 characters are kept (its section 2.2), and all others replaced."""

from __future__ import annotations

import sys

from catalog_probe.catalog.text.sanitizing import sanitize_xml

ILLEGAL = "\ufffd"


def is_a_character(code: int) -> bool:
    """Char, of XML 1.0, section 2.2."""
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF


def is_discouraged(code: int) -> bool:
    """Control characters and those that are none, below the seventeenth plane: the same section's note."""
    return 0x7F <= code <= 0x84 or 0x86 <= code <= 0x9F or 0xFDD0 <= code <= 0xFDEF


def test_characters_invalid_in_xml_are_replaced() -> None:
    kept = {ord(character) for character in sanitize_xml("".join(map(chr, range(sys.maxunicode + 1))))}
    assert [hex(code) for code in kept if is_discouraged(code) or not is_a_character(code)] == []
    assert len(kept) > 1_000_000
    assert sanitize_xml("a\tb\nc é 漢 \U0001f600") == "a b\nc é 漢 \U0001f600", (
        "a tab is a blank, as in all that is printed"
    )
    assert sanitize_xml("\ufdd0") == ILLEGAL
