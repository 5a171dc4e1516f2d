"""Records as a report shows them, and the section that each is in. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import changes, earlier_runs, run_verdict
from catalog_probe.catalog.evidence import earlier_runs as confirmation
from catalog_probe.catalog.evidence import earlier_runs as coverage_lost
from catalog_probe.catalog.evidence.changes import Change, is_partial
from catalog_probe.catalog.evidence.completeness import is_unreported
from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome, find_last_verdict
from catalog_probe.catalog.model import Outcome, Tag
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.observed import seen_on
from catalog_probe.reports.content.words import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow
    from catalog_probe.catalog.evidence.results import Result, Run


_CHANGE_ORDER = tuple(Change)


@dataclass(frozen=True, slots=True)
class ReportedRecord:
    """One record of a run: its result, and what is known of it over time."""

    result: Result
    change: Change
    recent_outcomes: tuple[Outcome | None, ...]
    """The outcomes of the runs shown, oldest first, this run last; None if the record was not in a run."""
    since: date | None = None
    """The first day of a drift that goes on, or the first day without a verdict if coverage was lost."""
    drift_day: int = 0
    """Which day of that this is, counted from 1; 0 if there is none."""
    age: int | None = None
    """Days since the behaviour was last observed and judged."""
    verified: bool = False
    """Whether it was as documented when last observed."""
    added: bool = False
    """Whether no earlier run knew it, though there were earlier runs."""
    conformed_before: str = ""
    """The last day before this run on which it conformed, or empty."""

    @property
    def address(self) -> str:
        return self.result.record

    @property
    def provider(self) -> str:
        return self.result.address.provider

    @property
    def outcome(self) -> Outcome:
        return self.result.outcome

    @property
    def reason_code(self) -> str:
        return self.result.reason.code if self.result.reason else ""

    @property
    def reason_detail(self) -> str:
        return self.result.reason.detail if self.result.reason else ""

    @property
    def drift_kind(self) -> str:
        """`regression` or `never confirmed` for a live drift that fails the run, else empty."""
        if not run_verdict.is_failure(self.result) or self.outcome is not Outcome.DRIFTED:
            return ""
        if confirmation.list_regressions(self.result):
            return "regression"
        return "never confirmed" if confirmation.list_never_confirmed(self.result) else ""

    @property
    def is_partly_verified(self) -> bool:
        """Whether it is verified although some of its assertions were not observed."""
        return self.verified and is_partial(self.result)

    @property
    def sent_steps(self) -> frozenset[str]:
        """The labels of the steps that were sent and judged."""
        return frozenset(observation.label for observation in self.result.observations)

    @property
    def unsent_steps(self) -> frozenset[str]:
        """The labels of the documented steps that were not sent, for want of a key or value, or a cost not allowed."""
        not_observed = (finding for finding in self.result.findings if finding.code == FindingCode.NOT_OBSERVED)
        return frozenset(finding.label for finding in not_observed if finding.label) - self.sent_steps

    @property
    def is_finding(self) -> bool:
        """Whether a person has to read about it: it fails the run, or would if it were not accepted.

        An unreported record has nothing to read; it is listed with all others that could not be observed.
        """
        is_broken = run_verdict.is_broken(self.result) and not is_unreported(self.result)
        return run_verdict.is_failure(self.result) or is_broken or self.outcome is Outcome.DRIFTED


def report_records(run: Run, results: Sequence[Result]) -> list[ReportedRecord]:
    """Build every record of the report: findings first, then by change and address."""
    history = earlier_runs.parse_history(run)
    today = date.fromisoformat(run.today)
    records = [_report_record(result, run, today, history) for result in results]
    return sorted(
        records, key=lambda record: (not record.is_finding, _CHANGE_ORDER.index(record.change), record.address)
    )


def _report_record(result: Result, run: Run, today: date, history: Sequence[HistoryRow]) -> ReportedRecord:
    address = result.record
    earlier = earlier_runs.list_earlier_outcomes(address, history)
    change = changes.classify_change(result, earlier, coverage_lost.last_known_outcome(result, run, earlier))
    since: date | None
    if change is Change.LOST:
        since = coverage_lost.first_day_without_verdict(today, earlier)
    else:
        since = changes.drift_start(result, today, earlier)
    observed_on, verified = _last_observation(result, run, today, find_last_verdict(earlier))
    conformed_days = (outcome.day for outcome in reversed(earlier) if outcome.outcome is Outcome.CONFORMS)
    conformed_on = next(conformed_days, None) or _day_in_record(result, run)
    return ReportedRecord(
        result=result,
        change=change,
        recent_outcomes=(*(row.outcomes.get(address) for row in history), result.outcome),
        since=since,
        drift_day=(today - since).days + 1 if since else 0,
        age=max(0, (today - observed_on).days) if observed_on else None,
        verified=verified,
        added=bool(history) and not earlier,
        conformed_before=conformed_on.isoformat() if conformed_on else "",
    )


def _last_observation(result: Result, run: Run, today: date, last: EarlierOutcome | None) -> tuple[date | None, bool]:
    """Return the day on which the behaviour was last observed, and whether it was as documented then."""
    if result.outcome.is_conclusive:
        return _parse_day(result.observed_at) or today, result.outcome is Outcome.CONFORMS
    recorded_on = _day_in_record(result, run)
    if last is not None and (recorded_on is None or last.day >= recorded_on):
        return last.day, last.outcome is Outcome.CONFORMS
    return recorded_on, recorded_on is not None


def _day_in_record(result: Result, run: Run) -> date | None:
    """Return the day of the evidence in the record itself.

    It was observed on a live provider, so it says nothing of the target of another run.
    """
    if run.speaks_of_providers and Tag.LIVE_VERIFIED in result.parsed_record.tags:
        return seen_on(result.parsed_record)
    return None


def _parse_day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None


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
