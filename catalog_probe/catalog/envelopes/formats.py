"""Parse the formats of header values (2:8): seconds, RFC 3339, durations such as 6m0s, integers, HTTP dates."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_INTEGER = re.compile(r"[0-9]{1,300}")  # a number with more digits exceeds a float, so nothing could compare it
_DURATION = re.compile(
    r"(?=.{1,300}$)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?", re.ASCII
)
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)")


def is_valid(format_name: str, text: str) -> bool:
    """Whether a header value has the named format.

    Raises:
        KeyError: there is no such format.
    """
    match format_name:
        case "seconds" | "integer":
            return parse_integer(text) is not None
        case "duration":
            return parse_duration_s(text) is not None
        case "rfc3339":
            return parse_instant(text) is not None
        case _:
            raise KeyError(format_name)


def parse_integer(text: str) -> int | None:
    """Parse a text of decimal digits, or return None."""
    return int(text) if _INTEGER.fullmatch(text) is not None else None


def parse_duration_s(text: str) -> float | None:
    """Parse a duration such as `6m0s`, `1s` or `20ms` into seconds, or return None."""
    match = _DURATION.fullmatch(text)
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return days * 86_400 + hours * 3_600 + minutes * 60 + seconds + milliseconds / 1000


def parse_instant(text: str) -> datetime | None:
    """Parse an RFC 3339 timestamp with its offset, or return None."""
    if _RFC3339.fullmatch(text) is None:
        return None
    try:
        return datetime.fromisoformat(text.upper())  # RFC 3339 allows `z`, and Python does not
    except ValueError:
        return None


def parse_http_date(text: str) -> datetime | None:
    """Parse an HTTP date into UTC, or return None; a date without a zone is in UTC."""
    try:
        date = parsedate_to_datetime(text)
        return date.astimezone(UTC) if date.tzinfo is not None else date.replace(tzinfo=UTC)
    except (OverflowError, TypeError, ValueError):
        return None
