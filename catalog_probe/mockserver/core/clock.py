"""The clock of a request, as `X-Mock-Clock` says: now, later, or standing still."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime

SECONDS_PER_UNIT = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400}
STILL = "still"
MAX_DURATION_S = 100 * 365 * 86400
"""A hundred years: every moment that a client can ask for is a date that can be written."""

_PART = re.compile(r"(\d{1,15})(ms|s|m|h|d)")
_DURATION = re.compile(r"(?:\d{1,15}(?:ms|s|m|h|d))+")


def parse_duration(text: str) -> float:
    """Return the seconds of `59m59s`, `25h`, `1d2h` or `250ms`.

    Raises:
        ValueError: it is no duration, or longer than a hundred years.
    """
    if not _DURATION.fullmatch(text):
        raise ValueError(f"{text!r} is not a duration such as 25h or 59m59s")
    seconds: float = sum(int(count) * SECONDS_PER_UNIT[unit] for count, unit in _PART.findall(text))
    if seconds > MAX_DURATION_S:
        raise ValueError(f"{text!r} is longer than a hundred years")
    return seconds


def parse_clock(text: str) -> tuple[bool, float]:
    """Return whether time stands still, and the seconds of `+25h`, `still` or `still+1m`.

    Raises:
        ValueError: it is none of these.
    """
    if text == STILL:
        return True, 0.0
    return text.startswith(STILL), parse_offset(text.removeprefix(STILL))


def parse_offset(text: str) -> float:
    """Return the seconds of `+25h`; never negative, because state cannot age backwards.

    Raises:
        ValueError: it is no such offset.
    """
    if not text.startswith("+"):
        raise ValueError(f"{text!r} does not begin with '+', as in +25h")
    return parse_duration(text[1:])


def rfc3339(seconds: float) -> str:
    """Format a moment as `2026-01-31T23:59:59Z`."""
    return datetime.fromtimestamp(math.floor(seconds), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
