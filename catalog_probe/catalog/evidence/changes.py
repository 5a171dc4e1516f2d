"""The state of a record by this run and the earlier ones, and how long its drift has lasted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import causes, run_verdict
from catalog_probe.catalog.evidence.earlier_runs import EarlierOutcome, find_last_verdict, has_lost_coverage
from catalog_probe.catalog.model import Json, Outcome
from catalog_probe.catalog.model.outcome import FindingCode
from catalog_probe.catalog.model.record_states import Change, RecordState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date

    from catalog_probe.catalog.evidence.results import Result


OPTIONAL_HEADER_ABSENT = "not-shown"  # reason code of the judge: the header may be absent, so nothing is missing


def is_partial(result: Result) -> bool:
    """Whether some assertion of the record was not observed on any endpoint that this run drew."""
    if any(finding.code == FindingCode.NOT_OBSERVED for finding in result.findings):
        return True
    observed = {
        f"{observation.label}/{key}"
        for observation in result.observations
        for key in (*observation.matched, *observation.mismatched)
    }
    return any(
        f"{observation.label}/{key}" not in observed and reason != OPTIONAL_HEADER_ABSENT
        for observation in result.observations
        for key, reason in observation.not_observed.items()
    )


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

    A drift on endpoints or variants that were not drawn is neither fixed nor forgotten, so its summary is kept.
    """
    start = drift_start(result, today, earlier)
    if start is not None:
        return {"since": start.isoformat(), **causes.summarize_drift(result.findings)}
    last = find_last_verdict(earlier)
    if last is not None and is_drift_not_drawn(result, last):
        return {**last.drift, "since": last.since.isoformat()}
    return None


def is_drift_not_drawn(result: Result, last: EarlierOutcome) -> bool:
    """Whether a conforming run left out some endpoint or variant on which the last drift was observed."""
    endpoints = set(last.drift.get("on", ())) & set(result.not_drawn)
    labels = {drift.partition("/")[0] for drift in last.drift.get("differs", ())} & set(result.variants_not_drawn)
    return result.outcome is Outcome.CONFORMS and last.drifts and bool(endpoints or labels)


def classify_record(
    result: Result, earlier: Sequence[EarlierOutcome], last_known: EarlierOutcome | None = None
) -> RecordState:
    """Return the state of a record: its state by this run, corrected by its last verdict.

    Example: a record that conforms is `fixed` if it drifted when it was last judged.

    Args:
        result: the result of this run.
        earlier: the outcomes of earlier runs, oldest first.
        last_known: the last verdict, if it is known from the record and not from an earlier run.
    """
    state = run_verdict.classify_result(result)
    last = find_last_verdict(earlier)
    # A stale accepted difference fails the run, so it goes before lost coverage, which fails none.
    if state is not RecordState.STALE and has_lost_coverage(result, last_known or last):
        return RecordState.COVERAGE_LOST
    if last is None or not last.drifts:
        return state
    if state.change is Change.NEW:
        is_same = causes.is_same_drift(result.findings, last.drift)
        return RecordState.STILL_DRIFTING if is_same else RecordState.CHANGED
    if state is RecordState.CONFORMS and not is_drift_not_drawn(result, last):
        return RecordState.FIXED
    return state
