"""Change of a record since the runs before: new drift, ongoing, fixed, coverage lost and others. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import drift_identity
from catalog_probe.catalog.evidence.completeness import is_unreported
from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome, find_last_verdict
from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.evidence.verdicts.confirmation import is_pending
from catalog_probe.catalog.evidence.verdicts.coverage_lost import has_lost_coverage
from catalog_probe.catalog.model import Json, Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.results import Result


class Change(StrEnum):
    """What became of a record since it last had a verdict."""

    LOST = "lost"
    PENDING = "pending"
    NEW = "new"
    DIFFERENT = "different"
    ONGOING = "ongoing"
    FIXED = "fixed"
    ACCEPTED = "accepted"
    STALE = "stale"
    FLAKY = "flaky"
    BROKEN = "broken"
    UNSEEN = "unseen"
    NONE = "none"


def drift_start(result: Result, today: date, earlier: Sequence[EarlierOutcome]) -> date | None:
    """Return the first day of the drift that this result continues; None if it does not drift.

    A night without a verdict does not end a drift, and neither does a drift that changed: the record has not conformed
    in between.
    """
    if result.outcome is not Outcome.DRIFTED:
        return None
    last = find_last_verdict(earlier)
    return last.since if last is not None and last.drifts else today


def summarize_drift_for_history(
    result: Result, today: date, earlier: Sequence[EarlierOutcome]
) -> dict[str, Json] | None:
    """Return what a history row keeps of the record's drift; None if there is none.

    A drift on endpoints that were not drawn is neither fixed nor forgotten, so its summary is kept.
    """
    start = drift_start(result, today, earlier)
    if start is not None:
        return {"since": start.isoformat(), **drift_identity.summarize_drift(result.findings)}
    last = find_last_verdict(earlier)
    if last is not None and is_drift_not_drawn(result, last):
        return {**last.drift, "since": last.since.isoformat()}
    return None


def is_drift_not_drawn(result: Result, last: EarlierOutcome) -> bool:
    """Whether a conforming run left out some endpoint on which the last drift was observed."""
    drift_endpoints = set(last.drift.get("on", ()))
    return result.outcome is Outcome.CONFORMS and last.drifts and not drift_endpoints.isdisjoint(result.not_drawn)


def classify_change(
    result: Result, earlier: Sequence[EarlierOutcome], last_known: EarlierOutcome | None = None
) -> Change:
    """Return what became of the record since its last verdict.

    Args:
        result: the result of this run.
        earlier: the outcomes of earlier runs, oldest first.
        last_known: the last verdict, if it is known from the record and not from an earlier run.
    """
    last = find_last_verdict(earlier)
    drifted_before = last is not None and last.drifts
    if run_verdict.is_broken(result) and not is_unreported(result):
        return Change.BROKEN
    if has_lost_coverage(result, last_known or last):
        return Change.LOST
    if run_verdict.is_stale(result):
        return Change.STALE
    match result.outcome:
        case Outcome.DRIFTED if run_verdict.is_accepted(result):
            return Change.ACCEPTED
        case Outcome.DRIFTED if is_pending(result):
            return Change.PENDING
        case Outcome.DRIFTED if last is not None and drifted_before:
            is_same = drift_identity.is_same_drift(result.findings, last.drift)
            return Change.ONGOING if is_same else Change.DIFFERENT
        case Outcome.DRIFTED:
            return Change.NEW
        case Outcome.CONFORMS if last is not None and drifted_before and not is_drift_not_drawn(result, last):
            return Change.FIXED
        case Outcome.FLAKY:
            return Change.FLAKY
        case Outcome.INCONCLUSIVE:
            return Change.UNSEEN
    return Change.NONE
