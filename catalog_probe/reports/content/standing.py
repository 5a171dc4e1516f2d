"""Where each record stands: this run's outcome beside the earlier ones, and how old the evidence is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.evidence.completeness import is_unreported
from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome, find_last_verdict
from catalog_probe.catalog.evidence.verdicts import changes, confirmation, coverage_lost, run_verdict
from catalog_probe.catalog.evidence.verdicts.changes import Change
from catalog_probe.catalog.evidence.verdicts.partial import is_partial
from catalog_probe.catalog.model import Outcome, Tag
from catalog_probe.catalog.observed.last_seen import seen_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.evidence.earlier_runs import HistoryRow
    from catalog_probe.catalog.evidence.results import Result, Run


@dataclass(frozen=True, slots=True)
class Standing:
    """One record: its result and what is known of it over time."""

    result: Result
    change: Change
    strip: tuple[Outcome | None, ...]
    """The outcomes of the runs shown, oldest first, this run last; None where it was not in a run."""
    since: date | None = None
    """The first day of the drift that goes on, if it drifts; the first day without a verdict, if it was lost."""
    day: int = 0
    age: int | None = None
    """The days since its behaviour was last seen and judged."""
    verified: bool = False
    """Whether it was as documented when it was last seen."""
    added: bool = False
    """Whether no earlier run knew it, though there were some."""
    conformed_before: str = ""
    """The day on which it was last seen to conform before this run, if it was."""

    @property
    def address(self) -> str:
        return self.result.record

    @property
    def outcome(self) -> Outcome:
        return self.result.outcome

    @property
    def kind(self) -> str:
        """Of a live drift that fails the run: whether it was ever seen as documented."""
        if not run_verdict.is_failure(self.result) or self.outcome is not Outcome.DRIFTED:
            return ""
        if confirmation.list_regressions(self.result):
            return "regression"
        return "never confirmed" if confirmation.list_never_confirmed(self.result) else ""

    @property
    def in_part(self) -> bool:
        """Whether it is verified, and something that it states was not seen."""
        return self.verified and is_partial(self.result)

    @property
    def is_finding(self) -> bool:
        """Whether a person has to read about it: what fails the run, and what would if it were not accepted.

        What was never reported has nothing to read; it is told with all else that could not be looked at.
        """
        broken = run_verdict.is_broken(self.result) and not is_unreported(self.result)
        return run_verdict.is_failure(self.result) or broken or self.outcome is Outcome.DRIFTED


_ORDER = tuple(Change)


def standings(run: Run, results: Sequence[Result]) -> list[Standing]:
    """Every record's standing, what needs attention first, otherwise by address."""
    earlier = earlier_runs.parse_history(run)
    today = date.fromisoformat(run.today)
    found = [_standing(result, run, today, earlier) for result in results]
    return sorted(found, key=lambda each: (not each.is_finding, _ORDER.index(each.change), each.address))


def _standing(result: Result, run: Run, today: date, earlier: Sequence[HistoryRow]) -> Standing:
    address = result.record
    before = earlier_runs.list_earlier_outcomes(address, earlier)
    conformed = next((each for each in reversed(before) if each.outcome is Outcome.CONFORMS), None)
    change = changes.classify_change(result, before, coverage_lost.last_known_outcome(result, run, before))
    since = (
        coverage_lost.first_day_without_verdict(today, before)
        if change is Change.LOST
        else changes.drift_start(result, today, before)
    )
    evidence, verified = _evidence(result, run, today, find_last_verdict(before))
    return Standing(
        result=result,
        change=change,
        strip=(*(row.outcomes.get(address) for row in earlier), result.outcome),
        since=since,
        day=(today - since).days + 1 if since else 0,
        age=max(0, (today - evidence).days) if evidence else None,
        verified=verified,
        added=bool(earlier) and not before,
        conformed_before=_iso(conformed.day if conformed else _recorded(result, run)),
    )


def _evidence(result: Result, run: Run, today: date, last: EarlierOutcome | None) -> tuple[date | None, bool]:
    """When the behaviour was last seen, and whether it was as documented then."""
    if result.outcome.is_conclusive:
        return _day(result.observed_at) or today, result.outcome is Outcome.CONFORMS
    recorded = _recorded(result, run)
    if last is not None and (recorded is None or last.day >= recorded):
        return last.day, last.outcome is Outcome.CONFORMS
    return recorded, recorded is not None


def _recorded(result: Result, run: Run) -> date | None:
    """The day that write-back left in the record; it speaks of a live target, so it counts for live runs alone."""
    return (
        seen_on(result.parsed_record)
        if run.speaks_of_providers and Tag.LIVE_VERIFIED in result.parsed_record.tags
        else None
    )


def _iso(day: date | None) -> str:
    return day.isoformat() if day is not None else ""


def _day(text: str | None) -> date | None:
    try:
        return date.fromisoformat(text[:10]) if text else None
    except ValueError:
        return None
