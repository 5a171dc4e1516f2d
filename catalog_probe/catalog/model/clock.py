"""Instants, durations and days as files and options write them."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime


def format_utc(moment: datetime, timespec: str = "milliseconds") -> str:
    """Format an instant in UTC by RFC 3339, with `Z`; `timespec` is that of `datetime.isoformat`."""
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")


def format_utc_now(timespec: str = "milliseconds") -> str:
    """Format the present instant in UTC by RFC 3339."""
    return format_utc(datetime.now(UTC), timespec)


def ms_since(started: float) -> float:
    """Return the milliseconds since a reading of `time.perf_counter`, with three decimals."""
    return round((time.perf_counter() - started) * 1000, 3)


def parse_days(text: str) -> int:
    """Parse a whole number of days. Nine digits are kept, which is already more than `date` can count back.

    Raises:
        ValueError: the text is no whole number.
    """
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{text!r} is no number of days")
    return int(text.lstrip("0")[:9] or 0)


def add_days(day: date, number: int) -> date:
    """Return the day that is `number` days later, or earlier if negative, clamped to the range of `date`."""
    return date.fromordinal(min(max(date.min.toordinal(), day.toordinal() + number), date.max.toordinal()))
