"""Formats of header values, and JSON pointers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.reading import response_headers
from catalog_probe.catalog.text.json_values import ABSENT, find_value, find_values, points_into_empty_list

FORMATS = ("seconds", "integer", "duration", "rfc3339")


@given(st.integers(0, 99), st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999))
def test_durations_round_trip(days: int, hours: int, minutes: int, seconds: int, milliseconds: int) -> None:
    parts = ((days, "d"), (hours, "h"), (minutes, "m"), (seconds, "s"), (milliseconds, "ms"))
    text = "".join(f"{number}{unit}" for number, unit in parts if number)
    expected = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds, milliseconds=milliseconds)
    assert response_headers.parse_duration_s(text or "0s") == pytest.approx(expected.total_seconds())


def test_documented_durations(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, float]] = [
        ("6m0s", 360),
        ("1s", 1),
        ("20ms", 0.02),
        ("1m30s", 90),
        ("2h", 7200),
        ("1m20ms", 60.02),
        ("0.5s", 0.5),
        ("1m", 60),
    ]
    for text, seconds in cases:
        with subtests.test(text=text):
            assert response_headers.parse_duration_s(text) == pytest.approx(seconds)


def test_malformed_duration_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[str] = ["", "6", "m", "s", "1x", "-1s", "1s1m", "6m 0s", "1ms1s", "٣s"]
    for text in cases:
        with subtests.test(text=text):
            assert not response_headers.is_in_format("duration", text)


@given(st.datetimes(datetime(1970, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))
def test_instants_round_trip(instant: datetime) -> None:
    for text in (instant.isoformat(), instant.isoformat().replace("+00:00", "Z"), instant.isoformat().lower()):
        assert response_headers.parse_instant(text) == instant


def test_malformed_instant_is_refused(subtests: pytest.Subtests) -> None:
    cases: list[str] = ["2026-01-31", "2026-01-31T06:00:00", "2026-13-01T00:00:00Z", "1769839200", "soon", ""]
    for text in cases:
        with subtests.test(text=text):
            assert not response_headers.is_in_format("rfc3339", text)


@given(st.integers(0, 10**12))
def test_whole_numbers_are_valid(number: int) -> None:
    assert response_headers.is_in_format("seconds", str(number))
    assert response_headers.is_in_format("integer", str(number))


def test_number_with_too_many_digits_is_malformed() -> None:
    """Python refuses to convert 4301 digits or more."""
    assert response_headers.parse_integer("9" * 300) == 10**300 - 1
    assert (
        response_headers.parse_integer("-1")
        is response_headers.parse_integer("")
        is response_headers.parse_integer("²")
        is None
    )
    for format_name, unit in (("seconds", ""), ("integer", ""), ("duration", "s")):
        assert response_headers.is_in_format(format_name, "9" * 299 + unit)
        assert not response_headers.is_in_format(format_name, "9" * 5000 + unit)


@given(st.sampled_from(FORMATS), st.text())
def test_any_text_is_valid_or_refused(name: str, junk: str) -> None:
    assert response_headers.is_in_format(name, junk) in (True, False)
    assert not response_headers.is_in_format(name, junk + "!")


def test_unknown_format_is_an_error() -> None:
    with pytest.raises(KeyError):
        response_headers.is_in_format("roman", "IV")


PLAIN = st.none() | st.booleans() | st.integers() | st.text()
JSON = st.recursive(
    PLAIN, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=6
)


def list_locations(value: object, pointer: str = "") -> list[tuple[str, object]]:
    """List every pointer into a value, with the value there."""
    locations = [(pointer, value)]
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, inner in items:
        locations += list_locations(inner, f"{pointer}/{str(name).replace('~', '~0').replace('/', '~1')}")
    return locations


@given(st.dictionaries(st.text(min_size=1), JSON, max_size=4))
def test_every_value_is_found_by_its_pointer(document: dict[str, object]) -> None:
    for pointer, value in list_locations(document):
        if pointer != "/" and "//" not in pointer and not pointer.endswith("/"):  # an empty name is no name of ours
            assert find_value(document, pointer) == value


def test_star_matches_each_item(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, list[object]]] = [
        ("/a/*/b", [1, 2]),
        ("/a/0/b", [1]),
        ("/a/3/b", []),
        ("/a/9/b", []),
        ("/a/b", []),
        ("/~01~1/*", ["x"]),
        ("/none/*", []),
        ("/a/0/", [{"b": 1}]),
        ("/", [{"a": [{"b": 1}, {"b": 2}, {}], "~1/": ["x"], "none": None}]),
        ("", [{"a": [{"b": 1}, {"b": 2}, {}], "~1/": ["x"], "none": None}]),
    ]
    for pointer, values in cases:
        with subtests.test(pointer=pointer):
            document = {"a": [{"b": 1}, {"b": 2}, {}], "~1/": ["x"], "none": None}
            assert list(find_values(document, pointer)) == values
            assert find_value(document, pointer) == (values[0] if values else ABSENT)


def test_points_into_empty_list(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, object, bool]] = [
        ("/a/*/b", {"a": []}, True),
        ("/a/*/b/*", {"a": [{"b": []}, {"b": []}]}, True),
        ("/a/*/b/*", {"a": [{"b": []}, {"b": [1]}]}, False),
        ("/a/*/b", {"a": [{}]}, False),
        ("/a/*/b", {"a": {}}, False),
        ("/a/*/b", {"a": None}, False),
        ("/a/*/b", {}, False),
        ("/a/0", {"a": []}, False),
        ("/a", {"a": []}, False),
    ]
    for pointer, document, empty in cases:
        with subtests.test(pointer=pointer):
            assert points_into_empty_list(document, pointer) is empty


def test_null_differs_from_absent() -> None:
    assert find_value({"a": None}, "/a") is None
    assert find_value({"a": None}, "/b") is ABSENT
    assert repr(ABSENT) == "absent"


def test_http_date_is_in_utc(subtests: pytest.Subtests) -> None:
    cases: list[tuple[str, datetime | None]] = [
        ("Sun, 22 Nov 2026 15:00:00 GMT", datetime(2026, 11, 22, 15, tzinfo=UTC)),
        ("Sun, 22 Nov 2026 15:00:00", datetime(2026, 11, 22, 15, tzinfo=UTC)),
        ("Sun, 22 Nov 2026 15:00:00 -0000", datetime(2026, 11, 22, 15, tzinfo=UTC)),
        ("Sun, 22 Nov 2026 15:00:00 +0200", datetime(2026, 11, 22, 13, tzinfo=UTC)),
        ("Sun, 22 Nov 2026 15:00:00 +99999999999999999999", None),
        ("Sun, 99999999999999999999 Nov 2026 15:00:00 GMT", None),
        ("Sun, 22 Nov 99999 15:00:00 GMT", None),
        ("yesterday", None),
        ("", None),
    ]
    for text, moment in cases:
        with subtests.test(text=text):
            assert response_headers.parse_http_date(text) == moment


@given(st.text())
def test_any_text_is_a_date_or_none(text: str) -> None:
    moment = response_headers.parse_http_date(text)
    assert moment is None or moment.tzinfo is UTC
