"""A live run under another revision shares no memory with the usual nights."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from catalog_probe.catalog.evidence.harness_results import select_record_results
from catalog_probe.catalog.evidence.results_file import read_run
from catalog_probe.catalog.evidence.verdicts.confirmation import list_never_confirmed, list_regressions
from catalog_probe.catalog.files.store import RECORDS
from tests.harness import fault_changes as edits
from tests.harness.command import pytest_probes
from tests.harness.fault_proxy import serving_faults
from tests.harness.faults import Fault, FaultScope
from tests.harness.live import write_live_target

if TYPE_CHECKING:
    from pathlib import Path

    from catalog_probe.catalog.evidence.results import Result

MODEL = "pa/endpoints/models/get_model"
KEY = "success/header:request-id"
MISSING_HEADER = Fault(
    FaultScope(path="/v1/models/mock-small$", statuses=(200,)), answer=edits.remove_headers("request-id")
)
OTHER = ("--revision", "2026-10-21")


def test_evidence_of_the_usual_revision_makes_no_regression_of_another(tmp_path: Path) -> None:
    records = tmp_path / "records"
    shutil.copytree(RECORDS / "pa", records / "pa")
    with serving_faults() as fault_server:
        target = write_live_target(tmp_path, {"pa": f"{fault_server.base}/pa"})

        def probe_on(day: str, *arguments: str) -> tuple[int, Result]:
            asked = ("--target", str(target.path), "--catalog", str(records), "--today", day, "-k", MODEL)
            done = pytest_probes(tmp_path / "out", *asked, *arguments, environ=target.environ)
            [seen] = select_record_results(read_run(tmp_path / "out" / "latest" / "results.jsonl")[1])
            return done.status, seen

        fault_server.target_behind()
        assert probe_on("2026-11-01", "--update")[0] == 0
        fault_server.target_behind(MISSING_HEADER)
        status, other = probe_on("2026-11-02", *OTHER)
        assert (status, list_regressions(other)) == (0, ())
        assert list_never_confirmed(other) == {KEY: {"first": "2026-11-02", "until": "2026-11-09"}}
        status, usual = probe_on("2026-11-02")
        assert (status, list_regressions(usual)) == (1, (KEY,)), (
            "what is pending under another one is none of the usual one's"
        )
