"""What a result means beside the runs before it: new, going on and since when, fixed, or not seen any more. Pure."""

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
    """What a result means beside the runs before it."""

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
    """The first day of the unbroken drift that this result goes on with; None where it does not drift.

    A night without a verdict breaks nothing, and neither does a drift that changed: the record has not conformed since.
    """
    if result.outcome is not Outcome.DRIFTED:
        return None
    last = find_last_verdict(earlier)
    return last.since if last is not None and last.drifts else today


def summarize_drift_for_history(
    result: Result, today: date, earlier: Sequence[EarlierOutcome]
) -> dict[str, Json] | None:
    """What a row of the history keeps of the record's drift; None where it has none.

    A drift whose endpoints were not drawn is neither fixed nor forgotten: it is kept as it was.
    """
    first = drift_start(result, today, earlier)
    if first is not None:
        return {"since": first.isoformat(), **drift_identity.summarize_drift(result.findings)}
    last = find_last_verdict(earlier)
    if last is not None and is_drift_not_drawn(result, last):
        return {**last.kept, "since": last.since.isoformat()}
    return None


def is_drift_not_drawn(result: Result, last: EarlierOutcome) -> bool:
    """Whether this night did not look at each of the endpoints on which an earlier drift was seen last."""
    on = set(last.kept.get("on", ()))
    return result.outcome is Outcome.CONFORMS and last.drifts and not on.isdisjoint(result.not_drawn)


def classify_change(result: Result, earlier: Sequence[EarlierOutcome], known: EarlierOutcome | None = None) -> Change:
    """What became of the record since it was last judged; `known` is that verdict where no earlier run tells of it."""
    last = find_last_verdict(earlier)
    drifted_before = last is not None and last.drifts
    if run_verdict.is_broken(result) and not is_unreported(result):
        return Change.BROKEN
    if has_lost_coverage(result, known or last):
        return Change.LOST
    if run_verdict.is_stale(result):
        return Change.STALE
    match result.outcome:
        case Outcome.DRIFTED if run_verdict.is_accepted(result):
            return Change.ACCEPTED
        case Outcome.DRIFTED if is_pending(result):
            return Change.PENDING
        case Outcome.DRIFTED if last is not None and drifted_before:
            same = drift_identity.is_same_drift(result.findings, last.kept)
            return Change.ONGOING if same else Change.DIFFERENT
        case Outcome.DRIFTED:
            return Change.NEW
        case Outcome.CONFORMS:
            return (
                Change.FIXED
                if last is not None and drifted_before and not is_drift_not_drawn(result, last)
                else Change.NONE
            )
        case Outcome.FLAKY:
            return Change.FLAKY
        case Outcome.INCONCLUSIVE:
            return Change.UNSEEN
    return Change.NONE
