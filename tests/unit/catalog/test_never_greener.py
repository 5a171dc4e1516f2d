"""Whole runs: whatever gets lost, in whatever order, none reads greener than it was; no account trouble makes a tag."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from catalog_probe.catalog.evidence import harness_results
from catalog_probe.catalog.evidence.results import Result, Run
from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.evidence.verdicts.merge import merge_runs
from catalog_probe.catalog.model import Outcome, Reason
from catalog_probe.catalog.model.codes import ReasonCode
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.catalog.model.observation import Observation
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.writeback.planner import NoPatch, Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.sightings import Sighting
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

OF_THE_ACCOUNT = [
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


def result(address: str, outcome: Outcome) -> Result:
    findings = (make_drift(assertion="answer/status"),) if outcome in (Outcome.DRIFTED, Outcome.FLAKY) else ()
    reason = None if outcome.is_conclusive else Reason(ReasonCode.READ_TIMEOUT, "no answer")
    lane = LANES[address[:2]]
    return Result(address, {}, outcome, reason, findings, observed_at=f"{DAY}T04:00:00.000Z", lane=lane)


def self_tests() -> list[Result]:
    return [
        replace(result(harness_results.self_test_address(lane), Outcome.DRIFTED), lane=lane) for lane in LANES.values()
    ]


def described(name: str, selected: Sequence[str]) -> Run:
    at = f"{DAY}T0{name[-1]}:00:00Z"
    lanes = tuple(sorted({LANES[address[:2]] for address in selected}))
    providers = tuple(sorted({address[:2] for address in selected}))
    return Run(name, "live", True, at, DAY, providers, providers, tuple(sorted(selected)), self_tests=lanes)


@st.composite
def nights(draw: st.DrawFn) -> tuple[Run, list[Result]]:
    """A live night with a result for each record that it selected, in the order in which they came."""
    outcomes = st.sampled_from([*[Outcome.CONFORMS] * 4, *Outcome])
    own = [result(address, draw(outcomes)) for address in ADDRESSES]
    lines = draw(st.permutations([*own, *self_tests()]))
    return described("r-0", ADDRESSES), lines


@given(nights(), st.data())
def test_an_interrupted_night_is_never_green(night: tuple[Run, list[Result]], data: st.DataObject) -> None:
    """Its file is cut at any line; what it selected stands in the first."""
    run, lines = night
    kept = lines[: data.draw(st.integers(0, len(lines) - 1))]
    lost = {line.record for line in lines} - {line.record for line in kept}
    whole, cut = run_verdict.exit_status(run, lines), run_verdict.exit_status(run, kept)
    if any(address.split("/")[1] != "harness" for address in lost):
        assert cut is Exit.HARNESS_ERROR
    assert cut is not Exit.FINE or whole is Exit.FINE


@given(nights(), st.data())
def test_no_worker_s_death_makes_a_night_greener(night: tuple[Run, list[Result]], data: st.DataObject) -> None:
    """It takes any of the lines with it, and leaves one that says so, though another may have finished its work."""
    run, lines = night
    gone = data.draw(st.sets(st.sampled_from(ADDRESSES)))
    left = [line for line in lines if line.record not in gone]
    dead = harness_results.lost_worker_result("gw0", "Not properly terminated")
    at = data.draw(st.integers(0, len(left)))
    assert run_verdict.exit_status(run, [*left[:at], dead, *left[at:]]) is Exit.HARNESS_ERROR


@given(nights(), st.randoms(use_true_random=False))
def test_the_order_of_lines_decides_nothing(night: tuple[Run, list[Result]], random: object) -> None:
    run, lines = night
    assert run_verdict.exit_status(run, sorted(lines, key=lambda each: each.record)) is run_verdict.exit_status(
        run, lines
    )


@given(nights(), st.data())
def test_no_order_of_shards_makes_a_night_greener(night: tuple[Run, list[Result]], data: st.DataObject) -> None:
    """Cut into shards, one of which may have died, merged in any order: the same, and never greener than the whole."""
    run, lines = night
    parts = data.draw(st.lists(st.integers(0, 2), min_size=len(ADDRESSES), max_size=len(ADDRESSES)))
    shards = []
    for number in sorted(set(parts)):
        own = [address for address, part in zip(ADDRESSES, parts, strict=True) if part == number]
        of_it = described(f"r-{number}", own)
        told = {*own, *map(harness_results.self_test_address, of_it.self_tests)}
        mine = [line for line in lines if line.record in told]
        shards.append((of_it, mine[: data.draw(st.integers(0, len(mine)))] if data.draw(st.booleans()) else mine))
    exits = {
        run_verdict.exit_status(*merge_runs(order))
        for order in (shards, shards[::-1], data.draw(st.permutations(shards)))
    }
    assert len(exits) == 1
    assert Exit.FINE not in exits or run_verdict.exit_status(run, lines) is Exit.FINE


@given(
    st.sampled_from([ENDPOINT_ADDRESS, ERROR_ADDRESS, LIMITS_ADDRESS]),
    st.lists(st.tuples(st.sampled_from(OF_THE_ACCOUNT), st.integers(1, 28), st.booleans()), min_size=1, max_size=4),
)
def test_no_trouble_of_the_account_makes_or_takes_a_tag(
    address: str, troubles: list[tuple[ReasonCode, int, bool]]
) -> None:
    """Not even where a cell of the record had shown something before the trouble came."""
    before = make_record(address)
    stated = assertions(before, lambda other: make_record(str(other)))
    sightings = []
    for code, day, seen in troubles:
        run = replace(described(f"r-{day}", [address]), today=f"2026-11-{day:02}")
        keys = tuple(each.key.local_key for each in stated if each.key.label == stated[0].key.label)
        observations = (
            (Observation(ENDPOINT_ADDRESS, stated[0].key.label, keys if seen else (), {}, {}),) if stated else ()
        )
        outcome = Outcome.NOT_PROBED if code is ReasonCode.CREDENTIAL_EMPTY else Outcome.INCONCLUSIVE
        sightings.append(Sighting(run, Result(address, {}, outcome, Reason(code), observations=observations)))
    planned = plan_patch(before, sightings, UpdatePolicy(), sightings[0].day, stated)
    assert isinstance(planned, NoPatch), planned.reason if isinstance(planned, Patch) else ""
