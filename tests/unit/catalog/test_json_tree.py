"""The walk over the strings of a JSON value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from catalog.model.json_tree import map_texts, texts

if TYPE_CHECKING:
    from catalog.model import Json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=12,
)
VALUE = {"a": "b", "list": ["c", 1, None, {"d": "e"}], "pair": ("f", True)}


def test_every_string_is_found_in_order_and_no_name() -> None:
    assert list(texts(VALUE)) == ["b", "c", "e", "f"]


def test_strings_are_changed_and_all_else_stays() -> None:
    changed = map_texts(VALUE, str.upper)
    assert changed == {"a": "B", "list": ["C", 1, None, {"d": "E"}], "pair": ("F", True)}
    assert VALUE["a"] == "b"


def test_names_are_changed_where_asked() -> None:
    assert map_texts(VALUE, str.upper, names=True) == {
        "A": "B",
        "LIST": ["C", 1, None, {"D": "E"}],
        "PAIR": ("F", True),
    }


@given(VALUES)
def test_what_is_changed_is_what_is_found(value: Json) -> None:
    met: list[str] = []

    def note(text: str) -> str:
        met.append(text)
        return text

    assert map_texts(value, note) == value
    assert met == list(texts(value))
    assert json.dumps(map_texts(value, note)) == json.dumps(value)
