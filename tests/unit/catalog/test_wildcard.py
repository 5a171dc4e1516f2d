"""A pattern with `*` names what a regular expression would, and takes no longer the more there are of them."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from catalog.model.wildcard import fits

LETTERS = st.text("ab/*", max_size=8)


@given(LETTERS, st.text("ab/", max_size=10))
def test_a_star_is_anything(pattern: str, text: str) -> None:
    meant = re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)
    assert fits(pattern, text) is (meant.fullmatch(text) is not None)


def test_many_stars_take_no_longer_than_one() -> None:
    assert not fits("*" * 200 + "z", "a" * 2_000)
    assert not fits("*a" * 200 + "z", "a" * 2_000)
    assert fits("*a" * 200, "a" * 2_000)
