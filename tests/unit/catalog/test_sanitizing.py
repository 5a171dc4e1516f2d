"""Observed text cannot hide, reorder or restyle the text around it."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.text.sanitizing import HIDDEN_CHARACTERS, escape_hidden, escape_hidden_in_json, sanitize_line


def test_invisible_characters_are_written_as_escapes() -> None:
    cases: list[tuple[str, str]] = [
        ("plain — text, “quotes”, 漢字, ё, 🙂", "plain — text, “quotes”, 漢字, ё, 🙂"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("paid\u202egnp.exe", "paid⟨U+202E⟩gnp.exe"),
        ("\x1b[31mred", "⟨U+001B⟩[31mred"),
        ("zero\u200bwidth", "zero⟨U+200B⟩width"),
        ("lone \ud800", "lone ⟨U+D800⟩"),
        ("tag\U000e0041", "tag⟨U+E0041⟩"),
        ("variant\ufe0f", "variant⟨U+FE0F⟩"),
        ("line\u2028separator\r", "line⟨U+2028⟩separator⟨U+000D⟩"),
    ]
    for text, expected in cases:
        assert escape_hidden(text) == expected


def test_every_control_and_format_character_is_hidden() -> None:
    shown = [
        character
        for character in map(chr, range(0x110000))
        if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") and not HIDDEN_CHARACTERS.match(character)
    ]
    assert shown == ["\t", "\n"]


@given(st.text(), st.integers(min_value=5, max_value=80))
def test_a_line_is_one_line_and_no_longer_than_its_limit(text: str, limit: int) -> None:
    sanitized = sanitize_line(text, limit)
    assert "\n" not in sanitized
    assert len(sanitized) <= limit


def test_keys_and_values_of_a_tree_are_visible() -> None:
    assert escape_hidden_in_json({"a\u202e": ["\x00", 1, None, {"b": "\x07"}]}) == {
        "a⟨U+202E⟩": ["⟨U+0000⟩", 1, None, {"b": "⟨U+0007⟩"}]
    }
