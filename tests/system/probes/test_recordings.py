"""A recording of a whole provider gets the verdicts that probing gets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.model import Outcome
from tests.harness.engines import catalog, probe
from tests.harness.fault_proxy import serving_faults
from tests.harness.fault_table import FAULTS
from tests.harness.recordings import judge_recording, read_recording

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result


@pytest.mark.parametrize(("provider", "at_least"), [("pa", 60), ("pb", 50), ("pc", 65)])
def test_a_har_of_the_mock_gives_no_other_verdict_than_probing(provider: str, at_least: int, tmp_path: Path) -> None:
    touched, other = judge_recording(provider, tmp_path)
    assert not other
    assert len(touched) >= at_least


AS_WHEN_PROBED = ("request-id-emptied", "usage-emptied")
"""Faults that leave enough of an answer to know whose it is."""

UNRECOGNISABLE = ("in-a-list", "flattened", "error-event-renamed")
"""Faults that take the type or event of an error away, by which its record is known."""

A_FEW = 14
"""Records that each of them falls on here."""


@pytest.mark.parametrize("name", [*AS_WHEN_PROBED, *UNRECOGNISABLE])
def test_a_proxys_change_is_the_same_drift_in_its_recording(name: str, tmp_path: Path) -> None:
    named = next(fault for fault in FAULTS if fault.name == name)
    everything = [str(record.address) for record in catalog().records if record.kind != "rate_limits"]
    chosen = [each for each in named.sample(everything) if "/grpc/" not in each][:A_FEW]
    with serving_faults() as fault_server:
        probed = probe(fault_server.target_behind(*named.faults), chosen)
    # Who records everything says so: else an empty header is taken for one that the recorder emptied.
    seen = read_recording(tmp_path, probed.values(), complete=True)
    told = {address: seen.result(address) for address in chosen}
    touched = [address for address, each in told.items() if each.outcome is not Outcome.NOT_PROBED]
    assert {each: drifts(told[each]) for each in touched} == {each: drifts(probed[each]) for each in touched}
    assert any(drifts(told[each]) for each in touched) is (name in AS_WHEN_PROBED)


def drifts(result: Result) -> set[str]:
    return {f"{drift.aspect}/{drift.location}" for drift in result.drifts}
