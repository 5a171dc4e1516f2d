"""The sections of a report. Every selected record is in exactly one, so their numbers add up. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import run_verdict
from catalog_probe.catalog.evidence.changes import Change
from catalog_probe.catalog.model import Outcome
from catalog_probe.reports.content.words import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.reports.content.reported_records import ReportedRecord


class SectionName(StrEnum):
    """The sections as queries name them (`is:regressed`), in reading order: the most urgent first."""

    OURS = "our-fault"
    REGRESSED = "regressed"
    NEW = "new-drift"
    NEVER = "never-confirmed"
    PENDING = "pending"
    CHANGED = "changed"
    LOST = "coverage-lost"
    FLAKY = "flaky"
    STALE = "stale-accepted-difference"
    STILL = "still-drifting"
    FIXED = "fixed"
    ACCEPTED = "accepted"
    INCONCLUSIVE = "inconclusive"
    RESTRICTED = "restricted"
    NOT_PROBED = "not-probed"
    CONFORMS = "conforms"

    @property
    def heading(self) -> str:
        """`Coverage lost`."""
        return self.replace("-", " ").capitalize()


MEANINGS: Mapping[SectionName, str] = {
    SectionName.OURS: "The probe itself failed, or a part of it.",
    SectionName.REGRESSED: "Drifts today; a live run confirmed it before.",
    SectionName.NEW: "Drifts today for the first time.",
    SectionName.NEVER: "Drifts, and no live run has ever confirmed it.",
    SectionName.PENDING: "Drifts, was never confirmed, and is so new that it fails no run yet.",
    SectionName.CHANGED: "Drifted before, and drifts in another way today.",
    SectionName.LOST: "Had a verdict before and has none today.",
    SectionName.FLAKY: "Attempts at the same request disagree.",
    SectionName.STALE: "An accepted difference is gone, or its review is overdue.",
    SectionName.STILL: "Drifts as it did before.",
    SectionName.FIXED: "Drifted before, and is as documented today.",
    SectionName.ACCEPTED: "Drifts, and the difference is accepted until its review.",
    SectionName.INCONCLUSIVE: "Could not be observed.",
    SectionName.RESTRICTED: "This account may not see it.",
    SectionName.NOT_PROBED: "Is not allowed here, or nothing can provoke it on this target.",
    SectionName.CONFORMS: "All that was observed is as documented.",
}

BY_CAUSE = frozenset(
    {
        SectionName.REGRESSED,
        SectionName.NEW,
        SectionName.NEVER,
        SectionName.PENDING,
        SectionName.CHANGED,
        SectionName.STILL,
        SectionName.ACCEPTED,
    }
)
"""The sections whose records are grouped by cause."""

BY_REASON = frozenset({SectionName.LOST, SectionName.INCONCLUSIVE, SectionName.RESTRICTED, SectionName.NOT_PROBED})
"""The sections whose records are grouped by the reason why they have no verdict."""

FAILING = frozenset(
    {
        SectionName.OURS,
        SectionName.REGRESSED,
        SectionName.NEW,
        SectionName.NEVER,
        SectionName.CHANGED,
        SectionName.FLAKY,
        SectionName.STALE,
        SectionName.STILL,
    }
)
"""The sections that fail a run."""

QUIET = frozenset({SectionName.RESTRICTED, SectionName.NOT_PROBED, SectionName.CONFORMS})
"""The sections without news, on which nobody has to act."""

_BY_CHANGE: Mapping[Change, SectionName] = {
    Change.LOST: SectionName.LOST,
    Change.PENDING: SectionName.PENDING,
    Change.DIFFERENT: SectionName.CHANGED,
    Change.ONGOING: SectionName.STILL,
    Change.FIXED: SectionName.FIXED,
    Change.ACCEPTED: SectionName.ACCEPTED,
    Change.STALE: SectionName.STALE,
    Change.FLAKY: SectionName.FLAKY,
    Change.BROKEN: SectionName.OURS,
    Change.UNSEEN: SectionName.INCONCLUSIVE,
}
_BY_OUTCOME: Mapping[Outcome, SectionName] = {
    Outcome.CONFORMS: SectionName.CONFORMS,
    Outcome.DRIFTED: SectionName.NEW,
    Outcome.RESTRICTED: SectionName.RESTRICTED,
    Outcome.NOT_PROBED: SectionName.NOT_PROBED,
}
_BY_DRIFT_KIND: Mapping[str, SectionName] = {"regression": SectionName.REGRESSED, "never confirmed": SectionName.NEVER}


@dataclass(frozen=True, slots=True)
class Section:
    """A section with its records, by address."""

    name: SectionName
    records: tuple[ReportedRecord, ...]

    @property
    def means(self) -> str:
        return MEANINGS[self.name]


def classify_record(record: ReportedRecord) -> SectionName:
    """Return the section of a record."""
    if record.change is Change.NEW:
        return _BY_DRIFT_KIND.get(record.drift_kind, SectionName.NEW)
    return _BY_CHANGE.get(record.change) or _BY_OUTCOME[record.outcome]


def group_into_sections(records: Sequence[ReportedRecord]) -> tuple[Section, ...]:
    """Return the sections that have records, in reading order."""
    records_by_section: dict[SectionName, list[ReportedRecord]] = {name: [] for name in SectionName}
    for record in sorted(records, key=lambda record: record.address):
        records_by_section[classify_record(record)].append(record)
    return tuple(Section(name, tuple(members)) for name, members in records_by_section.items() if members)


def list_query_words(record: ReportedRecord) -> frozenset[str]:
    """Return the words by which a query finds a record after `is:`: its section, `drifted`, `new`, `failing`, …"""
    words = {str(classify_record(record))}
    if record.outcome is Outcome.DRIFTED:  # every other outcome is also the name of a section
        words.add(OUTCOMES[Outcome.DRIFTED])
    if record.change in (Change.NEW, Change.DIFFERENT):
        words.add("new")
    if run_verdict.is_failure(record.result) or run_verdict.is_broken(record.result):
        words.add("failing")
    if record.added:
        words.add("added")
    if record.verified:
        words.add("verified")
    if record.is_partly_verified:
        words.add("in-part")
    return frozenset(words)
