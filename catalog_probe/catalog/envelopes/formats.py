"""The syntaxes of header values (2:8): seconds, RFC 3339 instants, durations such as 6m0s, integers; HTTP's dates."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_INTEGER = re.compile(r"[0-9]{1,300}")
"""Of more digits than the largest number of a client's it is none: nobody could compare it with another."""

_DURATION = re.compile(
    r"(?=.{1,300}$)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?", re.ASCII
)
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)")


def is_valid(format_name: str, text: str) -> bool:
    """Whether a header value is in the named format.

    Raises:
        KeyError: no such format.
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
    """A whole number of decimal digits alone, or None."""
    return int(text) if _INTEGER.fullmatch(text) is not None else None


def parse_duration_s(text: str) -> float | None:
    """A duration such as `6m0s`, `1s` or `20ms` in seconds, or None."""
    match = _DURATION.fullmatch(text)
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return days * 86_400 + hours * 3_600 + minutes * 60 + seconds + milliseconds / 1000


def parse_instant(text: str) -> datetime | None:
    """An RFC 3339 timestamp with its offset, or None."""
    if _RFC3339.fullmatch(text) is None:
        return None
    try:
        return datetime.fromisoformat(text.upper())
    except ValueError:
        return None


def parse_http_date(text: str) -> datetime | None:
    """A date as HTTP writes one, in UTC, or None; one that names no zone is in UTC, as all of HTTP's are."""
    try:
        found = parsedate_to_datetime(text)
        return found.astimezone(UTC) if found.tzinfo is not None else found.replace(tzinfo=UTC)
    except (OverflowError, TypeError, ValueError):
        return None
