"""Whole runs: no loss or order makes one greener, and account trouble changes no tag."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence import completeness, run_verdict
from catalog_probe.catalog.evidence.merge import merge_runs
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.assertion import Observation
from catalog_probe.catalog.model.errors import Exit
from catalog_probe.catalog.model.outcome import ReasonCode
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback.planner import NoPatch, Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.record_evidence import Sighting
from tests.unit.catalog.catalog_factories import (
    ENDPOINT_ADDRESS,
    ERROR_ADDRESS,
    LIMITS_ADDRESS,
    make_drift,
    make_record,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

ADDRESSES = [f"{provider}/errors/general/e{number}" for provider in ("pa", "pb") for number in range(5)]
LANES = {"pa": "pa:inference", "pb": "pb:inference"}
DAY = "2026-11-21"

ACCOUNT_REASONS = [
    ReasonCode.NO_CREDIT,
    ReasonCode.ACCOUNT_TROUBLE,
    ReasonCode.REGION_REFUSED,
    ReasonCode.CONTROL_FAILED,
    ReasonCode.ONE_ANSWER_TO_EVERYTHING,
    ReasonCode.FAULT_FREE_NOT_ALLOWED,
    ReasonCode.LANE_STOPPED,
    ReasonCode.GATEWAY_PAGE,
    ReasonCode.BUDGET_SPENT,
    ReasonCode.CREDENTIAL_EMPTY,
]


def make_result(address: str, outcome: Outcome) -> Result:
    findings = (make_drift(assertion="answer/status"),) if outcome in (Outcome.DRIFTED, Outcome.FLAKY) else ()
    reason = None if outcome.is_conclusive else Reason(ReasonCode.READ_TIMEOUT, "no answer")
    lane = LANES[address[:2]]
    return Result(address, {}, outcome, reason, findings, observed_at=f"{DAY}T04:00:00.000Z", lane=lane)


def make_self_test_results() -> list[Result]:
    return [
        replace(make_result(completeness.self_test_address(lane), Outcome.DRIFTED), lane=lane)
        for lane in LANES.values()
    ]


def make_run(name: str, selected: Sequence[str]) -> Run:
    at = f"{DAY}T0{name[-1]}:00:00Z"
    lanes = tuple(sorted({LANES[address[:2]] for address in selected}))
    providers = tuple(sorted({address[:2] for address in selected}))
    return Run(name, "live", True, at, DAY, providers, providers, tuple(sorted(selected)), self_tests=lanes)


@st.composite
def nights(draw: st.DrawFn) -> tuple[Run, list[Result]]:
    """A live night with a result for each record that it selected, in the order in which they came."""
    outcomes = st.sampled_from([*[Outcome.CONFORMS] * 4, *Outcome])
    own = [make_result(address, draw(outcomes)) for address in ADDRESSES]
    lines = draw(st.permutations([*own, *make_self_test_results()]))
    return make_run("r-0", ADDRESSES), lines


@given(nights(), st.data())
def test_an_interrupted_night_is_never_green(night: tuple[Run, list[Result]], data: st.DataObject) -> None:
    """Its file is cut at any line; what it selected stands in the first."""
    run, lines = night
    remaining_lines = lines[: data.draw(st.integers(0, len(lines) - 1))]
    lost_addresses = {line.record for line in lines} - {line.record for line in remaining_lines}
    full_status, cut_status = run_verdict.exit_status(run, lines), run_verdict.exit_status(run, remaining_lines)
    if any(address.split("/")[1] != "harness" for address in lost_addresses):
        assert cut_status in (Exit.BLIND, Exit.HARNESS_ERROR)
    assert cut_status is not Exit.FINE or full_status is Exit.FINE


@given(nights(), st.data())
def test_a_lost_worker_makes_the_night_a_harness_error(night: tuple[Run, list[Result]], data: st.DataObject) -> None:
    """It takes any of the lines with it, and leaves one that says so, though another may have finished its work."""
    run, lines = night
    lost_addresses = data.draw(st.sets(st.sampled_from(ADDRESSES)))
    remaining_lines = [line for line in lines if line.record not in lost_addresses]
    lost_worker = completeness.lost_worker_result("gw0", "Not properly terminated")
    position = data.draw(st.integers(0, len(remaining_lines)))
    assert (
        run_verdict.exit_status(run, [*remaining_lines[:position], lost_worker, *remaining_lines[position:]])
        is Exit.HARNESS_ERROR
    )


@given(nights(), st.randoms(use_true_random=False))
def test_the_exit_status_does_not_depend_on_the_order_of_lines(night: tuple[Run, list[Result]], random: object) -> None:
    run, lines = night
    assert run_verdict.exit_status(run, sorted(lines, key=lambda line: line.record)) is run_verdict.exit_status(
        run, lines
    )


@given(nights(), st.data())
def test_merged_shards_are_never_greener_than_the_night(night: tuple[Run, list[Result]], data: st.DataObject) -> None:
    """Cut into shards, one of which may have died, merged in any order: the same, and never greener than the whole."""
    run, lines = night
    parts = data.draw(st.lists(st.integers(0, 2), min_size=len(ADDRESSES), max_size=len(ADDRESSES)))
    shards = []
    for number in sorted(set(parts)):
        selected = [address for address, part in zip(ADDRESSES, parts, strict=True) if part == number]
        shard_run = make_run(f"r-{number}", selected)
        shard_addresses = {*selected, *map(completeness.self_test_address, shard_run.self_tests)}
        shard_lines = [line for line in lines if line.record in shard_addresses]
        shards.append(
            (
                shard_run,
                shard_lines[: data.draw(st.integers(0, len(shard_lines)))] if data.draw(st.booleans()) else shard_lines,
            )
        )
    exits = {
        run_verdict.exit_status(*merge_runs(order))
        for order in (shards, shards[::-1], data.draw(st.permutations(shards)))
    }
    assert len(exits) == 1
    assert Exit.FINE not in exits or run_verdict.exit_status(run, lines) is Exit.FINE


@given(
    st.sampled_from([ENDPOINT_ADDRESS, ERROR_ADDRESS, LIMITS_ADDRESS]),
    st.lists(st.tuples(st.sampled_from(ACCOUNT_REASONS), st.integers(1, 28), st.booleans()), min_size=1, max_size=4),
)
def test_account_trouble_changes_no_tag(address: str, troubles: list[tuple[ReasonCode, int, bool]]) -> None:
    """Not even where a cell of the record had shown something before the trouble came."""
    before = make_record(address)
    record_assertions = assertions(before, lambda other_address: make_record(str(other_address)))
    sightings = []
    for code, day, is_observed in troubles:
        run = replace(make_run(f"r-{day}", [address]), today=f"2026-11-{day:02}")
        keys = tuple(
            assertion.key.local_key
            for assertion in record_assertions
            if assertion.key.label == record_assertions[0].key.label
        )
        observations = (
            (Observation(ENDPOINT_ADDRESS, record_assertions[0].key.label, keys if is_observed else (), {}, {}),)
            if record_assertions
            else ()
        )
        outcome = Outcome.NOT_PROBED if code is ReasonCode.CREDENTIAL_EMPTY else Outcome.INCONCLUSIVE
        sightings.append(Sighting(run, Result(address, {}, outcome, Reason(code), observations=observations)))
    planned = plan_patch(before, sightings, UpdatePolicy(), sightings[0].day, record_assertions)
    assert isinstance(planned, NoPatch), planned.reason if isinstance(planned, Patch) else ""
