"""Coverage lost: a record that had a verdict and has none now, though it was meant to be probed. Pure.

It is reported before drift, because a record that nobody observes may do anything. A record that was not meant to be
probed (its cost is not allowed, its key is not configured, its endpoint was not drawn) has not lost its coverage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.evidence.completeness import is_unreported
from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome, find_last_verdict
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.observed.last_seen import is_not_from_provider, last_seen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.results import Result, Run

OUTCOMES_WITHOUT_VERDICT = frozenset({Outcome.INCONCLUSIVE, Outcome.RESTRICTED})
"""Outcomes of records that were meant to be observed and were not."""

LOST_REASONS = frozenset({ReasonCode.CREDENTIAL_EMPTY, ReasonCode.VALUE_NOT_FOUND})
"""Reasons for not probing that lose coverage: a CI secret is empty, or a value is gone from the account."""


def has_lost_coverage(result: Result, last: EarlierOutcome | None) -> bool:
    """Whether a record had a verdict, `last`, and has none now. A record that was never reported does not count."""
    return last is not None and _is_unobserved(result)


def find_lost_coverage(run: Run, results: Sequence[Result]) -> frozenset[str]:
    """Return the addresses of the records that lost coverage in this run."""
    unobserved = [result for result in results if _is_unobserved(result)]
    rows = earlier_runs.parse_history(run) if unobserved else []
    return frozenset(
        result.record
        for result in unobserved
        if last_known_outcome(result, run, earlier_runs.list_earlier_outcomes(result.record, rows)) is not None
    )


def last_known_outcome(result: Result, run: Run, earlier: Sequence[EarlierOutcome]) -> EarlierOutcome | None:
    """Return the last verdict on a record before this run, from earlier runs or from the record's evidence."""
    from_history, from_record = find_last_verdict(earlier), _outcome_in_record(result, run)
    if from_history is None or from_record is None:
        return from_history or from_record
    return max(from_history, from_record, key=lambda outcome: outcome.day)


def first_day_without_verdict(today: date, earlier: Sequence[EarlierOutcome]) -> date:
    """Return the first day without a verdict since the last one; `earlier` is in order, oldest first."""
    days = [today]
    for outcome in reversed(earlier):
        if outcome.outcome.is_conclusive:
            break
        days.append(outcome.day)
    return min(days)


def _is_unobserved(result: Result) -> bool:
    """Whether it was meant to be observed, was reported, and has no verdict."""
    has_lost_reason = result.reason is not None and result.reason.code in LOST_REASONS
    was_meant = result.outcome in OUTCOMES_WITHOUT_VERDICT or (result.outcome is Outcome.NOT_PROBED and has_lost_reason)
    return was_meant and not is_unreported(result) and not result.is_beyond_verifying


def _outcome_in_record(result: Result, run: Run) -> EarlierOutcome | None:
    """Return the outcome that write-back left in the record, if it is of the same live target and account."""
    if not run.speaks_of_providers or not result.probed_record:
        return None
    last = last_seen(result.parsed_record)
    if last is None or is_not_from_provider(last.target) or last.target != run.target:
        return None
    outcome = {"conforms": Outcome.CONFORMS, "drifted": Outcome.DRIFTED}.get(last.result)
    return EarlierOutcome(last.day, outcome) if outcome is not None else None
