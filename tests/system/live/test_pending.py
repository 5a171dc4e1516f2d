"""Drift of what was never confirmed is pending; of what was, red at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from catalog_probe.catalog.evidence.earlier_runs import list_never_confirmed, list_regressions
from catalog_probe.catalog.files.store import Catalog
from tests.harness import fault_changes as edits
from tests.harness.faults import Fault, FaultScope
from tests.system.live.nights import Nights

if TYPE_CHECKING:
    from pathlib import Path

    from tests.harness.fault_proxy import FaultServer

MODEL = "pa/endpoints/models/get_model"
KEY = "success/header:request-id"
MISSING_HEADER = Fault(
    FaultScope(path="/v1/models/mock-small$", statuses=(200,)), answer=edits.remove_headers("request-id")
)


@pytest.fixture
def nights(tmp_path: Path, fault_server: FaultServer) -> Nights:
    return Nights.at(f"{fault_server.base}/pa", tmp_path)


def test_unconfirmed_drift_is_pending_and_red_where_none_may_be(nights: Nights, fault_server: FaultServer) -> None:
    fault_server.target_behind(MISSING_HEADER)
    first = nights.on("2026-11-01", "--update", "-k", MODEL)
    assert first.status == 0, first.all_output
    assert "Pending" in first.output
    assert list_never_confirmed(first.results[MODEL]) == {KEY: {"first": "2026-11-01", "until": "2026-11-08"}}
    assert Catalog.load(nights.records)[MODEL].data["evidence"]["unconfirmed"][KEY]["since"] == "2026-11-01"
    strict = nights.on("2026-11-01", "--strict", "-k", MODEL)
    assert strict.status == 1, strict.all_output
    assert strict.run.policy["strict"] is True
    last = nights.on("2026-11-08", "-k", MODEL)
    assert last.status == 1, last.all_output


def test_drift_of_a_confirmed_assertion_is_a_regression_of_its_revision(
    nights: Nights, fault_server: FaultServer
) -> None:
    fault_server.target_behind()
    assert nights.on("2026-11-01", "--update", "-k", MODEL).status == 0
    fault_server.target_behind(MISSING_HEADER)
    drifted = nights.on("2026-11-02", "-k", MODEL)
    assert drifted.status == 1, drifted.all_output
    assert list_regressions(drifted.results[MODEL]) == (KEY,)
    assert "Pending" not in drifted.output
    other = nights.on("2026-11-02", "-k", MODEL, "--revision", "2026-10-21")
    assert other.status == 0, other.all_output
    assert list_regressions(other.results[MODEL]) == ()
