"""What a record says was last seen of it, and where: the blocks that write-back keeps, read."""

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
"""The field in which each kind of record keeps its evidence (1:2.1 to 1:2.3)."""

EXPIRED = "expired"
"""With this begins what a record says of evidence that nobody renewed for too long."""

ANOTHER_REVISION_PREFIX = "revision"
"""With this and a colon begins the target of what was seen under another revision than the usual one."""

_NOTE = re.compile(r"(?P<result>\w+), seen on (?P<target>.+?) in run (?P<run>.+?) at (?P<at>\S+?Z)(?:: (?P<rest>.+))?")
"""An error's evidence has no fields for result, target and instant (1:2.2): they stand in its note."""


@dataclass(frozen=True, slots=True)
class LastSeen:
    """The evidence that a record carries."""

    day: date
    at: datetime | None = None
    """The instant, or None where the record names only the day."""
    result: str = ""
    """`conforms`, `drifted`, `expired`, or nothing where the record does not say."""
    target: str = ""
    differences: str = ""
    """What was seen otherwise than documented, in words."""


def last_seen(record: Record) -> LastSeen | None:
    """What the record says was last seen of it, or None where nobody ever looked."""
    block = evidence_block(record)
    if record.kind == "errors":
        return _in_a_note(block)
    day = _day(block.get("verified_at"))
    if day is None:
        return None
    return LastSeen(
        day=day,
        at=parse_utc_instant(str(block.get("observed_at", ""))),
        result=str(block.get("result", "")),
        target=str(block.get("target", "")),
        differences=_in_words(block.get("seen")),
    )


def seen_on(record: Record) -> date | None:
    """The day on which the record was last conclusively seen."""
    last = last_seen(record)
    return last.day if last is not None else None


def target_of(record: Record) -> str:
    """The target on which the record's evidence was gathered, or nothing; even of a block that names no day."""
    block = evidence_block(record)
    if record.kind != "errors":
        return str(block.get("target", ""))
    found = _NOTE.fullmatch(str(block.get("note", "")))
    return found["target"] if found else ""


def is_not_from_provider(target: str) -> bool:
    """Whether evidence from a target of this name is none for the records: of a mock, a gateway, a recording or another
    revision.

    It begins with that word and a colon.
    """
    others = (AnsweredBy.MOCK, AnsweredBy.GATEWAY, AnsweredBy.RECORDING, ANOTHER_REVISION_PREFIX)
    return target == AnsweredBy.MOCK or target.startswith(tuple(f"{each}:" for each in others))


def is_expired(record: Record) -> bool:
    """Whether write-back marked what was seen as too old to stand on."""
    block = evidence_block(record)
    told = block.get("note") if record.kind == "errors" else block.get("result")
    return str(told or "").partition(":")[0] == EXPIRED


def live_messages(record: Record) -> tuple[str, ...]:
    """The wordings of its message that were seen live."""
    return tuple(record.data.get("live_messages") or ())


def evidence_block(record: Record) -> Mapping[str, Json]:
    """The block as it stands in the record; empty where it has none."""
    block = record.data.get(EVIDENCE_FIELDS[record.kind])
    return block if isinstance(block, dict) else {}


def parse_utc_instant(text: str) -> datetime | None:
    """An instant in ISO 8601, in UTC where it names no offset; None for what is none."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _in_a_note(block: Mapping[str, Json]) -> LastSeen | None:
    day = _day(block.get("verified_at"))
    found = _NOTE.fullmatch(str(block.get("note", "")))
    if day is None or found is None:
        return LastSeen(day) if day is not None else None
    return LastSeen(day, parse_utc_instant(found["at"]), found["result"], found["target"], found["rest"] or "")


def _in_words(seen: Json) -> str:
    """What write-back lists, or what a person wrote instead: words, or an object of them."""
    if isinstance(seen, dict):
        return "; ".join(f"{name}: {each}" for name, each in seen.items())
    return "; ".join(map(str, seen)) if isinstance(seen, list) else str(seen or "")


def _day(text: Json) -> date | None:
    try:
        return date.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
