"""Results of the run itself: self-tests and lost workers. They are no records and are not counted as such. Pure.

A broken judge looks like a perfect provider. So each live lane judges its control's answer once more, against an
assertion that is false on purpose. This self-test passes through everything that other results pass through: judge,
results file, drift, cause. If it does not come out as drift, a true drift could not have come out either, so the run is
at fault, whatever else it observed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import causes
from catalog_probe.catalog.evidence.results import Result
from catalog_probe.catalog.model import Address, Outcome, Reason
from catalog_probe.catalog.model.address import HARNESS_KIND
from catalog_probe.catalog.model.codes import ReasonCode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from catalog_probe.catalog.evidence.results import Run

SELF_TEST, WORKER = "self_test", "worker"
_NO_PROVIDER = "run"  # in place of a provider, in addresses of results that belong to none


def self_test_address(lane: str) -> str:
    """Return the address of a lane's self-test: `pa/harness/self_test/inference` for lane `pa:inference`."""
    provider, _, role = lane.partition(":")
    return str(Address(provider, HARNESS_KIND, SELF_TEST, role))


def lost_worker_result(name: str, detail: str) -> Result:
    """Return the result for a worker process that ended early, though another one may have finished its work."""
    address = str(Address(_NO_PROVIDER, HARNESS_KIND, WORKER, name))
    return Result(address, {}, Outcome.HARNESS_ERROR, Reason(ReasonCode.WORKER_LOST, detail))


def is_record_result(result: Result) -> bool:
    """Whether a result is a record's, and not the run's own."""
    return result.record.split("/", 2)[1] != HARNESS_KIND


def select_record_results(results: Iterable[Result]) -> list[Result]:
    """Return the results of records. Every view and count of records is made of these."""
    return [result for result in results if is_record_result(result)]


def list_faults(run: Run, results: Sequence[Result], failing: Sequence[Result]) -> tuple[str, ...]:
    """Return the faults of the run itself, each in one sentence: lost workers, and silent self-tests.

    `failing` are the results that make the run exit 1.
    """
    silent = (
        f"{ReasonCode.SELF_TEST_SILENT}: what is false on purpose did not come out as drift in lane {lane}: this run "
        "could not have seen a drift there"
        for lane in find_silent_lanes(run, results, failing)
    )
    return (*_lost_workers(results), *silent)


def _lost_workers(results: Sequence[Result]) -> Iterator[str]:
    for result in results:
        if result.reason is not None and result.reason.code == ReasonCode.WORKER_LOST:
            yield f"{result.reason.code}: {result.reason.detail}"


def find_silent_lanes(run: Run, results: Sequence[Result], failing: Sequence[Result]) -> list[str]:
    """Return the lanes whose self-test is not among the `failing` results with a cause.

    A lane without any verdict needs none, except if its self-test reported a harness error.
    """
    with_cause = {record for cause in causes.find_causes(failing) for record in cause.records}
    self_tests_that_drifted = {result.record for result in failing} & with_cause
    judged_lanes = {result.lane for result in select_record_results(results) if result.outcome.is_conclusive}
    faulty_lanes = {
        result.lane
        for result in results
        if result.lane and result.outcome is Outcome.HARNESS_ERROR and not is_record_result(result)
    }
    lanes = (set(run.self_tests) & judged_lanes) | faulty_lanes
    return [lane for lane in sorted(lanes) if self_test_address(lane) not in self_tests_that_drifted]
