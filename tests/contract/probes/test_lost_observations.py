"""On a mock, an observation that a recipe tried to make and lost is red."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.verdicts import run_verdict
from catalog_probe.catalog.model import Outcome
from catalog_probe.catalog.model.answered_by import AnsweredBy
from catalog_probe.catalog.model.exits import Exit
from catalog_probe.probes.targets import target_file as targets
from tests.harness.engines import probe
from tests.unit.reports.factories import make_run

if TYPE_CHECKING:
    from catalog_probe.probes.plugin.embedded_mock import EmbeddedMock

RECORD = "pb/rate_limits/limits/general"
ON_A_MOCK = make_run(
    live=False, answered_by=AnsweredBy.MOCK, providers=("pb",), expected=("pb",), selected=(RECORD,), policy={}
)


@pytest.mark.parametrize(
    ("quota", "outcome", "status"),
    [("2", Outcome.CONFORMS, Exit.FINE), ("3", Outcome.INCONCLUSIVE, Exit.BLIND)],
    ids=["observed", "lost: the setup is refused"],
)
def test_a_record_that_lost_an_observation_makes_a_run_on_a_mock_blind(
    fresh_mock: EmbeddedMock, quota: str, outcome: Outcome, status: Exit
) -> None:
    target = targets.load("mock").with_addresses(fresh_mock.addresses())
    pb = target.providers["pb"]
    changed = replace(pb, values={**pb.values, "minute_quota": quota})
    result = probe(replace(target, providers={"pb": changed}), [RECORD])[RECORD]
    assert (result.outcome, run_verdict.exit_status(ON_A_MOCK, [result])) == (outcome, status)
    lost = {finding.label for finding in result.findings if finding.code == "not-observed"}
    assert ("other_key_of_the_project" in lost) is (status is Exit.BLIND)
