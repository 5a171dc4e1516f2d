"""Read when, where and with which result a record was last observed, from the fields that write-back keeps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from catalog_probe.catalog.model.answered_by import AnsweredBy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.model import Json, Record

EVIDENCE_FIELDS: Mapping[str, str] = MappingProxyType(
    {"endpoints": "verification", "errors": "observed", "rate_limits": "observed_for_this_key"}
)
"""Kind of record -> the field that holds its evidence (1:2.1 to 1:2.3)."""

EXPIRED = "expired"
"""The result of evidence that was not renewed for too long."""

ANOTHER_REVISION_PREFIX = "revision"
"""`revision:` begins the target of an observation under another API revision than the usual one."""

# An error's evidence has no fields for result, target and time (1:2.2), so its note contains them.
_NOTE = re.compile(r"(?P<result>\w+), seen on (?P<target>.+?) in run (?P<run>.+?) at (?P<at>\S+?Z)(?:: (?P<rest>.+))?")


@dataclass(frozen=True, slots=True)
class LastSeen:
    """The last observation of a record."""

    day: date
    at: datetime | None = None
    """The time, or None if the record has only the day."""
    result: str = ""
    """`conforms`, `drifted`, `expired`, or empty if the record does not say."""
    target: str = ""
    differences: str = ""
    """What differed, in words."""


def last_seen(record: Record) -> LastSeen | None:
    """Return the last observation of a record, or None if there was none."""
    evidence = evidence_block(record)
    day = _parse_day(evidence.get("verified_at"))
    if day is None:
        return None
    if record.kind == "errors":
        return _parse_note(evidence, day)
    return LastSeen(
        day=day,
        at=parse_utc_instant(str(evidence.get("observed_at", ""))),
        result=str(evidence.get("result", "")),
        target=str(evidence.get("target", "")),
        differences=_describe_differences(evidence.get("seen")),
    )


def seen_on(record: Record) -> date | None:
    """Return the day of the last conclusive observation."""
    last = last_seen(record)
    return last.day if last is not None else None


def target_of(record: Record) -> str:
    """Return the target on which the evidence was gathered, or an empty string; it needs no day."""
    evidence = evidence_block(record)
    if record.kind != "errors":
        return str(evidence.get("target", ""))
    match = _NOTE.fullmatch(str(evidence.get("note", "")))
    return match["target"] if match else ""


def is_not_from_provider(target: str) -> bool:
    """Whether observations on this target are no evidence: it is a mock, gateway, recording or another revision.

    Such a target begins with that word and a colon.
    """
    prefixes = (AnsweredBy.MOCK, AnsweredBy.GATEWAY, AnsweredBy.RECORDING, ANOTHER_REVISION_PREFIX)
    return target == AnsweredBy.MOCK or target.startswith(tuple(f"{prefix}:" for prefix in prefixes))


def is_expired(record: Record) -> bool:
    """Whether write-back marked the evidence as too old."""
    evidence = evidence_block(record)
    text = evidence.get("note") if record.kind == "errors" else evidence.get("result")
    return str(text or "").partition(":")[0] == EXPIRED


def live_messages(record: Record) -> tuple[str, ...]:
    """Return the wordings of the error's message that were observed live."""
    return tuple(record.data.get("live_messages") or ())


def evidence_block(record: Record) -> Mapping[str, Json]:
    """Return the evidence field of the record's kind, or an empty object."""
    evidence = record.data.get(EVIDENCE_FIELDS[record.kind])
    return evidence if isinstance(evidence, dict) else {}


def parse_utc_instant(text: str) -> datetime | None:
    """Parse an ISO 8601 time into UTC, or return None; a time without offset is in UTC."""
    try:
        instant = datetime.fromisoformat(text)
    except ValueError:
        return None
    return instant.astimezone(UTC) if instant.tzinfo else instant.replace(tzinfo=UTC)


def _parse_note(evidence: Mapping[str, Json], day: date) -> LastSeen:
    match = _NOTE.fullmatch(str(evidence.get("note", "")))
    if match is None:
        return LastSeen(day)
    return LastSeen(day, parse_utc_instant(match["at"]), match["result"], match["target"], match["rest"] or "")


def _describe_differences(seen: Json) -> str:
    """Join the differences: write-back makes a list, and people also write an object or a text."""
    if isinstance(seen, dict):
        return "; ".join(f"{name}: {value}" for name, value in seen.items())
    return "; ".join(map(str, seen)) if isinstance(seen, list) else str(seen or "")


def _parse_day(text: Json) -> date | None:
    try:
        return date.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
