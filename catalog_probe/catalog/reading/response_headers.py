"""The response headers of a record: rules, names, and formats of the values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.exchange import ANSWER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json, Record


_INTEGER = re.compile(r"[0-9]{1,300}")  # a number with more digits exceeds a float, so nothing could compare it
_DURATION = re.compile(
    r"(?=.{1,300}$)(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?", re.ASCII
)
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)")


def is_in_format(format_name: str, text: str) -> bool:
    """Whether a header value has the named format.

    >>> is_in_format("duration", "6m0s"), is_in_format("seconds", "6m0s")
    (True, False)

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
    """Parse a duration into seconds, or return None.

    >>> parse_duration_s("6m0s"), parse_duration_s("20ms"), parse_duration_s("soon")
    (360.0, 0.02, None)
    """
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


NO_RULES: Mapping[str, Mapping[str, Json]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class HeaderRule:
    """The documented rule for one response header."""

    name: str
    """The stand-in name, in which `*` may stand for any text."""
    rule: str
    value: str = ""
    format: str = ""
    family: str = ""
    """The rate limit that the header reports on, together with others of the same family."""
    part: str = ""
    """What it reports of that limit: `limit`, `remaining` or `reset`."""
    multiple_of: int = 1
    optional: bool = False
    """Whether it may be absent, as long as its whole family is."""
    source: str = ""
    """The rows that state it."""

    def name_in(self, headers: Mapping[str, str]) -> str:
        """Return the first header whose name matches the rule's, or the rule's own name if none does.

        Example: `*ratelimit*limit*` -> `x-ratelimit-limit-requests`, if the answer has that header.
        """
        if "*" not in self.name:
            return self.name
        return next((name for name in sorted(headers) if fnmatchcase(name, self.name)), self.name)


def header_rules(field: Json) -> tuple[HeaderRule, ...]:
    """Parse a `response_headers` or `headers` field; an array of bare names has no rules.

    Example: `{"retry-after": {"rule": "present"}}` -> one rule; `["request-id"]` -> none.
    """
    return tuple(
        _parse_rule(name, rule, optional=rule.get("optional", False)) for name, rule in raw_header_rules(field).items()
    )


def limit_header_rules(record: Record, label: str) -> tuple[HeaderRule, ...]:
    """Return the rules of a rate-limit record for answers with a label."""
    rules = raw_header_rules(record.data.get("headers"))
    return tuple(
        _parse_rule(name, rule, optional=label in rule.get("optional", ()))
        for name, rule in rules.items()
        if label in header_labels(rule)
    )


def header_labels(rule: Mapping[str, Json]) -> tuple[str, ...]:
    """Return the labels of the answers that a header of a rate-limit record is documented for, by default `answer`."""
    return tuple(rule.get("on", (ANSWER,)))


def raw_header_rules(field: Json) -> Mapping[str, Mapping[str, Json]]:
    """Return header rules as written in the record, by name.

    The limits of PC are an array, whose entries without a rule are only samples.
    """
    if isinstance(field, list):
        return {header["name"]: header for header in field if isinstance(header, dict) and "rule" in header}
    return field if isinstance(field, dict) else NO_RULES


def header_names(record: Record) -> frozenset[str]:
    """Return every response header that a record names, in lower case, with a rule or without.

    Example: `"response_headers": ["Request-Id"]` -> `request-id`.
    """
    response = record.data.get("response") or {}
    fields = (record.data.get("response_headers"), response.get("headers"), record.data.get("headers"))
    return frozenset(name.lower() for field in fields for name in _names(field))


def _names(field: Json) -> list[str]:
    """Return the names in an object of rules, an array of rules, or an array of bare names."""
    if isinstance(field, list):
        return [header["name"] if isinstance(header, dict) else header for header in field]
    return list(field or ())


def _parse_rule(name: str, rule: Mapping[str, Json], *, optional: bool) -> HeaderRule:
    return HeaderRule(
        name=name,
        rule=rule["rule"],
        value=rule.get("value", ""),
        format=rule.get("format", ""),
        family=rule.get("family", ""),
        part=rule.get("part", ""),
        multiple_of=rule.get("multiple_of", 1),
        optional=optional,
        source=rule.get("source", ""),
    )
