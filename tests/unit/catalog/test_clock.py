"""Instants as evidence writes them."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta

import pytest

from catalog_probe.catalog.model.clock import add_days, format_utc, format_utc_now, ms_since, parse_days

NOON = datetime(2026, 11, 21, 12, 0, 0, 123_456, tzinfo=UTC)


def test_an_instant_ends_in_z() -> None:
    assert format_utc(NOON) == "2026-11-21T12:00:00.123Z"
    assert format_utc(NOON, "seconds") == "2026-11-21T12:00:00Z"


def test_now_is_now_and_reads_back() -> None:
    before = datetime.now(UTC)
    now = datetime.fromisoformat(format_utc_now("microseconds"))
    assert before <= now <= datetime.now(UTC)
    assert now.utcoffset() == timedelta(0)


def test_a_duration_is_in_milliseconds() -> None:
    started = time.perf_counter() - 2
    assert ms_since(started) >= 2000
    assert ms_since(time.perf_counter() + 2) < 0


def test_no_day_is_before_the_first_or_after_the_last() -> None:
    assert add_days(NOON.date(), -21) == date(2026, 10, 31)
    assert add_days(NOON.date(), 10**30) == date.max
    assert add_days(date.min, -1) == date.min


def test_a_number_of_days_is_read_however_long_it_is_written() -> None:
    cases: list[tuple[str, int]] = [
        # none
        ("0", 0),
        # some
        ("30", 30),
        # with zeros before it
        ("000000000030", 30),
        # more than dates hold
        ("9" * 5000, 999_999_999),
    ]
    for text, days in cases:
        assert parse_days(text) == days


def test_an_unusable_number_of_days_is_refused(subtests: pytest.Subtests) -> None:
    for text in ["", "-1", "1.5", "٣", "soon"]:
        with subtests.test(text), pytest.raises(ValueError, match="is no number of days"):
            parse_days(text)
