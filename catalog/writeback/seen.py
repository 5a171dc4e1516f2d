"""What a record says was last seen of it: where each kind keeps it, read and written."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from catalog.model import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog.evidence.results import Result, Run
    from catalog.model import Json, Record

MOCK = "mock"

_BLOCKS = {"endpoints": "verification", "errors": "observed", "rate_limits": "observed_for_this_key"}
_WRITTEN = frozenset("account_specific result target run observed_at seen headers tiers not_looked_at reason".split())
"""What write-back puts into the block of a rate-limit record: of an older look nothing may stay."""

_NOTE = re.compile(r"(?P<result>\w+), seen on (?P<target>.+?) in run (?P<run>.+?) at (?P<at>\S+?Z)(?:: (?P<rest>.+))?")
_DISTANT_PAST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A result and the run it belongs to: what there is to know of one look at one record."""

    run: Run
    result: Result

    @property
    def day(self) -> date:
        """The day that a record gets as its date: the run's own, so that a run past midnight has one date."""
        return date.fromisoformat(self.run.today)

    @property
    def at(self) -> datetime:
        """The instant of the observation, or a distant past for a time that cannot be read."""
        return instant(self.result.observed_at) or instant(self.run.started_at) or _DISTANT_PAST

    @property
    def target(self) -> str:
        """The name of its target; evidence from a mock says so whatever its target is called."""
        name = self.run.target
        return name if self.run.live or is_mock(name) else f"{MOCK}:{name}"


@dataclass(frozen=True, slots=True)
class LastSeen:
    """The evidence that a record already carries."""

    day: date
    at: datetime | None = None
    result: str = ""
    target: str = ""
    differences: str = ""


def last_seen(record: Record) -> LastSeen | None:
    """What the record says was last seen of it, or None where nobody ever looked."""
    day = seen_on(record)
    if day is None:
        return None
    block = _block(record)
    if record.kind == "rate_limits" and "observed_at" not in block:
        return None  # then `retrieved_at` is the day on which someone read the documents
    if record.kind != "errors":
        return LastSeen(
            day,
            instant(str(block.get("observed_at", ""))),
            str(block.get("result", "")),
            str(block.get("target", "")),
            "; ".join(block.get("seen", ())),
        )
    found = _NOTE.fullmatch(str(block.get("note", "")))
    if found is None:
        return LastSeen(day)
    return LastSeen(day, instant(found["at"]), found["result"], found["target"], found["rest"] or "")


def seen_on(record: Record) -> date | None:
    """The day on which the record was last conclusively seen."""
    value = record.data.get("retrieved_at") if record.kind == "rate_limits" else _block(record).get("verified_at")
    try:
        return date.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def target_of(record: Record) -> str:
    """The target on which the record's evidence was gathered, or an empty string."""
    if record.kind != "errors":
        return str(_block(record).get("target", ""))
    found = _NOTE.fullmatch(str(_block(record).get("note", "")))
    return found["target"] if found else ""


def is_mock(target: str) -> bool:
    return target == MOCK or target.startswith(f"{MOCK}:")


def with_evidence(record: Record, sighting: Sighting, differences: tuple[str, ...], extra: Mapping[str, Json]) -> Json:
    """The record's data with the sighting as its last: `extra` is what only this kind of record keeps."""
    result, run = str(sighting.result.outcome), sighting.run.run
    at, day = sighting.at.isoformat(timespec="milliseconds").replace("+00:00", "Z"), sighting.day.isoformat()
    data = dict(record.data)
    if record.kind == "errors":
        note = f"{result}, seen on {sighting.target} in run {run} at {at}"
        note += f": {'; '.join(differences)}" if differences else ""
        if sighting.run.live and sighting.result.outcome is Outcome.CONFORMS:
            data["observed_live"] = True
        data["observed"] = {"verified_at": day, **extra, "note": note}
        return data
    block: dict[str, Json] = {"result": result, "target": sighting.target, "run": run, "observed_at": at}
    if differences:
        block["seen"] = list(differences)
    if record.kind == "rate_limits":
        data["retrieved_at"] = day
        by_hand = {key: value for key, value in _block(record).items() if key not in _WRITTEN}
        data["observed_for_this_key"] = {**by_hand, **block, **extra}
    else:
        data["verification"] = {"result": result, "verified_at": day, **block, **extra}
    return data


def with_expiry(record: Record, reason: str) -> Json:
    """The record's data with its evidence marked as too old to stand on. Its date stays: nobody looked since."""
    block = {key: value for key, value in _block(record).items() if key != "seen"}
    block |= {"note": reason} if record.kind == "errors" else {"result": "expired", "reason": reason}
    return {**record.data, _BLOCKS[record.kind]: block}


def instant(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def _block(record: Record) -> Mapping[str, Json]:
    block = record.data.get(_BLOCKS[record.kind])
    return block if isinstance(block, dict) else {}
