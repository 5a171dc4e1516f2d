"""Each depth asks its endpoints, names the rest and writes evidence per endpoint."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.reading.assertions import assertions
from catalog_probe.catalog.reading.record_fields import claimed_endpoints
from catalog_probe.catalog.writeback.planner import Patch, UpdatePolicy, plan_patch
from catalog_probe.catalog.writeback.sightings import Sighting
from catalog_probe.probes.planning.rotation import ALL_ENDPOINTS
from tests.harness.engines import FIRST_ENDPOINTS, catalog, probe
from tests.unit.reports.factories import TODAY, make_run

if TYPE_CHECKING:
    from catalog_probe.catalog.evidence.results import Result, Run
    from catalog_probe.probes.planning.rotation import Rotation
    from catalog_probe.probes.targets.target import Target

REVOKED = "pa/errors/general/key_revoked"
CLAIMED = claimed_endpoints(catalog()[REVOKED])
ELSEWHERE = CLAIMED[-1]


def seen(target: Target, drawing: Rotation = ALL_ENDPOINTS) -> Result:
    return probe(target, [REVOKED], drawing=drawing)[REVOKED]


def test_a_quick_run_looks_at_the_first_endpoint_and_names_the_others(mock_target: Target) -> None:
    quick, full = seen(mock_target, FIRST_ENDPOINTS), seen(mock_target)
    assert quick.outcome is full.outcome is Outcome.CONFORMS
    (first,) = {observation.endpoint for observation in quick.observations}
    assert set(quick.not_drawn) == set(CLAIMED) - {first}
    assert full.not_drawn == ()
    assert {observation.endpoint for observation in full.observations} == set(CLAIMED)
    assert {exchange.endpoint for exchange in full.attempts[0].exchanges} >= set(quick.not_drawn)


def written(result: Result, today: Run) -> Patch:
    record = catalog()[REVOKED]
    made = plan_patch(
        record, [Sighting(today, result)], UpdatePolicy(), TODAY, assertions(record, catalog().__getitem__)
    )
    assert isinstance(made, Patch)
    return made


def test_evidence_is_kept_per_endpoint(mock_target: Target) -> None:
    result = seen(mock_target)
    lines = written(result, make_run()).record.data["evidence"]["endpoints"]
    assert set(lines) == set(CLAIMED)
    assert not any(line.get("mismatched") for line in lines.values())
    spoilt = tuple(
        replace(
            observation,
            matched=tuple(key for key in observation.matched if key != "status"),
            mismatched={"status": "403"},
        )
        if observation.endpoint == ELSEWHERE
        else observation
        for observation in result.observations
    )
    drifted = replace(result, observations=spoilt, outcome=Outcome.DRIFTED)
    lines = written(drifted, make_run()).record.data["evidence"]["endpoints"]
    assert {at: line["mismatched"] for at, line in lines.items() if "mismatched" in line} == {
        ELSEWHERE: {"answer/status": "403"}
    }
