"""JSON: walks over the strings of a value, repeated names, and lines of which the last may be cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.files import file_formats
from catalog_probe.catalog.text.json_values import (
    build_object,
    iterate_repeated_members,
    iterate_strings_with_pointers,
    list_strings,
    list_strings_and_names,
    map_strings,
)

if TYPE_CHECKING:
    from catalog_probe.catalog.model import Json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4) | st.tuples(inner, inner),
    max_leaves=12,
)
VALUE = {"a": "b", "list": ["c", 1, None, {"d": "e"}], "pair": ("f", True)}


def test_every_string_is_found_in_order_and_no_name() -> None:
    assert list(list_strings(VALUE)) == ["b", "c", "e", "f"]


def test_strings_are_changed_and_all_else_stays() -> None:
    changed = map_strings(VALUE, str.upper)
    assert changed == {"a": "B", "list": ["C", 1, None, {"d": "E"}], "pair": ("F", True)}
    assert VALUE["a"] == "b"


def test_names_are_changed_where_asked() -> None:
    assert map_strings(VALUE, str.upper, names=True) == {
        "A": "B",
        "LIST": ["C", 1, None, {"D": "E"}],
        "PAIR": ("F", True),
    }


@given(VALUES)
def test_exactly_the_found_strings_are_changed(value: Json) -> None:
    met: list[str] = []

    def note(text: str) -> str:
        met.append(text)
        return text

    assert map_strings(value, note) == value
    assert met == list(list_strings(value))
    assert json.dumps(map_strings(value, note)) == json.dumps(value)


@given(VALUES)
def test_all_texts_are_those_that_are_changed_with_names(value: Json) -> None:
    met: list[str] = []

    def note(text: str) -> str:
        met.append(text)
        return text

    map_strings(value, note, names=True)
    assert met == list_strings_and_names(value)


def test_a_place_is_a_pointer_with_a_star_for_each_item() -> None:
    assert list(iterate_strings_with_pointers(VALUE)) == [
        ("/a", "b"),
        ("/list/*", "c"),
        ("/list/*/d", "e"),
        ("/pair/*", "f"),
    ]
    assert list(iterate_strings_with_pointers("text")) == [("", "text")]


@given(VALUES)
def test_placed_texts_are_the_texts(value: Json) -> None:
    assert [text for _, text in iterate_strings_with_pointers(value)] == list(list_strings(value))


WRITTEN = st.recursive(
    st.integers() | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3) | st.lists(st.tuples(st.sampled_from("abc"), inner), max_size=4).map(tuple)
    ),
    max_leaves=20,
)
"""JSON as it may be written: objects are tuples of members, of which several may have one name."""


def written(value: Json) -> str:
    if isinstance(value, tuple):
        return "{" + ",".join(f"{json.dumps(name)}:{written(item)}" for name, item in value) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value)


def repeats(value: Json) -> bool:
    """Whether an object that is there in the end has a name twice: what is overwritten is not."""
    if isinstance(value, tuple):
        last = dict(value)
        return len(last) < len(value) or any(map(repeats, last.values()))
    return isinstance(value, list) and any(map(repeats, value))


@given(WRITTEN)
def test_the_last_of_repeated_members_counts_and_the_name_is_listed(value: Json) -> None:
    read = json.loads(written(value), object_pairs_hook=build_object)
    assert read == json.loads(written(value))
    assert bool(list(iterate_repeated_members(read))) is repeats(value)


@given(WRITTEN)
def test_a_repeated_name_stays_listed_after_changes(value: Json) -> None:
    read = json.loads(written(value), object_pairs_hook=build_object)
    hidden = map_strings(read, lambda text: f"${text}", names=True)
    pointers = [pointer.replace("/$", "/") for pointer, _ in iterate_repeated_members(hidden)]
    assert pointers == [pointer for pointer, _ in iterate_repeated_members(read)]


def test_the_location_of_a_repeated_name() -> None:
    text = '{"a": 1, "b": [{"c": "x", "d": 0, "c": {"e": 1}}], "a": 2}'
    read = json.loads(text, object_pairs_hook=build_object)
    assert list(iterate_repeated_members(read)) == [("/a", 2), ("/b/*/c", {"e": 1})]
    assert json.loads(json.dumps(read)) == read == json.loads(text)


FILE = Path("some.jsonl")
LINES = b'{"a":1}\n\n{"b":"\xc3\xa9"}\n'


def test_each_value_comes_with_its_line() -> None:
    assert list(file_formats.parse_lines(LINES, FILE)) == [("some.jsonl:1", {"a": 1}), ("some.jsonl:3", {"b": "é"})]


def test_complete_lines_of_a_cut_file_are_read() -> None:
    for size in range(len(LINES) + 1):
        values = [value for _, value in file_formats.parse_lines(LINES[:size], FILE)]
        complete_values = [json.loads(line) for line in LINES[:size].split(b"\n")[:-1] if line]
        assert values[: len(complete_values)] == complete_values, size
        assert values[len(complete_values) :] in (
            [],
            [{"a": 1}],
            [{"b": "é"}],
        ), size  # a line that lost only its end has lost nothing


def test_another_broken_line_is_named(subtests: pytest.Subtests) -> None:
    broken_files: list[bytes] = [b'{"a":\n', b'{"a":\n{"b":1}\n', b'{"a":1}\n\xff\n', b"{}\nnothing\n{"]
    for raw in broken_files:
        expected = r"^some\.jsonl:[12]: broken JSON .*; remove the line$"
        with subtests.test(repr(raw)), pytest.raises(file_formats.BrokenLineError, match=expected):
            list(file_formats.parse_lines(raw, FILE))
