"""Instants as evidence writes them, and how long something took."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime


def utc_text(moment: datetime, timespec: str = "milliseconds") -> str:
    """An instant in UTC as RFC 3339 writes it, with `Z`; `timespec` is that of `datetime.isoformat`."""
    return moment.isoformat(timespec=timespec).replace("+00:00", "Z")


def utc_now_text(timespec: str = "milliseconds") -> str:
    """Now, as RFC 3339 writes it in UTC."""
    return utc_text(datetime.now(UTC), timespec)


def ms_since(started: float) -> float:
    """Milliseconds since a reading of `time.perf_counter`, to the microsecond."""
    return round((time.perf_counter() - started) * 1000, 3)


def number_of_days(text: str) -> int:
    """A whole number of days as somebody writes it; more than dates hold are as long ago as nine digits of them.

    Raises:
        ValueError: it is none.
    """
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"{text!r} is no number of days")
    return int(text.lstrip("0")[:9] or 0)


def days_from(day: date, number: int) -> date:
    """The day so many days later, or earlier where the number is below zero, as far as there are days."""
    return date.fromordinal(min(max(date.min.toordinal(), day.toordinal() + number), date.max.toordinal()))
