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
LAST_ENDPOINT = CLAIMED[-1]


def probe_revoked(target: Target, drawing: Rotation = ALL_ENDPOINTS) -> Result:
    return probe(target, [REVOKED], drawing=drawing)[REVOKED]


def test_a_quick_run_looks_at_the_first_endpoint_and_names_the_others(mock_target: Target) -> None:
    quick, full = probe_revoked(mock_target, FIRST_ENDPOINTS), probe_revoked(mock_target)
    assert quick.outcome is full.outcome is Outcome.CONFORMS
    (first,) = {observation.endpoint for observation in quick.observations}
    assert set(quick.not_drawn) == set(CLAIMED) - {first}
    assert full.not_drawn == ()
    assert {observation.endpoint for observation in full.observations} == set(CLAIMED)
    assert {exchange.endpoint for exchange in full.attempts[0].exchanges} >= set(quick.not_drawn)


def plan_evidence(result: Result, today: Run) -> Patch:
    record = catalog()[REVOKED]
    patch = plan_patch(
        record, [Sighting(today, result)], UpdatePolicy(), TODAY, assertions(record, catalog().__getitem__)
    )
    assert isinstance(patch, Patch)
    return patch


def test_evidence_is_kept_per_endpoint(mock_target: Target) -> None:
    result = probe_revoked(mock_target)
    lines = plan_evidence(result, make_run()).record.data["evidence"]["endpoints"]
    assert set(lines) == set(CLAIMED)
    assert not any(line.get("mismatched") for line in lines.values())
    spoiled = tuple(
        replace(
            observation,
            matched=tuple(key for key in observation.matched if key != "status"),
            mismatched={"status": "403"},
        )
        if observation.endpoint == LAST_ENDPOINT
        else observation
        for observation in result.observations
    )
    drifted = replace(result, observations=spoiled, outcome=Outcome.DRIFTED)
    lines = plan_evidence(drifted, make_run()).record.data["evidence"]["endpoints"]
    assert {at: line["mismatched"] for at, line in lines.items() if "mismatched" in line} == {
        LAST_ENDPOINT: {"answer/status": "403"}
    }
