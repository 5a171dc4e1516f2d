"""Every rule over the results of a run: what fails it, what is accounted for, and its exit status. Pure.

The exit status, the report, the terminal, summary.md, junit.xml and write-back ask these rules and have none of their
own (DESIGN.md, "What a verdict may rest on" and contract 2). Blindness, changes over time and the identity of a drift
have modules beside this one.
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
    find_missing_verdicts,
    find_unobserved,
)
from catalog_probe.catalog.evidence.verdicts.confirmation import is_pending
from catalog_probe.catalog.model import AcceptanceState, Outcome
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.catalog.model.exits import Exit, select_exit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from catalog_probe.catalog.evidence.results import Result, Run


def exit_status(run: Run, results: Sequence[Result]) -> Exit:
    """The exit status that a run calls for, by its results and by what its first line says."""
    known = add_missing_results(run, results)
    records = select_record_results(known)
    statuses = {Exit.FINE}
    if all(result.outcome is Outcome.NOT_PROBED for result in records):
        statuses.add(Exit.NOTHING_SELECTED)
    if list_faults(run, known) or any(is_broken(result) for result in records):
        statuses.add(Exit.HARNESS_ERROR)
    if list_stale_entries(run, known) or any(is_failure(result) for result in records):
        statuses.add(Exit.DRIFT)
    if blind_providers(run, known):
        statuses.add(Exit.BLIND)
    return select_exit(statuses)


def list_faults(run: Run, results: Sequence[Result]) -> tuple[str, ...]:
    """Faults of our own that no record tells, each in one sentence; one of them makes the run exit 3."""
    return harness_results.list_faults(run, results, [result for result in results if is_failure(result)])


def blind_providers(run: Run, results: Sequence[Result]) -> dict[str, str]:
    """The providers that this run was to look at and did not, and why, each in one sentence."""
    return _blind(run, select_record_results(add_missing_results(run, results)))


def find_withheld(run: Run, results: Sequence[Result]) -> tuple[dict[str, str], frozenset[str]]:
    """What is not written, and why: lanes and providers, each with a sentence; and the addresses of their records.

    A lane that failed withholds itself alone. Its provider is withheld if the others did not look at it either.
    """
    known = select_record_results(add_missing_results(run, results))
    lanes = find_failed_lanes(known)
    of_lanes = frozenset(result.record for own in lanes.values() for result in own)
    why = _blind(run, known)
    rest = _blind(run, [result for result in known if result.record not in of_lanes])
    blind = {provider: why.get(provider, other) for provider, other in rest.items()}
    of_providers = frozenset(result.record for result in known if result.address.provider in blind)
    told = {lane: "its control failed" for lane, own in lanes.items() if own[0].address.provider not in blind}
    return {**told, **blind}, of_lanes | of_providers


def _blind(run: Run, known: Sequence[Result]) -> dict[str, str]:
    found = find_blind_providers(
        known, run.expected, coverage_lost.find_lost_coverage(run, known), whole=not shards.list_shards(run.policy)
    )
    if not run.live and run.answered_by is AnsweredBy.MOCK and not run.invocation.traffic:
        found = {**find_unobserved(known), **found}
    return {**find_missing_verdicts(known), **found} if run.policy.get("expect_all") else found


def is_failure(result: Result) -> bool:
    """Whether it makes a run exit 1: drift neither accepted nor pending, flaky, or a stale accepted difference."""
    drifted = result.outcome is Outcome.DRIFTED and not is_accepted(result) and not is_pending(result)
    return drifted or result.outcome is Outcome.FLAKY or is_stale(result)


def is_broken(result: Result) -> bool:
    """Whether it was a fault of our own, or a process was lost before it reported: exit 3."""
    return result.outcome is Outcome.HARNESS_ERROR or is_unreported(result)


def is_accepted(result: Result) -> bool:
    """Whether it drifted, and all of its differences are accepted."""
    return result.outcome is Outcome.DRIFTED and acceptance_state(result) is AcceptanceState.ACCOUNTED


def is_stale(result: Result) -> bool:
    """Whether the accepted difference of the record is stale: its review is overdue, or it is gone."""
    return not is_broken(result) and acceptance_state(result) is AcceptanceState.STALE


def acceptance_state(result: Result) -> AcceptanceState | None:
    """The state of the record's accepted difference; None if there is none."""
    state = (result.accepted_difference or {}).get("state")
    return AcceptanceState(state) if state in set(AcceptanceState) else None


def acceptance_field(result: Result, field: str) -> str:
    """What the entry says to a person: its `reason`, its `detail`, its `review_by`; empty where it does not say."""
    return str((result.accepted_difference or {}).get(field) or "")


def list_stale_entries(run: Run, results: Sequence[Result]) -> tuple[str, ...]:
    """The accepted differences that fail the run by themselves, one line each, if no result tells it already."""
    told = tuple(f":{result.record}: " for result in results if is_stale(result))
    return tuple(
        entry for entry in run.policy.get("stale_accepted_differences") or () if not any(each in entry for each in told)
    )
