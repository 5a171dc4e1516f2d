"""Rules over the results of a run: what fails it, what is accepted, and its exit status. Pure.

The exit status, the report, the terminal, summary.md, junit.xml and write-back use these rules and have none of their
own. Blindness, changes over time and the identity of a drift have their own modules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import harness_results, shards
from catalog_probe.catalog.evidence.completeness import add_missing_results, is_unreported
from catalog_probe.catalog.evidence.harness_results import select_record_results
from catalog_probe.catalog.evidence.verdicts import coverage_lost
from catalog_probe.catalog.evidence.verdicts.blindness import (
    find_blind_providers,
    find_failed_lanes,
    find_gaps_on_mock,
    find_gaps_under_expect_all,
)
from catalog_probe.catalog.evidence.verdicts.confirmation import is_pending
from catalog_probe.catalog.model import AcceptanceState, Outcome
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.catalog.model.exits import Exit, select_exit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.evidence.results import Result, Run


def exit_status(run: Run, results: Sequence[Result]) -> Exit:
    """Return the exit status of a run."""
    complete = add_missing_results(run, results)
    records = select_record_results(complete)
    statuses = {Exit.FINE}
    if all(result.outcome is Outcome.NOT_PROBED for result in records):
        statuses.add(Exit.NOTHING_SELECTED)
    if list_faults(run, complete) or any(is_broken(result) for result in records):
        statuses.add(Exit.HARNESS_ERROR)
    if list_stale_entries(run, complete) or any(is_failure(result) for result in records):
        statuses.add(Exit.DRIFT)
    if blind_providers(run, complete):
        statuses.add(Exit.BLIND)
    return select_exit(statuses)


def list_faults(run: Run, results: Sequence[Result]) -> tuple[str, ...]:
    """Return the faults of the run itself, each in one sentence. Any of them makes the run exit 3."""
    return harness_results.list_faults(run, results, [result for result in results if is_failure(result)])


def blind_providers(run: Run, results: Sequence[Result]) -> dict[str, str]:
    """Return the blind providers, each with the reason in one sentence."""
    return _blind_providers(run, select_record_results(add_missing_results(run, results)))


def find_withheld(run: Run, results: Sequence[Result]) -> tuple[dict[str, str], frozenset[str]]:
    """Return what write-back must leave out: lanes and providers with reasons, and the addresses of records.

    A failed lane is left out alone. Its provider is left out if its other lanes are blind too.
    """
    record_results = select_record_results(add_missing_results(run, results))
    failed_lanes = find_failed_lanes(record_results)
    lane_addresses = frozenset(result.record for lane_results in failed_lanes.values() for result in lane_results)
    reasons = _blind_providers(run, record_results)
    remaining = [result for result in record_results if result.record not in lane_addresses]
    blind = {provider: reasons.get(provider, reason) for provider, reason in _blind_providers(run, remaining).items()}
    provider_addresses = frozenset(result.record for result in record_results if result.address.provider in blind)
    lane_reasons = {
        lane: "its control failed"
        for lane, lane_results in failed_lanes.items()
        if lane_results[0].address.provider not in blind
    }
    return {**lane_reasons, **blind}, lane_addresses | provider_addresses


def _blind_providers(run: Run, results: Sequence[Result]) -> dict[str, str]:
    lost = coverage_lost.find_lost_coverage(run, results)
    reasons = find_blind_providers(results, run.expected, lost, is_shard=bool(shards.list_shards(run.policy)))
    if not run.live and run.answered_by is AnsweredBy.MOCK and not run.invocation.traffic:
        reasons = {**find_gaps_on_mock(results), **reasons}
    if run.policy.get("expect_all"):
        reasons = {**find_gaps_under_expect_all(results), **reasons}
    return reasons


def is_failure(result: Result) -> bool:
    """Whether it makes the run exit 1: drift neither accepted nor pending, flaky, or a stale accepted difference."""
    drifted = result.outcome is Outcome.DRIFTED and not is_accepted(result) and not is_pending(result)
    return drifted or result.outcome is Outcome.FLAKY or is_stale(result)


def is_broken(result: Result) -> bool:
    """Whether it makes the run exit 3: a harness error, or a process that was lost before it reported."""
    return result.outcome is Outcome.HARNESS_ERROR or is_unreported(result)


def is_accepted(result: Result) -> bool:
    """Whether it drifted, and all of its differences are accepted."""
    return result.outcome is Outcome.DRIFTED and acceptance_state(result) is AcceptanceState.ACCOUNTED


def is_stale(result: Result) -> bool:
    """Whether the accepted difference of the record is stale: its review is overdue, or it does not drift any more."""
    return not is_broken(result) and acceptance_state(result) is AcceptanceState.STALE


def acceptance_state(result: Result) -> AcceptanceState | None:
    """Return the state of the record's accepted difference; None if there is none."""
    state = (result.accepted_difference or {}).get("state")
    return AcceptanceState(state) if state in set(AcceptanceState) else None


def acceptance_field(result: Result, field: str) -> str:
    """Return the `reason`, `detail` or `review_by` of the accepted difference; empty if it has none."""
    return str((result.accepted_difference or {}).get(field) or "")


def list_stale_entries(run: Run, results: Sequence[Result]) -> tuple[str, ...]:
    """Return the stale accepted differences that no result reports, one line each. They fail the run by themselves."""
    reported = [f":{result.record}: " for result in results if is_stale(result)]
    entries = run.policy.get("stale_accepted_differences") or ()
    return tuple(entry for entry in entries if not any(address in entry for address in reported))
