"""Patterns with `*` match as the regular expression would, in linear time."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.text.wildcard import matches_wildcard

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
