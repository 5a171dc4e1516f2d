"""Coverage lost: a record that had a verdict and has none now, though it was meant to be probed. Pure.

It is news as a drift is, and told first: a record that nobody observes may do anything. A record that was not meant to
be probed (its cost is not allowed, its key is not named, its cell was not drawn) has not lost its coverage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import earlier_runs
from catalog_probe.catalog.evidence.completeness import is_unreported
from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome, find_last_verdict
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.observed.last_seen import last_seen, of_no_provider

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.results import Result, Run

OUTCOMES_WITHOUT_VERDICT = frozenset({Outcome.INCONCLUSIVE, Outcome.RESTRICTED})
"""The outcomes of what was meant to be observed and was not."""

LOST_REASONS = frozenset({ReasonCode.CREDENTIAL_EMPTY, ReasonCode.VALUE_NOT_FOUND})
"""Why something was not probed though somebody meant it to be: what it rests on was sought and is not there."""


def has_lost_coverage(result: Result, last: EarlierOutcome | None) -> bool:
    """Whether a record of which this was the `last` verdict has none any more.

    A key that is set and empty is the secret that a CI could not find, and what was sought on the account and is not
    there any more is what a night rested on: both were meant to be probed. What was never reported is told as that.
    """
    return last is not None and _is_unseen(result)


def find_lost_coverage(run: Run, results: Sequence[Result]) -> frozenset[str]:
    """The addresses of the records whose coverage this run lost."""
    unseen = [result for result in results if _is_unseen(result)]
    rows = earlier_runs.parse_history(run) if unseen else []
    return frozenset(
        result.record
        for result in unseen
        if last_known_outcome(result, run, earlier_runs.list_earlier_outcomes(result.record, rows)) is not None
    )


def last_known_outcome(result: Result, run: Run, earlier: Sequence[EarlierOutcome]) -> EarlierOutcome | None:
    """The last verdict on a record before this run: that of an earlier run, or what the record itself keeps of one."""
    kept, recorded = find_last_verdict(earlier), _recorded(result, run)
    if kept is None or recorded is None:
        return kept or recorded
    return max(kept, recorded, key=lambda each: each.day)


def first_day_without_verdict(today: date, earlier: Sequence[EarlierOutcome]) -> date:
    """The first day without a verdict since the last one, of a record that has none today."""
    blind = []
    for each in reversed(earlier):
        if each.outcome.is_conclusive:
            break
        blind.append(each.day)
    return min([today, *blind])


def _is_unseen(result: Result) -> bool:
    """Whether it was meant to be observed, was reported, and has no verdict."""
    gone = result.reason is not None and result.reason.code in LOST_REASONS
    meant = result.outcome in OUTCOMES_WITHOUT_VERDICT or (result.outcome is Outcome.NOT_PROBED and gone)
    return meant and not is_unreported(result) and not result.is_beyond_verifying


def _recorded(result: Result, run: Run) -> EarlierOutcome | None:
    """What write-back left in the record; it speaks of the live target that it names, and of no other account."""
    if not run.speaks_of_providers or not result.probed_record:
        return None
    last = last_seen(result.parsed_record)
    if last is None or of_no_provider(last.target) or last.target != run.target:
        return None
    outcome = {"conforms": Outcome.CONFORMS, "drifted": Outcome.DRIFTED}.get(last.result)
    return EarlierOutcome(last.day, outcome) if outcome is not None else None
