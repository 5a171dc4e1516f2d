"""Formatting long values in short."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.text.phrases import ELLIPSIS, quote_if_ambiguous, shorten
from catalog_probe.catalog.text.text_files import decode_text

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


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"], ids=["as is", "Notepad's", "PowerShell's"])
def test_a_text_is_read_as_editors_and_shells_write_it(encoding: str) -> None:
    assert decode_text('name = "é"\n'.encode(encoding)) == 'name = "é"\n'


def test_invalid_text_is_refused_or_marked() -> None:
    with pytest.raises(UnicodeDecodeError):
        decode_text(b"\xff\x00")
    assert decode_text(b"a\xffb", "replace") == "a\ufffdb"
