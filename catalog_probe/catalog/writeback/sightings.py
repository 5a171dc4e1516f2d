"""Sightings (a result with its run), and the block of a record that keeps the last one."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.results import RECORDED
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.catalog.model.clock import format_utc
from catalog_probe.catalog.observed.last_seen import (
    ANOTHER_REVISION_PREFIX,
    EVIDENCE_FIELDS,
    LastSeen,
    evidence_block,
    is_not_from_provider,
    parse_utc_instant,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.catalog.model import Json, Record

_BLOCK_FIELDS = frozenset(
    "account_specific result verified_at target run observed_at seen headers tiers not_observed reason".split()
)
"""Fields that write-back puts into the block of a rate-limit record. The others were written by hand and stay."""

_DISTANT_PAST = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A result and the run to which it belongs."""

    run: Run
    result: Result

    @property
    def day(self) -> date:
        """The date for the record: the run's day, so that a run past midnight has one date.

        Recorded traffic has the day of its recording.
        """
        if self.result.trigger == RECORDED:
            return self.at.date()
        return date.fromisoformat(self.run.today)

    @property
    def at(self) -> datetime:
        """The time of the observation, or a distant past if it cannot be parsed."""
        return parse_utc_instant(self.result.observed_at) or parse_utc_instant(self.run.started_at) or _DISTANT_PAST

    @property
    def target(self) -> str:
        """The name of the target, with a prefix such as `mock:` if the run is no evidence for the records."""
        name = self.run.target
        if self.run.speaks_of_providers or is_not_from_provider(name):
            return name
        answered_by = self.run.answered_by
        return f"{ANOTHER_REVISION_PREFIX if answered_by is AnsweredBy.PROVIDER else answered_by}:{name}"

    def is_older_than(self, last: LastSeen | None) -> bool:
        """Whether the record's last sighting is newer. A day without a time counts as the whole day."""
        if last is None or self.day > last.day:
            return False
        return self.day < last.day or (last.at is not None and self.at < last.at)


def add_evidence(
    record: Record, sighting: Sighting, differences: tuple[str, ...], extra: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the record's data with this sighting as the last. `extra` has the fields of this kind of record."""
    result, run = str(sighting.result.outcome), sighting.run.run
    at, day = format_utc(sighting.at), sighting.day.isoformat()
    data = dict(record.data)
    if record.kind == "errors":
        note = f"{result}, seen on {sighting.target} in run {run} at {at}"
        note += f": {'; '.join(differences)}" if differences else ""
        data[EVIDENCE_FIELDS[record.kind]] = {"verified_at": day, **extra, "note": note}
        return data
    block: dict[str, Json] = {
        "result": result,
        "verified_at": day,
        "target": sighting.target,
        "run": run,
        "observed_at": at,
    }
    if differences:
        block["seen"] = list(differences)
    if record.kind == "rate_limits":
        by_hand = {key: value for key, value in evidence_block(record).items() if key not in _BLOCK_FIELDS}
        data[EVIDENCE_FIELDS[record.kind]] = {**by_hand, **block, **extra}
    else:
        data[EVIDENCE_FIELDS[record.kind]] = {**block, **extra}
    return data


def expire_evidence(record: Record, reason: str) -> dict[str, Json]:
    """Return the record's data with its evidence marked as expired. The date stays."""
    block = {key: value for key, value in evidence_block(record).items() if key != "seen"}
    block |= {"note": reason} if record.kind == "errors" else {"result": "expired", "reason": reason}
    return {**record.data, EVIDENCE_FIELDS[record.kind]: block}
