"""What a run says of itself: self-tests that came out, workers that were lost; in no count and no record. Pure.

Each live lane judges its control's answer once more against one deliberately false assertion. That self-test takes the
way of every other result: judge, results file, drift, cause. Where it does not come out as drift, a true drift could
not have come out either, so it is a fault of our own whatever else was seen. Only here is it told from a record.
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
_OF_THE_RUN = "run"
"""In place of a provider: what no single one has a part in."""


def self_test_address(lane: str) -> str:
    """Where the self-test of a lane (`pa:inference`) stands in the results: `pa/harness/self_test/inference`."""
    provider, _, role = lane.partition(":")
    return str(Address(provider, HARNESS_KIND, SELF_TEST, role))


def lost_worker_result(name: str, detail: str) -> Result:
    """The line of a process that ended before its work did, though another one may have finished it."""
    address = str(Address(_OF_THE_RUN, HARNESS_KIND, WORKER, name))
    return Result(address, {}, Outcome.HARNESS_ERROR, Reason(ReasonCode.WORKER_LOST, detail))


def is_record_result(result: Result) -> bool:
    """Whether it speaks of a record, and not of the run itself."""
    return result.record.split("/", 2)[1] != HARNESS_KIND


def select_record_results(results: Iterable[Result]) -> list[Result]:
    """The results that speak of records: what every view, count and file of records is made of."""
    return [result for result in results if is_record_result(result)]


def list_faults(run: Run, results: Sequence[Result], failing: Sequence[Result]) -> tuple[str, ...]:
    """The faults of our own that no record tells, each in one sentence: lost workers, self-tests that did not come out.

    `failing` are the results that make the run exit 1, as the exit status counts them.
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
    """The lanes whose self-test did not come out: where anything has a verdict it has to fail, with a cause."""
    known = {result.record: result for result in results if not is_record_result(result)}
    counted = {record for cause in causes.find_causes(failing) for record in cause.records}
    came_out = {result.record for result in failing} & counted
    judged = {result.lane for result in select_record_results(results) if result.outcome.is_conclusive}
    told = {result.lane for result in known.values() if result.outcome is Outcome.HARNESS_ERROR and result.lane}
    return [lane for lane in sorted((set(run.self_tests) & judged) | told) if self_test_address(lane) not in came_out]
