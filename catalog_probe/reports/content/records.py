"""Records as a report shows them, and the section that each is in. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import changes, earlier_runs
from catalog_probe.catalog.evidence.changes import is_partial
from catalog_probe.catalog.evidence.earlier_runs import (
    EarlierOutcome,
    find_last_verdict,
    first_day_without_verdict,
    last_known_outcome,
)
from catalog_probe.catalog.model import Outcome, Tag
from catalog_probe.catalog.model.outcome import FindingCode, ReasonCode
from catalog_probe.catalog.model.record_states import SECTIONS, Attention, Change, Grouping, RecordState
from catalog_probe.catalog.observed import seen_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow
    from catalog_probe.catalog.evidence.results import Result, Run


_MENDABLE = frozenset(
    {
        ReasonCode.CREDENTIAL_MISSING,
        ReasonCode.CREDENTIAL_EMPTY,
        ReasonCode.VALUE_MISSING,
        ReasonCode.ADDRESS_MISSING,
        ReasonCode.PROVIDER_NOT_CONFIGURED,
        ReasonCode.COST_NOT_ALLOWED,
    }
)
"""Reasons for not probing that a setting changes; their details say which."""

_URGENCY = tuple(RecordState)  # the most urgent first


@dataclass(frozen=True, slots=True)
class ReportedRecord:
    """One record of a run: its result, and what is known of it over time."""

    result: Result
    state: RecordState
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
        fails_by_itself = self.state.is_red and self.state is not RecordState.UNREPORTED
        return fails_by_itself or self.outcome is Outcome.DRIFTED


def report_records(run: Run, results: Sequence[Result]) -> list[ReportedRecord]:
    """Build every record of the report: findings first, the most urgent first, then by address."""
    history = earlier_runs.parse_history(run)
    today = date.fromisoformat(run.today)
    records = [_report_record(result, run, today, history) for result in results]
    return sorted(records, key=lambda record: (not record.is_finding, _URGENCY.index(record.state), record.address))


def _report_record(result: Result, run: Run, today: date, history: Sequence[HistoryRow]) -> ReportedRecord:
    address = result.record
    earlier = earlier_runs.list_earlier_outcomes(address, history)
    state = changes.classify_record(result, earlier, last_known_outcome(result, run, earlier))
    since: date | None
    if state is RecordState.COVERAGE_LOST:
        since = first_day_without_verdict(today, earlier)
    else:
        since = changes.drift_start(result, today, earlier)
    observed_on, verified = _last_observation(result, run, today, find_last_verdict(earlier))
    conformed_days = (outcome.day for outcome in reversed(earlier) if outcome.outcome is Outcome.CONFORMS)
    conformed_on = next(conformed_days, None) or _day_in_record(result, run)
    return ReportedRecord(
        result=result,
        state=state,
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


@dataclass(frozen=True, slots=True)
class Section:
    """A section with its records, by address."""

    name: RecordState
    records: tuple[ReportedRecord, ...]

    @property
    def means(self) -> str:
        return self.name.meaning

    @property
    def best_help(self) -> str:
        """What would let most of its records be probed: `set PA_COMPLIANCE_KEY (74)`; empty if nothing would."""
        details = Counter(record.reason_detail for record in self.records if record.reason_code in _MENDABLE)
        return next((f"{detail} ({number})" for detail, number in details.most_common(1)), "")

    @property
    def is_by_cause(self) -> bool:
        return self.name.grouping is Grouping.CAUSE

    @property
    def is_by_reason(self) -> bool:
        return self.name.grouping is Grouping.REASON

    @property
    def is_quiet(self) -> bool:
        """Whether it is no news, so that nobody has to act on it."""
        return self.name.attention is Attention.NONE


def group_into_sections(records: Sequence[ReportedRecord]) -> tuple[Section, ...]:
    """Return the sections that have records, in reading order."""
    records_by_section: dict[RecordState, list[ReportedRecord]] = {name: [] for name in SECTIONS}
    for record in sorted(records, key=lambda record: record.address):
        records_by_section[record.state.section].append(record)
    return tuple(Section(name, tuple(members)) for name, members in records_by_section.items() if members)


def list_query_words(record: ReportedRecord) -> frozenset[str]:
    """Return the words by which a query finds a record after `is:`: its section, `drifted`, `new`, `failing`, …"""
    words = {str(record.state.section)}
    if record.outcome is Outcome.DRIFTED:  # every other outcome is also the name of a section
        words.add(record.outcome.query_word)
    if record.state.change is Change.NEW:
        words.add("new")
    if record.state.is_red:
        words.add("failing")
    if record.added:
        words.add("added")
    if record.verified:
        words.add("verified")
    if record.is_partly_verified:
        words.add("in-part")
    return frozenset(words)
