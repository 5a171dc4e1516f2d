"""Documented beside observed value: only the difference is marked."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.reports.exchanges.difference import MAX_LINES, DifferenceRow, compare_side_by_side

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
STRUCTURED = st.lists(JSON, max_size=3) | st.dictionaries(st.text(max_size=4), JSON, max_size=3)


def list_marked(rows: list[DifferenceRow], side: str) -> list[str]:
    return [piece.text for row in rows for piece in getattr(row, side) or () if piece.marked and piece.text.strip()]


def test_scalar_values_are_marked_as_a_whole() -> None:
    rows = compare_side_by_side(400, 422)
    assert (list_marked(rows, "documented"), list_marked(rows, "observed")) == (["400"], ["422"])


def test_a_number_and_its_text_differ() -> None:
    rows = compare_side_by_side(400, "400")
    assert (list_marked(rows, "documented"), list_marked(rows, "observed")) == (["400"], ['"400"'])


def test_of_two_texts_the_part_that_differs_is_marked() -> None:
    rows = compare_side_by_side("max_tokens: Field required", "max_tokens: Field missing")
    assert (list_marked(rows, "documented"), list_marked(rows, "observed")) == (["required"], ["missing"])


def test_of_two_structures_the_fields_that_differ_are_marked() -> None:
    rows = compare_side_by_side({"error": {"type": "a", "code": 1}}, {"error": {"type": "a", "code": 2, "new": True}})
    assert list_marked(rows, "documented") == ['"code": 1,'] or list_marked(rows, "documented") == ['"code": 1']
    assert list_marked(rows, "observed") == ['"code": 2,', '"new": true,'] or '"new": true,' in list_marked(
        rows, "observed"
    )
    assert '"type": "a"' not in list_marked(rows, "observed")


def test_lines_of_the_same_location_are_side_by_side() -> None:
    rows = compare_side_by_side({"b": 1, "a": 2}, {"a": 2, "b": 3})
    for row in rows:
        names = [
            line[1].text.partition(":")[0] for line in (row.documented, row.observed) if line and ":" in line[1].text
        ]
        assert len(set(names)) < 2


@given(STRUCTURED)
def test_equal_values_have_no_mark(value: dict[str, Any] | list[Any]) -> None:
    rows = compare_side_by_side(value, value)
    assert list_marked(rows, "documented") == list_marked(rows, "observed") == []


@given(JSON, JSON)
def test_any_two_values_can_be_shown(documented: object, observed: object) -> None:
    assert len(compare_side_by_side(documented, observed)) <= MAX_LINES + 1


def test_long_values_are_truncated() -> None:
    rows = compare_side_by_side(list(range(5000)), list(range(1, 5000)))
    assert len(rows) == MAX_LINES + 1
    assert rows[-1].observed is not None
    assert "more lines" in rows[-1].observed[0].text
