"""Results about the run itself: failed self-tests and lost workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence import harness_results
from catalog_probe.catalog.evidence.harness_results import (
    find_silent_lanes,
    lost_worker_result,
    select_record_results,
    self_test_address,
)
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.model import Aspect, Finding, Outcome, Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

LANE, OTHER = "pa:inference", "pa:admin"
DRIFT = Finding("status-differs", Aspect.STATUS, Severity.MUST, "", "control", assertion="control/status")


def self_test(outcome: Outcome = Outcome.DRIFTED, lane: str = LANE, findings: tuple[Finding, ...] = (DRIFT,)) -> Result:
    return Result(self_test_address(lane), {}, outcome, findings=findings, lane=lane)


def record(outcome: Outcome = Outcome.CONFORMS, lane: str = LANE) -> Result:
    return Result("pa/errors/general/x", {}, outcome, findings=(DRIFT,), lane=lane)


def run(*self_tests: str) -> Run:
    return Run("r", "live", live=True, started_at="", today="", self_tests=self_tests)


CAME_OUT = self_test()


def test_a_lane_with_a_verdict_is_silent_where_its_self_test_did_not_come_out() -> None:
    cases: list[tuple[Sequence[str], Sequence[Result], Sequence[Result], list[str]]] = [
        ([LANE], [record(), CAME_OUT], [CAME_OUT], []),
        ([LANE], [record(), CAME_OUT], [], [LANE]),
        ([LANE], [record()], [], [LANE]),
        ([LANE], [record(), self_test(findings=())], [self_test(findings=())], [LANE]),
        ([LANE], [record(lane=OTHER)], [], []),
        ([LANE], [record(Outcome.INCONCLUSIVE)], [], []),
        ([LANE], [self_test()], [], []),
        ([], [record()], [], []),
        ([], [record(Outcome.HARNESS_ERROR)], [], []),
        ([], [lost_worker_result("gw0", "killed")], [], []),
        ([], [self_test(Outcome.HARNESS_ERROR)], [], [LANE]),
        ([OTHER, LANE], [record(), record(lane=OTHER)], [], [OTHER, LANE]),
        ([OTHER, LANE], [record(), record(lane=OTHER), CAME_OUT], [CAME_OUT], [OTHER]),
    ]
    for lanes, results, failing, silent in cases:
        assert find_silent_lanes(run(*lanes), results, failing) == silent


def test_lines_of_the_run_have_addresses_of_their_own_and_are_no_records() -> None:
    lost = lost_worker_result("gw0", "killed")
    assert self_test_address(LANE) == "pa/harness/self_test/inference"
    assert lost.record == "run/harness/worker/gw0"
    assert select_record_results([CAME_OUT, record(), lost]) == [record()]


def test_each_fault_is_one_sentence() -> None:
    results = [record(), lost_worker_result("gw0", "killed"), lost_worker_result("gw1", "gone")]
    assert harness_results.list_faults(run(LANE), results, []) == (
        "worker-lost: killed",
        "worker-lost: gone",
        "self-test-silent: what is false on purpose did not come out as drift in lane pa:inference: this run could not "
        "have seen a drift there",
    )
