"""Text: shortened, made harmless, compared without what is volatile, and matched by patterns."""

from __future__ import annotations

import re
import sys
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence.retention import MAX_TEXT, mask_volatile
from catalog_probe.catalog.files.file_formats import decode_text
from catalog_probe.catalog.search import matches_wildcard
from catalog_probe.catalog.text.readable_text import (
    ELLIPSIS,
    HIDDEN_CHARACTERS,
    escape_hidden,
    escape_hidden_in_json,
    quote_if_ambiguous,
    sanitize_line,
    sanitize_xml,
    shorten,
    wrap_for_terminal,
)

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json


def test_an_ambiguous_text_is_quoted() -> None:
    cases: list[tuple[Json, Json, Json]] = [
        ("400", 400, '"400"'),
        ("null", None, '"null"'),
        ("[]", {"type": "array"}, '"[]"'),
        ("400", "401", "400"),
        ("absent", 400, "absent"),
        ('"a"', 400, '"a"'),
        ("[" * 100_000, 400, "[" * 100_000),
        (400, "400", 400),
    ]
    for value, similar_text, expected in cases:
        assert quote_if_ambiguous(value, similar_text) == expected


def test_a_value_is_truncated_to_the_limit() -> None:
    cases: list[tuple[Json, int, str]] = [
        ("short", 5, "short"),
        ("shorter", 5, "shor…"),
        ("two words", 5, "two…"),
        ({"a": "é"}, 40, '{"a": "é"}'),
        ([1, 2, 3], 6, "[1, 2…"),
        (None, 10, "null"),
        ({"bytes": b"x"}, 40, '{"bytes": "b\'x\'"}'),
    ]
    for value, limit, expected in cases:
        assert shorten(value, limit) == expected


@given(st.text(), st.integers(min_value=1, max_value=50))
def test_it_never_exceeds_the_limit_and_says_that_something_is_missing(text: str, limit: int) -> None:
    shortened = shorten(text, limit)
    assert len(shortened) <= limit
    assert shortened == text or (shortened.endswith(ELLIPSIS) and text.startswith(shortened[:-1]))


def test_a_text_is_read_as_editors_and_shells_write_it() -> None:
    encodings: list[str] = [
        # as is
        "utf-8",
        # Notepad's
        "utf-8-sig",
        # PowerShell's
        "utf-16",
    ]
    for encoding in encodings:
        assert decode_text('name = "é"\n'.encode(encoding)) == 'name = "é"\n'


def test_invalid_text_is_refused_or_marked() -> None:
    with pytest.raises(UnicodeDecodeError):
        decode_text(b"\xff\x00")
    assert decode_text(b"a\xffb", "replace") == "a\ufffdb"


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


ILLEGAL = "\ufffd"


def is_a_character(code: int) -> bool:
    """Char, of XML 1.0, section 2.2."""
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or 0x10000 <= code <= 0x10FFFF


def is_discouraged(code: int) -> bool:
    """Control characters and those that are none, below the seventeenth plane: the same section's note."""
    return 0x7F <= code <= 0x84 or 0x86 <= code <= 0x9F or 0xFDD0 <= code <= 0xFDEF


def test_characters_invalid_in_xml_are_replaced() -> None:
    codes = [
        *range(0x11000),
        *range(sys.maxunicode - 0xFFFF, sys.maxunicode + 1),
    ]  # beyond the first plane all are alike
    kept = {ord(character) for character in sanitize_xml("".join(map(chr, codes)))}
    assert [hex(code) for code in kept if is_discouraged(code) or not is_a_character(code)] == []
    assert len(kept) > 100_000
    assert sanitize_xml("a\tb\nc é 漢 \U0001f600") == "a b\nc é 漢 \U0001f600", (
        "a tab is a blank, as in all that is printed"
    )
    assert sanitize_xml("\ufdd0") == ILLEGAL


def test_volatile_text_has_a_placeholder() -> None:
    cases: list[tuple[str, str]] = [
        ("Request 123E4567-e89b-12d3-a456-426614174000 failed.", "Request {id} failed."),
        ("since 2026-11-21T04:00:01.5Z, or 2026-11-21 04:00 only", "since {time}, or {time} only"),
        ("at 2026-11-21T04:00:01+01:00.", "at {time}."),
        ("key req_011CSHoEeq and file-abc-1Zx56789 are", "key {id} and {id} are"),
        ("trace 0123456789ab, DEADBEEF00112233", "trace {id}, {id}"),
        ("wait 7 ms, 1.5s, 20 seconds or 1 hour", "wait {n} ms, {n}s, {n} seconds or {n} hour"),
        ("score 0.25 of 12,345 and 123456", "score {n} of {n} and {n}"),
        ("  two\n lines\tare one ", "two lines are one"),
        ("HTTP 404: 12 of 4096 in 2026, model gpt-4o-mini", "HTTP 404: 12 of 4096 in 2026, model gpt-4o-mini"),
        ("deadbeefcafe of request_id and rate_limit_error", "deadbeefcafe of request_id and rate_limit_error"),
        ("x-api-key is invalid", "x-api-key is invalid"),
        ("", ""),
    ]
    for text, expected in cases:
        assert mask_volatile(text) == expected
        assert mask_volatile(expected) == expected, text


def test_of_a_long_text_the_beginning_is_left() -> None:
    assert mask_volatile("x" * MAX_TEXT) == "x" * MAX_TEXT
    assert mask_volatile("x" * (MAX_TEXT + 1)) == "x" * (MAX_TEXT - 1) + "…"


LETTERS = st.text("ab/*?[!]", max_size=8)


@given(LETTERS, st.text("ab/?[!]", max_size=10))
def test_a_star_is_anything(pattern: str, text: str) -> None:
    expected = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
    assert matches_wildcard(pattern, text) is (expected.fullmatch(text) is not None)


def test_no_letter_counts_for_two_pieces() -> None:
    cases: list[tuple[str, str, bool]] = [
        ("a*", "a*x", True),
        ("a*b", "a/b", True),
        ("a*b*b", "ab", False),
        ("a*b*b", "abb", True),
        ("ab*ba", "aba", False),
        ("ab*ba", "abba", True),
        ("a*bb*bb*", "abbb", False),
        ("a*bb*bb*", "abbbb", True),
        ("a*x", "a*", False),
        ("a", "ab", False),
        ("*", "", True),
    ]
    for pattern, text, fitting in cases:
        assert matches_wildcard(pattern, text) is fitting


def test_many_stars_take_no_longer_than_one() -> None:
    assert not matches_wildcard("*" * 200 + "z", "a" * 2_000)
    assert not matches_wildcard("*a" * 200 + "z", "a" * 2_000)
    assert matches_wildcard("*a" * 200, "a" * 2_000)


def test_a_row_is_broken_at_the_terminal_s_edge_and_never_inside_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    row = "  set PC_API_KEY; `catalog-probe probe --target live --provider pc` asks what is planned"
    monkeypatch.setenv("COLUMNS", "40")
    assert wrap_for_terminal(row) == [
        "  set PC_API_KEY;",
        "      `catalog-probe probe --target live --provider pc`",
        "      asks what is planned",
    ]
    monkeypatch.delenv("COLUMNS")
    assert wrap_for_terminal(row) == [row], "a file or a pipe"
